package references

import (
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// module is what can be imported as one: a package of Go, a file elsewhere.
type module struct {
	key   string
	dir   string // of a package of Go
	name  string // of a package of Go
	files []*facts
	decls map[string]*declared // by qualified name
}

// declared is one symbol of a module.
type declared struct {
	from   *facts
	symbol *pki.Symbol // nil if only its type is known
	decl   *pki.Decl   // nil if that is not known
}

func (d *declared) isType() bool {
	if d.symbol == nil {
		return false
	}
	switch d.symbol.Kind {
	case pki.Class, pki.Interface, pki.Struct, pki.Enum, pki.Type:
		return true
	}
	return false
}

func (d *declared) isFunction() bool {
	return d.symbol != nil && (d.symbol.Kind == pki.Function || d.symbol.Kind == pki.Method)
}

// moduleOf returns the module that a file belongs to. Its files are read when
// something is looked up in it.
func (s *search) moduleOf(f *facts) *module {
	if f.lang == "go" {
		return goPackage(s.modules, path.Dir(f.path), f.file.Package)
	}
	m := s.modules[f.path]
	if m == nil {
		m = &module{key: f.path, files: []*facts{f}}
		s.modules[f.path] = m
	}
	return m
}

// goPackage is the package of a name in a directory.
func goPackage(modules map[string]*module, dir, name string) *module {
	key := dir + "\x00" + name
	m := modules[key]
	if m == nil {
		m = &module{key: key, dir: dir, name: name}
		modules[key] = m
	}
	return m
}

// names are the ways to write what a module's symbols belong to, as segments.
func (m *module) names(f *facts) [][]string {
	if m.dir != "" || m.name != "" {
		segments := strings.Split(m.dir, "/")
		return [][]string{segments, append(slices.Clone(segments[:len(segments)-1]), m.name)}
	}
	file := strings.TrimSuffix(f.path, path.Ext(f.path))
	segments := strings.Split(file, "/")
	switch segments[len(segments)-1] {
	case "index", "__init__", "mod", "lib":
		segments = segments[:len(segments)-1]
	}
	out := [][]string{segments}
	if f.file.Package != "" {
		out = append(out, split(f.file.Package))
	}
	return append(out, []string{path.Base(f.path)})
}

// load reads the files of a module and indexes what they declare.
func (s *search) load(m *module) {
	if m.decls != nil {
		return
	}
	m.decls = make(map[string]*declared)
	if m.files == nil && m.name != "" {
		entries, _ := s.files.ReadDir(m.dir)
		for _, e := range entries {
			if name := path.Join(m.dir, e.Name()); strings.HasSuffix(name, ".go") && !e.IsDir() {
				if f := s.file(name); f != nil && f.file.Package == m.name {
					m.files = append(m.files, f)
				}
			}
		}
	}
	for _, f := range m.files {
		for i := range f.file.Symbols {
			sym := &f.file.Symbols[i]
			if m.decls[sym.Qualified] == nil {
				m.decls[sym.Qualified] = &declared{from: f, symbol: sym}
			}
		}
		for i := range f.file.Decls {
			d := &f.file.Decls[i]
			known := m.decls[d.Name]
			if known == nil {
				known = &declared{from: f}
				m.decls[d.Name] = known
			}
			if known.decl == nil {
				known.decl, known.from = d, f
			}
		}
	}
}

// top looks a name up as a file sees it at its top.
func (s *search) top(f *facts, name string, depth int) value {
	if f.lang == "go" {
		return s.goTop(f, name)
	}
	if depth > maxDepth {
		return value{}
	}
	for i := range f.file.Imports {
		if imp := &f.file.Imports[i]; imp.Alias == name && binds(f, imp) {
			return s.imported(f, imp, depth+1)
		}
	}
	m := s.moduleOf(f)
	s.load(m)
	if m.decls[name] != nil {
		return value{state: isSymbol, module: m, name: name}
	}
	for i := range f.file.Imports {
		if imp := &f.file.Imports[i]; imp.Name == "*" && binds(f, imp) {
			if v := s.imported(f, imp, depth+1); v.state == isModule {
				if v := s.member(v.module, name, depth+1); v.state == isSymbol || v.state == isModule {
					return v
				}
			}
		}
	}
	return value{state: isForeign}
}

// binds reports whether an import makes its name known in its own file. In
// JavaScript what is exported from another module is not.
func binds(f *facts, imp *pki.Import) bool {
	return !imp.Exported || family(f.lang) != "javascript"
}

// What a module of JavaScript is known as besides its names.
const (
	exportDefault = "default"
	exportWhole   = "="
)

// member looks a name up as others see it in a module.
func (s *search) member(m *module, name string, depth int) value {
	if depth > maxDepth {
		return value{}
	}
	s.load(m)
	found := value{state: isForeign}
	for _, f := range m.files {
		for i := range f.file.Imports {
			if imp := &f.file.Imports[i]; imp.Exported && imp.Alias == name {
				found = s.imported(f, imp, depth+1)
			}
		}
	}
	if found.state == isSymbol || found.state == isModule {
		return found
	}
	if m.decls[name] != nil {
		return value{state: isSymbol, module: m, name: name}
	}
	for _, f := range m.files {
		for i := range f.file.Imports {
			if imp := &f.file.Imports[i]; imp.Exported && imp.Name == "*" && imp.Alias == "" && name != exportDefault {
				if all := s.imported(f, imp, depth+1); all.state == isModule {
					if v := s.member(all.module, name, depth+1); v.state == isSymbol || v.state == isModule {
						return v
					}
				}
			}
		}
	}
	if sub := s.submodule(m, name); sub != nil {
		return value{state: isModule, module: sub}
	}
	if name == exportDefault { // of a module that has but one thing to give
		return s.whole(m, depth)
	}
	return found
}

// whole is what a module gives as a whole: mostly itself.
func (s *search) whole(m *module, depth int) value {
	s.load(m)
	for _, f := range m.files {
		for i := range f.file.Imports {
			if imp := &f.file.Imports[i]; imp.Exported && imp.Alias == exportWhole {
				if v := s.imported(f, imp, depth+1); v.state == isSymbol {
					return v
				}
			}
		}
	}
	return value{state: isModule, module: m}
}

// imported is what an import brings in; of all names, their module.
func (s *search) imported(f *facts, imp *pki.Import, depth int) value {
	if depth > maxDepth {
		return value{}
	}
	if imp.Path == "" { // a name of the file itself
		return s.top(f, imp.Name, depth+1)
	}
	m := s.resolve(f, imp.Path)
	switch {
	case m == nil:
		return value{state: isForeign}
	case imp.Name == "*":
		return value{state: isModule, module: m}
	case imp.Name == "" && family(f.lang) == "javascript":
		return s.whole(m, depth+1)
	case imp.Name == "":
		return value{state: isModule, module: m}
	}
	return s.member(m, imp.Name, depth+1)
}

// resolve finds the module that an import names, or nil.
func (s *search) resolve(f *facts, name string) *module {
	if f.lang == "go" {
		return s.goImport(f, name)
	}
	if !followed(f.lang) {
		return nil
	}
	return s.fileModule(s.resolver.Resolve(f.lang, f.path, name))
}

// fileModule is the module of a file or, with a slash at the end, of a
// directory that is a package without a file.
func (s *search) fileModule(name string) *module {
	if name == "" {
		return nil
	}
	if m := s.modules[name]; m != nil {
		return m
	}
	if strings.HasSuffix(name, "/") {
		m := &module{key: name, files: []*facts{}}
		s.modules[name] = m
		return m
	}
	if f := s.file(name); f != nil {
		return s.moduleOf(f)
	}
	return nil
}

// submodule is a module of Python inside of another one, or nil.
func (s *search) submodule(m *module, name string) *module {
	dir, isDir := strings.CutSuffix(m.key, "/")
	if !isDir {
		if base := path.Base(m.key); base != "__init__.py" && base != "__init__.pyi" {
			return nil
		}
		dir = path.Dir(m.key)
	}
	return s.fileModule(s.resolver.PythonAt(path.Join(dir, name)))
}
