package testrun

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Detect finds the runner of what is to be tested. The language that it is in
// decides first, then the nearest project above it. It fails with ErrNone, or
// says what can't be run.
func Detect(files Files, r Request) (Plan, error) {
	at := cmp.Or(r.Path, ".")
	info, err := fs.Stat(files, at)
	if err != nil {
		return Plan{}, err
	}
	if strings.HasPrefix(r.Name, "-") || strings.ContainsAny(r.Name, "\n\r\x00") {
		return Plan{}, refused("name: %q is not the name of a test", r.Name)
	}
	d := detection{files: files, at: at, isDir: info.IsDir(), name: r.Name}
	suited := languageOf(files, at, info.IsDir())
	for _, weak := range []bool{false, true} {
		plan, err := d.above(suited, weak)
		if err != nil {
			return Plan{}, err
		}
		if plan == nil {
			continue
		}
		if at == "." {
			for _, other := range d.below() {
				if other.Runner != plan.Runner || other.Runner == "go" { // a workspace of others runs what is below
					plan.Others = append(plan.Others, other.Runner+" in "+other.Dir)
				}
			}
		}
		return *plan, nil
	}
	switch {
	case at == ".":
		return d.only()
	case slices.Contains(suited, "pytest"):
		return d.bare(), nil
	}
	return Plan{}, ErrNone
}

// detection is a request on its way to a plan.
type detection struct {
	files Files
	at    string
	isDir bool
	name  string
}

// above is the plan of the nearest project at or above what is to be tested;
// suited names the runners that are asked, nil is all.
func (d detection) above(suited []string, weak bool) (*Plan, error) {
	dir := d.at
	if !d.isDir {
		dir = path.Dir(d.at)
	}
	for {
		plan, err := d.in(dir, suited, weak)
		if err != nil || plan != nil || dir == "." {
			return plan, err
		}
		dir = path.Dir(dir)
	}
}

// in is the plan for what lies in the project at dir; nil when that is none.
func (d detection) in(dir string, suited []string, weak bool) (*Plan, error) {
	p := d.project(dir)
	var chosen *Plan
	var others []string
	var failed error
	for _, r := range runners {
		marks := r.marks
		if weak {
			marks = slices.Concat(r.marks, r.weak)
		}
		if !slices.ContainsFunc(marks, p.has) {
			continue
		}
		plan, err := r.plan(p)
		asked := suited == nil || slices.Contains(suited, r.name)
		switch {
		case asked && err != nil:
			failed = cmp.Or(failed, err)
		case plan == nil:
		case asked && chosen == nil:
			chosen = plan
		default:
			others = append(others, plan.Runner)
		}
	}
	if chosen == nil {
		return nil, failed
	}
	chosen.Dir, chosen.Others = dir, others
	return chosen, nil
}

func (d detection) project(dir string) project {
	p := project{files: d.files, dir: dir, isDir: d.isDir, name: d.name}
	if d.at != dir {
		p.path = strings.TrimPrefix(d.at, strings.TrimPrefix(dir+"/", "./"))
	}
	if strings.HasPrefix(p.path, "-") {
		p.path = "./" + p.path // no option
	}
	return p
}

// bare runs tests of Python that have no project around them: above their
// directory of tests, from where they are run by hand.
func (d detection) bare() Plan {
	dir := d.at
	if !d.isDir {
		dir = path.Dir(d.at)
	}
	parts := strings.Split(dir, "/")
	if i := slices.IndexFunc(parts, func(part string) bool { return part == "tests" || part == "test" }); i >= 0 {
		dir = path.Join(append([]string{"."}, parts[:i]...)...)
	}
	plan := planBare(d.project(dir))
	plan.Dir = dir
	return *plan
}

// below are the projects below the root, one for each directory that has one:
// right below it, or one deeper.
func (d detection) below() (found []Plan) {
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		for _, sub := range directories(d.files, dir) {
			in := detection{files: d.files, at: sub, isDir: true, name: d.name}
			plan, err := in.in(sub, nil, false)
			switch {
			case err == nil && plan != nil:
				found = append(found, *plan)
			case hasTests(d.files, sub, ".py"):
				found = append(found, in.bare())
			case depth > 1:
				look(sub, depth-1)
			}
		}
	}
	look(".", 2)
	return found
}

// only is the one project below a root that only holds projects.
func (d detection) only() (Plan, error) {
	found := d.below()
	switch len(found) {
	case 0:
		if !hasTests(d.files, ".", ".py") {
			return Plan{}, ErrNone
		}
		return d.bare(), nil
	case 1:
		return found[0], nil
	}
	var dirs []string
	for _, p := range found {
		dirs = append(dirs, fmt.Sprintf("%s (%s)", p.Dir, p.Runner))
	}
	return Plan{}, refused("path: there are several projects, say which: %s", strings.Join(dirs, ", "))
}

// directories are those of a directory in which tests may be.
func directories(files Files, dir string) (names []string) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir(), strings.HasPrefix(name, "."), slices.Contains(notOurs, name):
		default:
			names = append(names, path.Join(dir, name))
		}
	}
	return names
}

// notOurs are directories of what others wrote, or of what was built.
var notOurs = []string{"node_modules", "vendor", "testdata", "target", "build", "dist", "venv", "__pycache__"}

// Bounds of the look at what is in a directory.
const (
	lookDepth = 4
	lookFiles = 2000
)

// eachFile tells of the files in a directory and below.
func eachFile(files Files, dir string, f func(name string)) {
	left := lookFiles
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := files.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			if left--; left < 0 {
				return
			}
			if !e.IsDir() {
				f(e.Name())
			}
		}
		if depth > 1 {
			for _, sub := range directories(files, dir) {
				walk(sub, depth-1)
			}
		}
	}
	walk(dir, lookDepth)
}

var testFile = lazily(`^(?:test_.*\.py|.*_test\.(?:py|go)|.*\.(?:test|spec)\.[cm]?[jt]sx?|.*(?:Test|Tests|IT|Spec)\.(?:java|kt|groovy|scala))$`)

// hasTests reports whether tests of a language lie in a directory or below.
func hasTests(files Files, dir, ext string) bool {
	found := false
	eachFile(files, dir, func(name string) { found = found || path.Ext(name) == ext && testFile().MatchString(name) })
	return found
}

// languageOf are the runners of the language of a file, or of the tests in a
// directory; nil when that is none, or several. What a directory holds besides
// its tests counts where it has none.
func languageOf(files Files, at string, isDir bool) []string {
	if !isDir {
		return runnersOf(path.Ext(at))
	}
	if at == "." {
		return nil
	}
	var tests, all [][]string
	eachFile(files, at, func(name string) {
		suited := runnersOf(path.Ext(name))
		if suited == nil {
			return
		}
		all = append(all, suited)
		if testFile().MatchString(name) {
			tests = append(tests, suited)
		}
	})
	if len(tests) > 0 {
		all = tests
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(suited []string) bool { return !slices.Equal(suited, all[0]) }) {
		return nil
	}
	return all[0]
}

// runnersOf are the runners for sources with that ending.
func runnersOf(ext string) (names []string) {
	for _, r := range runners {
		if slices.Contains(r.ext, ext) {
			names = append(names, r.name)
		}
	}
	return names
}
