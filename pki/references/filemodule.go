package references

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// isFile reports whether the view has a file.
func (s *search) isFile(name string) bool { return s.mode(name) == "file" }

// mode is file, dir or nothing.
func (s *search) mode(name string) string {
	key := "mode\x00" + name
	mode, ok := s.goDirs[key]
	if !ok {
		if info, err := s.files.Stat(name); err == nil && fs.ValidPath(name) {
			switch {
			case info.IsDir():
				mode = "dir"
			case info.Mode().IsRegular():
				mode = "file"
			}
		}
		s.goDirs[key] = mode
	}
	return mode
}

// jsEndings are tried in the order in which bundlers and compilers do.
var jsEndings = [...]string{".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

// jsFile finds the file of a module of JavaScript or TypeScript, "" if the view
// has none.
func (s *search) jsFile(f *facts, name string) string {
	if strings.HasPrefix(name, ".") {
		return s.jsAt(path.Join(path.Dir(f.path), name))
	}
	for _, t := range s.aliases(path.Dir(f.path), name) {
		if file := s.jsAt(t); file != "" {
			return file
		}
	}
	for _, p := range s.packages {
		rest, ok := strings.CutPrefix(name, p.path)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		for _, t := range []string{path.Join(p.dir, rest), path.Join(p.dir, "src", rest), path.Join(p.dir, "lib", rest), path.Join(p.dir, p.main)} {
			if t == path.Join(p.dir, p.main) && (rest != "" || p.main == "") {
				continue
			}
			if file := s.jsAt(t); file != "" {
				return file
			}
		}
	}
	return ""
}

// jsAt finds the file for a path that may lack its ending, or have the ending
// of what it is compiled to.
func (s *search) jsAt(name string) string {
	if ext := path.Ext(name); slices.Contains(jsEndings[:], ext) {
		if s.isFile(name) {
			return name
		}
		bare := strings.TrimSuffix(name, ext)
		for _, e := range jsEndings {
			if s.isFile(bare + e) {
				return bare + e
			}
		}
	}
	for _, e := range jsEndings {
		if s.isFile(name + e) {
			return name + e
		}
	}
	for _, e := range jsEndings {
		if file := path.Join(name, "index"+e); s.isFile(file) {
			return file
		}
	}
	return ""
}

// aliases returns where the paths of the nearest tsconfig.json or
// jsconfig.json say that a name may be.
func (s *search) aliases(dir, name string) []string {
	for ; ; dir = path.Dir(dir) {
		for _, base := range []string{"tsconfig.json", "jsconfig.json", "tsconfig.base.json"} {
			if file := path.Join(dir, base); s.isFile(file) {
				if found := s.configured(file, name); found != nil {
					return found
				}
			}
		}
		if dir == "." {
			return nil
		}
	}
}

// comments of JSON, and the commas that people leave before a closing bracket.
// A // inside of a string is not mistaken for one where a colon precedes it.
var jsonNoise = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(^|[\s,{}\[\]])//.*$|/\*(?:[^*"]|\*[^/"])*\*/|,(\s*[}\]])`)
})

func (s *search) configured(file, name string) []string {
	data, err := s.files.ReadFile(file)
	if err != nil {
		return nil
	}
	var config struct {
		CompilerOptions struct {
			BaseURL string              `json:"baseUrl"`
			Paths   map[string][]string `json:"paths"`
		} `json:"compilerOptions"`
	}
	if json.Unmarshal(data, &config) != nil && json.Unmarshal(jsonNoise().ReplaceAll(data, []byte("$1$2")), &config) != nil {
		return nil
	}
	base := path.Join(path.Dir(file), config.CompilerOptions.BaseURL)
	var found []string
	for pattern, targets := range config.CompilerOptions.Paths {
		before, after, wild := strings.Cut(pattern, "*")
		middle, ok := strings.CutPrefix(name, before)
		if ok {
			middle, ok = strings.CutSuffix(middle, after)
		}
		if !ok || !wild && name != pattern {
			continue
		}
		for _, t := range targets {
			found = append(found, path.Join(base, strings.Replace(t, "*", middle, 1)))
		}
	}
	slices.Sort(found)
	if config.CompilerOptions.BaseURL != "" {
		found = append(found, path.Join(base, name))
	}
	return found
}

// jsPackage is a package.json.
type jsPackage struct{ dir, path, main string }

// addPackage reads a package.json that the walk met.
func (s *search) addPackage(e *workspace.Entry) {
	data, err := e.Read(nil)
	var p struct{ Name, Source, Types, Main string }
	if err != nil || json.Unmarshal(data, &p) != nil || p.Name == "" {
		return
	}
	main := p.Source
	if main == "" {
		main = p.Main
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packages = append(s.packages, jsPackage{path.Dir(e.Path), p.Name, main})
	slices.SortFunc(s.packages, func(a, b jsPackage) int {
		if len(a.path) != len(b.path) {
			return len(b.path) - len(a.path)
		}
		return strings.Compare(a.dir, b.dir)
	})
}

// pyFile finds the file of a module of Python; of a package without one, its
// directory with a slash.
func (s *search) pyFile(f *facts, name string) string {
	if strings.HasPrefix(name, ".") {
		dir := path.Dir(f.path)
		rest := name[1:]
		for strings.HasPrefix(rest, ".") {
			dir, rest = path.Dir(dir), rest[1:]
		}
		return s.pyAt(path.Join(dir, strings.ReplaceAll(rest, ".", "/")))
	}
	rel := strings.ReplaceAll(name, ".", "/")
	// Roots are where packages end; then the places where they mostly are.
	dir := path.Dir(f.path)
	for s.isFile(path.Join(dir, "__init__.py")) && dir != "." {
		dir = path.Dir(dir)
	}
	for _, root := range []string{dir, ".", "src", "lib", "python"} {
		if file := s.pyAt(path.Join(root, rel)); file != "" {
			return file
		}
	}
	for dir != "." {
		dir = path.Dir(dir)
		if file := s.pyAt(path.Join(dir, rel)); file != "" {
			return file
		}
	}
	return ""
}

func (s *search) pyAt(name string) string {
	for _, file := range []string{name + ".py", path.Join(name, "__init__.py"), name + ".pyi", path.Join(name, "__init__.pyi")} {
		if s.isFile(file) {
			return file
		}
	}
	if s.mode(name) == "dir" {
		return name + "/"
	}
	return ""
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
	return s.fileModule(s.pyAt(path.Join(dir, name)))
}
