// Package testrun knows the runners of tests: how to tell which one a project
// has, how a file or the name of a test is written for it, and what its output
// says. It runs nothing and reads only through the files that it is given.
package testrun

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Files is what is looked at to tell which runner a project has.
type Files interface {
	fs.StatFS
	fs.ReadFileFS
	fs.ReadDirFS
}

// Request says what to run. Both fields may be empty.
type Request struct {
	Path string // a file or directory, a name of Files
	Name string // of a test, as the runner writes it
}

// Plan is how to run tests.
type Plan struct {
	Runner string // go, vitest, jest, npm, pytest, cargo, gradle, maven, make
	Dir    string // where it runs, a name of Files
	Line   string // what a shell runs there
	Others []string
}

// ErrNone means that no runner was found.
var ErrNone = errors.New("no test runner was found")

// Refused says why a request can't be run.
type Refused struct{ why string }

func (r Refused) Error() string { return r.why }

func refused(format string, args ...any) error { return Refused{fmt.Sprintf(format, args...)} }

// runner is one kind of runner.
type runner struct {
	name  string
	marks []string // files, any of which says that a directory is such a project
	ext   []string // of its sources: which of several runners a path is for

	// plan is nil when the directory is no such project after all.
	plan func(p project) (*Plan, error)
}

// project is a directory that may be of a runner, and what is to run in it.
type project struct {
	files Files
	dir   string
	path  string // relative to dir, "" for all of it
	isDir bool   // path is a directory
	name  string
}

// runners are in the order in which one is chosen among several.
var runners = []runner{
	{"npm", []string{"package.json"}, []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}, planNode},
	{"pytest", []string{"pytest.ini", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "conftest.py"}, []string{".py"}, planPytest},
	{"cargo", []string{"Cargo.toml"}, []string{".rs"}, planCargo},
	{"go", []string{"go.mod"}, []string{".go"}, planGo},
	{"gradle", []string{"build.gradle", "build.gradle.kts"}, []string{".java", ".kt", ".groovy", ".scala"}, planGradle},
	{"maven", []string{"pom.xml"}, []string{".java", ".kt", ".groovy", ".scala"}, planMaven},
	{"make", []string{"Makefile", "makefile", "GNUmakefile"}, nil, planMake},
}

// Detect finds the runner of what is to be tested: in the nearest directory
// above it that has one. It fails with ErrNone, or says what can't be run.
func Detect(files Files, r Request) (Plan, error) {
	at := cmp.Or(r.Path, ".")
	info, err := fs.Stat(files, at)
	if err != nil {
		return Plan{}, err
	}
	if strings.HasPrefix(r.Name, "-") || strings.ContainsAny(r.Name, "\n\r\x00") {
		return Plan{}, refused("name: %q is not the name of a test", r.Name)
	}
	dir := at
	if !info.IsDir() {
		dir = path.Dir(at)
	}
	for {
		plans, err := plansIn(files, dir, at, info.IsDir(), r.Name)
		if err != nil {
			return Plan{}, err
		}
		if len(plans) > 0 {
			return plans[0], nil
		}
		if dir == "." {
			break
		}
		dir = path.Dir(dir)
	}
	if at != "." {
		return Plan{}, ErrNone
	}
	return below(files, r.Name)
}

// plansIn are the plans for what of at lies in the project at dir, the chosen
// one first.
func plansIn(files Files, dir, at string, isDir bool, name string) ([]Plan, error) {
	p := project{files: files, dir: dir, isDir: isDir, name: name}
	if at != dir {
		p.path = strings.TrimPrefix(at, strings.TrimPrefix(dir+"/", "./"))
	}
	if strings.HasPrefix(p.path, "-") {
		p.path = "./" + p.path // no option
	}
	list := slices.Clone(runners)
	if ext := path.Ext(at); !isDir && ext != "" {
		slices.SortStableFunc(list, func(a, b runner) int { return suits(b, ext) - suits(a, ext) })
	}
	var plans []Plan
	var failed error
	for _, r := range list {
		if !slices.ContainsFunc(r.marks, p.has) {
			continue
		}
		plan, err := r.plan(p)
		switch {
		case err != nil:
			failed = cmp.Or(failed, err)
		case plan != nil:
			plan.Dir = dir
			plans = append(plans, *plan)
		}
	}
	if len(plans) == 0 {
		return nil, failed
	}
	for _, other := range plans[1:] {
		plans[0].Others = append(plans[0].Others, other.Runner)
	}
	return plans, nil
}

func suits(r runner, ext string) int {
	if slices.Contains(r.ext, ext) {
		return 1
	}
	return 0
}

// below looks for a runner in the directories right below the root, for a root
// that only holds projects.
func below(files Files, name string) (Plan, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return Plan{}, err
	}
	var found []Plan
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "vendor" {
			continue
		}
		if plans, err := plansIn(files, e.Name(), e.Name(), true, name); err == nil && len(plans) > 0 {
			found = append(found, plans[0])
		}
	}
	switch len(found) {
	case 0:
		return Plan{}, ErrNone
	case 1:
		return found[0], nil
	}
	var dirs []string
	for _, p := range found {
		dirs = append(dirs, fmt.Sprintf("%s (%s)", p.Dir, p.Runner))
	}
	return Plan{}, refused("path: there are several projects, say which: %s", strings.Join(dirs, ", "))
}

func (p project) has(name string) bool {
	_, err := fs.Stat(p.files, path.Join(p.dir, name))
	return err == nil
}

func (p project) read(name string) string {
	data, err := p.files.ReadFile(path.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// line joins words to a command, each quoted as a shell needs it.
func line(words ...string) string {
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

func quote(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=:@%+,", r)
	}
	if w != "" && strings.TrimFunc(w, plain) == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
