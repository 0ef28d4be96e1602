// Package imports finds what the imports of source files name: packages of Go,
// modules of JavaScript, TypeScript and Python, headers of C and C++. It knows
// paths and what describes modules, and reads no source.
package imports

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Tree is what imports are looked up in.
type Tree interface {
	IsFile(name string) bool
	IsDir(name string) bool
	// IsPackage reports whether a directory has files of Go that are no tests.
	IsPackage(dir string) bool
	ReadFile(name string) ([]byte, error)
}

// Description is what a go.mod or a package.json says about its directory.
type Description struct {
	Dir    string
	Path   string // how it is imported
	Main   string // of a package.json: its file, "" if it does not say
	golang bool
}

// Describes reports whether a file is worth to be read by Describe.
func Describes(name string) bool {
	switch path.Base(name) {
	case "go.mod", "package.json":
		return true
	}
	return false
}

// Describe reads a file of which Describes is true.
func Describe(name string, data []byte) (d Description, ok bool) {
	d.Dir = path.Dir(name)
	if path.Base(name) == "go.mod" {
		d.golang = true
		for line := range strings.Lines(string(data)) {
			if word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word == "module" {
				rest, _, _ = strings.Cut(rest, "//")
				d.Path = strings.Trim(strings.TrimSpace(rest), `"`)
				return d, true
			}
		}
		return d, false
	}
	var p struct{ Name, Source, Main string }
	if json.Unmarshal(data, &p) != nil || p.Name == "" {
		return d, false
	}
	d.Path, d.Main = p.Name, cmp.Or(p.Source, p.Main)
	return d, true
}

// Resolver resolves imports over a tree that does not change meanwhile. It is
// not safe for concurrent use.
type Resolver struct {
	tree     Tree
	modules  []Description // of Go, the longest path, which is the nearest, first
	packages []Description // of JavaScript
	known    map[question]string
	configs  map[string]*config
}

// question is what the answer to an import depends on.
type question struct{ family, dir, name string }

// New makes a resolver of a tree and what describes its modules.
func New(tree Tree, described []Description) *Resolver {
	r := &Resolver{tree: tree, known: map[question]string{}, configs: map[string]*config{}}
	for _, d := range described {
		if d.golang {
			r.modules = append(r.modules, d)
		} else {
			r.packages = append(r.packages, d)
		}
	}
	for _, list := range [][]Description{r.modules, r.packages} {
		slices.SortFunc(list, func(a, b Description) int {
			return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), strings.Compare(a.Dir, b.Dir), strings.Compare(a.Path, b.Path))
		})
	}
	return r
}

// Family groups the languages that import alike; "" is for one whose imports
// are not resolved.
func Family(lang string) string {
	switch lang {
	case "go", "python":
		return lang
	case "javascript", "typescript", "tsx":
		return "javascript"
	case "c", "cpp":
		return "c"
	}
	return ""
}

// Resolve returns what an import in the file from names: the directory of a
// package of Go, else a file or, with a slash at the end, the directory of a
// package of Python without one. It returns "" for what the tree has not got.
func (r *Resolver) Resolve(lang, from, name string) string {
	q := question{Family(lang), path.Dir(from), name}
	if q.family == "go" {
		q.dir = r.goHome(q.dir)
	}
	found, ok := r.known[q]
	if !ok {
		switch q.family {
		case "go":
			found = r.goDir(q.dir, name)
		case "javascript":
			found = r.jsFile(q.dir, name)
		case "python":
			found = r.pyFile(q.dir, name)
		case "c":
			found = r.header(q.dir, name)
		}
		r.known[q] = found
	}
	return found
}
