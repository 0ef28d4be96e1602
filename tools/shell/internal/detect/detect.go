// Package detect finds the project that a path belongs to, and what is run on
// it: the language of the path decides first, then the nearest project above.
// It runs nothing and reads only through the files that it is given.
package detect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Finder finds projects.
type Finder struct {
	Files Files
	Kinds []Kind // in the order in which one is chosen among several

	// Tells, if set, are the names of the files that tell first what a directory
	// is for, such as its tests. All that it holds counts where it has none.
	Tells func(name string) bool
}

// Find is the plan for what is at a path, "" for all. It fails with ErrNone, or
// says what can't be run.
func (f Finder) Find(at string) (Plan, error) {
	at = cmp.Or(at, ".")
	info, err := fs.Stat(f.Files, at)
	if err != nil {
		return Plan{}, err
	}
	d := detection{Finder: f, at: at, isDir: info.IsDir()}
	suited := d.languageOf()
	for _, weak := range []bool{false, true} {
		plan, apart, err := d.above(suited, weak)
		if err != nil {
			return Plan{}, err
		}
		if plan == nil {
			continue
		}
		if at == "." {
			below, missed, _ := d.below()
			plan.Missed = append(plan.Missed, missed...)
			for _, other := range below {
				if apart || other.Runner != plan.Runner { // a workspace of others runs what is below
					plan.Others = append(plan.Others, other.Runner+" in "+other.Dir)
				}
			}
		}
		return *plan, nil
	}
	if at == "." {
		return d.only()
	}
	for _, k := range f.Kinds {
		if k.Bare != nil && slices.Contains(suited, k.Name) {
			return d.bare(k)
		}
	}
	return Plan{}, ErrNone
}

// detection is a path on its way to a plan.
type detection struct {
	Finder
	at    string
	isDir bool
}

// above is the plan of the nearest project at or above the path, and whether it
// is for that alone; suited names the kinds that are asked, nil is all.
func (d detection) above(suited []string, weak bool) (plan *Plan, apart bool, err error) {
	dir := d.at
	if !d.isDir {
		dir = path.Dir(d.at)
	}
	for {
		plan, apart, err = d.in(dir, suited, weak)
		if err != nil || plan != nil || dir == "." {
			return plan, apart, err
		}
		dir = path.Dir(dir)
	}
}

// in is the plan for what lies in the project at dir; nil when that is none.
func (d detection) in(dir string, suited []string, weak bool) (chosen *Plan, apart bool, err error) {
	p := d.project(dir)
	var others, missed []string
	var failed error
	for _, k := range d.Kinds {
		marks := k.Marks
		if weak {
			marks = slices.Concat(k.Marks, k.Weak)
		}
		if !slices.ContainsFunc(marks, p.Has) {
			continue
		}
		plan, err := k.Plan(p)
		asked := suited == nil || slices.Contains(suited, k.Name)
		switch {
		case asked && err != nil:
			failed, missed = cmp.Or(failed, err), append(missed, k.Name+" in "+dir)
		case plan == nil:
		case asked && chosen == nil:
			chosen, apart = plan, k.Apart
			chosen.Ext = k.Ext
		default:
			others = append(others, plan.Runner)
		}
	}
	if chosen == nil {
		return nil, false, failed
	}
	chosen.Dir, chosen.Others, chosen.Missed = dir, others, missed
	return chosen, apart, nil
}

func (d detection) project(dir string) Project {
	p := Project{Files: d.Files, Dir: dir, IsDir: d.isDir}
	if d.at != dir {
		p.Path = strings.TrimPrefix(d.at, strings.TrimPrefix(dir+"/", "./"))
	}
	if strings.HasPrefix(p.Path, "-") {
		p.Path = "./" + p.Path // no option
	}
	return p
}

// bare is the plan for sources that have no project around them: above their
// directory of tests, from where they are run by hand.
func (d detection) bare(k Kind) (Plan, error) {
	dir := d.at
	if !d.isDir {
		dir = path.Dir(d.at)
	}
	parts := strings.Split(dir, "/")
	if i := slices.IndexFunc(parts, func(part string) bool { return part == "tests" || part == "test" }); i >= 0 {
		dir = path.Join(append([]string{"."}, parts[:i]...)...)
	}
	plan, err := k.Bare(d.project(dir))
	switch {
	case err != nil:
		return Plan{}, err
	case plan == nil:
		return Plan{}, ErrNone
	}
	plan.Dir, plan.Ext = dir, k.Ext
	return *plan, nil
}

// bareAt is the plan for sources that lie in a directory without a project;
// ErrNone when there are none.
func (d detection) bareAt(dir string) (Plan, error) {
	var failed error
	in := detection{Finder: d.Finder, at: dir, isDir: true}
	for _, k := range d.Kinds {
		if k.Bare == nil || !in.holds(k.Ext) {
			continue
		}
		plan, err := in.bare(k)
		if err == nil {
			return plan, nil
		}
		failed = cmp.Or(failed, err)
	}
	return Plan{}, cmp.Or(failed, ErrNone)
}

// below are the projects below the root, one for each directory that has one:
// right below it, or one deeper. missed are the directories of those that can't be run, and the
// error is that of the first.
func (d detection) below() (found []Plan, missed []string, failed error) {
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		for _, sub := range directories(d.Files, dir) {
			in := detection{Finder: d.Finder, at: sub, isDir: true}
			plan, _, err := in.in(sub, nil, false)
			if err == nil && plan != nil {
				found, missed = append(found, *plan), append(missed, plan.Missed...)
				continue
			}
			before := len(missed)
			bare, errBare := d.bareAt(sub)
			switch {
			case errBare == nil:
				found = append(found, bare)
			case depth > 1:
				look(sub, depth-1)
			}
			if errors.Is(errBare, ErrNone) {
				errBare = nil
			}
			if (err != nil || errBare != nil) && len(missed) == before {
				missed = append(missed, sub)
			}
			failed = cmp.Or(failed, err, errBare)
		}
	}
	look(".", 2)
	return found, missed, failed
}

// All are the plans of the root and of the projects below it.
func (f Finder) All() []Plan {
	d := detection{Finder: f, at: ".", isDir: true}
	below, _, _ := d.below()
	if plan, _, err := d.in(".", nil, false); err == nil && plan != nil {
		return append([]Plan{*plan}, below...)
	}
	return below
}

// only is the one project below a root that only holds projects.
func (d detection) only() (Plan, error) {
	found, _, failed := d.below()
	switch len(found) {
	case 0:
		plan, err := d.bareAt(".")
		if errors.Is(err, ErrNone) {
			err = cmp.Or(failed, err)
		}
		return plan, err
	case 1:
		return found[0], nil
	}
	var dirs []string
	for _, p := range found {
		dirs = append(dirs, fmt.Sprintf("%s (%s)", p.Dir, p.Runner))
	}
	return Plan{}, Refuse("path: there are several projects, say which: %s", strings.Join(dirs, ", "))
}

// directories are those of a directory in which sources of the project may be.
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

// EachFile tells of the files in a directory and below, as far as a look goes.
func EachFile(files Files, dir string, f func(name string)) {
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
				f(path.Join(dir, e.Name()))
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

// holds reports whether files that tell, with one of those endings, lie in the
// directory or below.
func (d detection) holds(ext []string) bool {
	found := false
	EachFile(d.Files, d.at, func(name string) {
		found = found || slices.Contains(ext, path.Ext(name)) && (d.Tells == nil || d.Tells(path.Base(name)))
	})
	return found
}

// languageOf are the kinds of the language of a file, or of what tells in a
// directory; nil when that is none, or several.
func (d detection) languageOf() []string {
	if !d.isDir {
		return d.kindsOf(path.Ext(d.at))
	}
	if d.at == "." {
		return nil
	}
	var telling, all [][]string
	EachFile(d.Files, d.at, func(name string) {
		suited := d.kindsOf(path.Ext(name))
		if suited == nil {
			return
		}
		all = append(all, suited)
		if d.Tells != nil && d.Tells(path.Base(name)) {
			telling = append(telling, suited)
		}
	})
	if len(telling) > 0 {
		all = telling
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(suited []string) bool { return !slices.Equal(suited, all[0]) }) {
		return nil
	}
	return all[0]
}

// kindsOf are the kinds for sources with that ending.
func (d detection) kindsOf(ext string) (names []string) {
	for _, k := range d.Kinds {
		if slices.Contains(k.Ext, ext) {
			names = append(names, k.Name)
		}
	}
	return names
}
