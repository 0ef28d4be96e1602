package references

import (
	"bufio"
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// goModule is a go.mod.
type goModule struct{ dir, path string }

// addModule reads a go.mod that the walk met.
func (s *search) addModule(e *workspace.Entry) {
	data, err := e.Read(nil)
	if err != nil {
		return
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		word, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if word != "module" {
			continue
		}
		rest, _, _ = strings.Cut(rest, "//")
		m := goModule{path.Dir(e.Path), strings.Trim(strings.TrimSpace(rest), `"`)}
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(s.mods, m) {
			s.mods = append(s.mods, m)
			// The longest path is the nearest module.
			slices.SortFunc(s.mods, func(a, b goModule) int {
				return cmp.Or(cmp.Compare(len(b.path), len(a.path)), strings.Compare(a.dir, b.dir))
			})
		}
		return
	}
}

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
	home := s.goHome(path.Dir(f.path))
	key := home + "\x00" + name
	dir, ok := s.goDirs[key]
	if !ok {
		dir = s.goDir(home, name)
		s.goDirs[key] = dir
	}
	if dir == "" {
		return nil
	}
	if pkg := s.goName(dir); pkg != "" {
		return s.goPackage(dir, pkg)
	}
	return nil
}

// goHome is the directory of the module that a directory belongs to.
func (s *search) goHome(dir string) string {
	for ; ; dir = path.Dir(dir) {
		if slices.ContainsFunc(s.mods, func(m goModule) bool { return m.dir == dir }) || dir == "." {
			return dir
		}
	}
}

// goDir finds the directory of an import path, "" if the view has none.
func (s *search) goDir(home, name string) string {
	tries := []string{path.Join(home, "vendor", name)}
	for _, m := range s.mods {
		if rest, ok := strings.CutPrefix(name, m.path); ok && (rest == "" || rest[0] == '/') {
			tries = append(tries, path.Join(m.dir, rest))
		}
		if m.path == "std" {
			tries = append(tries, path.Join(m.dir, name), path.Join(m.dir, "vendor", name))
		}
	}
	if len(s.mods) == 0 { // the end of the path may be a directory here
		for rest, ok := name, true; ok; _, rest, ok = strings.Cut(rest, "/") {
			tries = append(tries, rest)
		}
	}
	for _, dir := range tries {
		if s.goName(dir) != "" {
			return dir
		}
	}
	return ""
}

// goName is the name of the package that a directory is imported as.
func (s *search) goName(dir string) string {
	key := "name\x00" + dir
	if name, ok := s.goDirs[key]; ok {
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
	s.goDirs[key] = name
	return name
}
