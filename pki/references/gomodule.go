package references

import (
	"path"
	"strings"
)

// goTop looks a name up in a file of Go.
func (s *search) goTop(f *facts, name string) value {
	for i := range f.file.Imports {
		if imp := &f.file.Imports[i]; imp.Alias == name && imp.Name == "" {
			return s.imported(f, imp, 0)
		}
	}
	m := s.moduleOf(f)
	s.load(m)
	if m.decls[name] != nil {
		return value{state: isSymbol, module: m, name: name}
	}
	for i := range f.file.Imports {
		imp := &f.file.Imports[i]
		m := s.goImport(f, imp.Path)
		switch {
		case m == nil || imp.Alias == "" && imp.Name == "":
		case imp.Name == "*":
			if v := s.member(m, name, 0); v.state == isSymbol {
				return v
			}
		case m.name == name: // a package that is not called as its path says
			return value{state: isModule, module: m}
		}
	}
	return value{state: isForeign}
}

// goImport finds the package of an import path, or nil.
func (s *search) goImport(f *facts, name string) *module {
	dir := s.resolver.Resolve("go", f.path, name)
	if dir == "" {
		return nil
	}
	return goPackage(s.modules, dir, s.goName(dir))
}

// goName is the name of the package that a directory is imported as.
func (s *search) goName(dir string) string {
	if name, ok := s.goNames[dir]; ok {
		return name
	}
	name := ""
	entries, _ := s.files.ReadDir(dir)
	for _, e := range entries {
		file := e.Name()
		if e.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		if f := s.file(path.Join(dir, file)); f != nil && f.file.Package != "" && (name == "" || name == "main") {
			name = f.file.Package
		}
		if name != "" && name != "main" {
			break
		}
	}
	s.goNames[dir] = name
	return name
}
