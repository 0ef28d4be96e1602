package imports

import (
	"path"
	"strings"
)

// pyFile finds the file of a module of Python; of a package without one, its
// directory with a slash.
func (r *Resolver) pyFile(dir, name string) string {
	if strings.HasPrefix(name, ".") {
		rest := name[1:]
		for strings.HasPrefix(rest, ".") {
			dir, rest = path.Dir(dir), rest[1:]
		}
		return r.PythonAt(path.Join(dir, strings.ReplaceAll(rest, ".", "/")))
	}
	rel := strings.ReplaceAll(name, ".", "/")
	// Roots are where packages end; then the places where they mostly are.
	for r.tree.IsFile(path.Join(dir, "__init__.py")) && dir != "." {
		dir = path.Dir(dir)
	}
	for _, root := range []string{dir, ".", "src", "lib", "python"} {
		if file := r.PythonAt(path.Join(root, rel)); file != "" {
			return file
		}
	}
	for dir != "." {
		dir = path.Dir(dir)
		if file := r.PythonAt(path.Join(dir, rel)); file != "" {
			return file
		}
	}
	return ""
}

// PythonAt finds the file of a module of Python at a path, as Resolve returns it.
func (r *Resolver) PythonAt(name string) string {
	for _, file := range []string{name + ".py", path.Join(name, "__init__.py"), name + ".pyi", path.Join(name, "__init__.pyi")} {
		if r.tree.IsFile(file) {
			return file
		}
	}
	if r.tree.IsDir(name) {
		return name + "/"
	}
	return ""
}
