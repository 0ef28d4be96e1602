package imports

import (
	"path"
	"slices"
	"strings"
)

// goHome is the directory of the module that a directory belongs to.
func (r *Resolver) goHome(dir string) string {
	for ; ; dir = path.Dir(dir) {
		if slices.ContainsFunc(r.modules, func(m Description) bool { return m.Dir == dir }) || dir == "." {
			return dir
		}
	}
}

// goDir finds the directory of an import path, "" if the tree has none.
func (r *Resolver) goDir(home, name string) string {
	tries := []string{path.Join(home, "vendor", name)}
	for _, m := range r.modules {
		if rest, ok := strings.CutPrefix(name, m.Path); ok && (rest == "" || rest[0] == '/') {
			tries = append(tries, path.Join(m.Dir, rest))
		}
		if m.Path == "std" {
			tries = append(tries, path.Join(m.Dir, name), path.Join(m.Dir, "vendor", name))
		}
	}
	if len(r.modules) == 0 { // the end of the path may be a directory here
		for rest, ok := name, true; ok; _, rest, ok = strings.Cut(rest, "/") {
			tries = append(tries, rest)
		}
	}
	for _, dir := range tries {
		if r.tree.IsPackage(dir) {
			return dir
		}
	}
	return ""
}
