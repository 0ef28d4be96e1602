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
		return s.goPackage(path.Dir(f.path), f.file.Package)
	}
	m := s.modules[f.path]
	if m == nil {
		m = &module{key: f.path, files: []*facts{f}}
		s.modules[f.path] = m
	}
	return m
}

// goPackage is the package of a name in a directory.
func (s *search) goPackage(dir, name string) *module {
	key := dir + "\x00" + name
	m := s.modules[key]
	if m == nil {
		m = &module{key: key, dir: dir, name: name}
		s.modules[key] = m
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
	if m.files == nil {
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
	m := s.moduleOf(f)
	s.load(m)
	if m.decls[name] != nil {
		return value{state: isSymbol, module: m, name: name}
	}
	for i := range f.file.Imports {
		if imp := &f.file.Imports[i]; imp.Alias == name {
			return s.imported(f, imp, depth)
		}
	}
	return value{state: isForeign}
}

// member looks a name up as others see it in a module.
func (s *search) member(m *module, name string, depth int) value {
	s.load(m)
	if m.decls[name] != nil {
		return value{state: isSymbol, module: m, name: name}
	}
	return value{state: isForeign}
}

// imported is what an import brings in.
func (s *search) imported(f *facts, imp *pki.Import, depth int) value {
	if depth > maxDepth {
		return value{}
	}
	m := s.resolve(f, imp)
	switch {
	case m == nil:
		return value{state: isForeign}
	case imp.Name == "":
		return value{state: isModule, module: m}
	}
	return s.member(m, imp.Name, depth+1)
}

// resolve finds the module that an import names, or nil.
func (s *search) resolve(f *facts, imp *pki.Import) *module {
	if f.lang == "go" {
		return s.goImport(f, imp.Path)
	}
	return nil
}
