package references

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/imports"
)

// search is one query at work.
type search struct {
	ctx    context.Context
	finder *Finder
	files  workspace.Files

	mu        sync.Mutex
	facts     map[string]*facts // by path; nil for what can't be had
	hits      []*facts          // files with the name, by path
	words     []string          // that were looked for
	described []imports.Description
	resolver  *imports.Resolver // from the first look at the files on
	modules   map[string]*module
	goNames   map[string]string // of packages, by directory
	values    map[valueKey]value
	partial   bool
	failed    int
}

// facts are what is known of one file.
type facts struct {
	path, lang string
	file       pki.File
	refs       []pki.Reference // to the words that were looked for, and to what may be aliases
	text       map[int]string  // lines that may be shown
	starts     []int           // of lines, for the symbols
}

func newSearch(ctx context.Context, f *Finder, files workspace.Files) *search {
	return &search{
		ctx: ctx, finder: f, files: files,
		facts: make(map[string]*facts), modules: make(map[string]*module),
		goNames: make(map[string]string), values: make(map[valueKey]value),
	}
}

// gather finds the files that have a word, and looks into them.
func (s *search) gather(words ...string) error {
	first := s.words == nil
	s.words = append(s.words, words...)
	opts := workspace.WalkOptions{Workers: runtime.GOMAXPROCS(0)}
	if s.finder.Narrow != nil {
		var err error
		if opts.Names, err = s.finder.Narrow(s.ctx, s.files, words, imports.Describes); err != nil {
			return err
		}
	}
	bufs := make([][]byte, opts.Workers)
	err := s.files.Walk(s.ctx, opts, func(e *workspace.Entry) error {
		if imports.Describes(e.Path) {
			if first {
				s.describe(e)
			}
			return nil
		}
		if s.isHit(e.Path) || s.finder.Language(e.Path, nil) == "" && path.Ext(e.Path) != "" {
			return nil
		}
		data, err := e.Read(bufs[e.Worker])
		if cap(data) > cap(bufs[e.Worker]) {
			bufs[e.Worker] = data
		}
		if err != nil || !slices.ContainsFunc(words, func(w string) bool { return hasWord(data, w) }) {
			return nil
		}
		lang := s.finder.Language(e.Path, data)
		if !isCode(lang) {
			return nil
		}
		f := s.factsOf(e.Path, lang, data, true)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.facts[e.Path] = f
		s.hits = append(s.hits, f)
		return s.ctx.Err()
	})
	if first {
		s.resolver = imports.New(tree{s, map[string]fs.FileMode{}}, s.described)
	}
	slices.SortFunc(s.hits, func(a, b *facts) int { return strings.Compare(a.path, b.path) })
	if errors.Is(err, context.DeadlineExceeded) {
		s.partial = true
		return nil
	}
	return err
}

// describe reads a file that describes a module.
func (s *search) describe(e *workspace.Entry) {
	data, err := e.Read(nil)
	if err != nil {
		return
	}
	if d, ok := imports.Describe(e.Path, data); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.described = append(s.described, d)
	}
}

func (s *search) isHit(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.facts[name]
	return f != nil && f.text != nil
}

// isCode: in prose and settings a word is no reference.
func isCode(lang string) bool {
	switch lang {
	case "", "markdown", "yaml", "toml":
		return false
	}
	return true
}

// factsOf analyzes a file. With lines, what may be shown of it is kept.
func (s *search) factsOf(name, lang string, src []byte, lines bool) *facts {
	f := &facts{path: name, lang: lang, starts: lineStarts(src)}
	if !f.quick(s.finder, s.words, src) {
		var err error
		if f.file, err = s.finder.Analyze(s.ctx, lang, src); err != nil {
			s.mu.Lock()
			s.failed++
			s.mu.Unlock()
		}
	}
	if lines {
		f.text = make(map[int]string)
		for i := range f.file.References {
			// Other names may turn out to be aliases, where there are such.
			if r := &f.file.References[i]; f.renames() && r.In == "" || slices.Contains(s.words, r.Name) {
				f.refs = append(f.refs, *r)
				f.addLine(src, r.Line)
			}
		}
		for i := range f.file.Imports {
			f.addLine(src, f.file.Imports[i].Line)
		}
		for i := range f.file.Symbols {
			if sym := &f.file.Symbols[i]; slices.Contains(s.words, sym.Name) {
				f.addLine(src, f.lineOf(sym))
			}
		}
	}
	f.file.References = nil
	return f
}

// quick takes the names of a file that needs no parser.
func (f *facts) quick(finder *Finder, words []string, src []byte) bool {
	if finder.Quick == nil || followed(f.lang) {
		return false
	}
	f.file = finder.Quick(f.lang, src)
	return !slices.ContainsFunc(f.file.Symbols, func(sym pki.Symbol) bool { return slices.Contains(words, sym.Name) })
}

// followed: scopes and imports are looked through, where the file can be parsed.
func followed(lang string) bool {
	switch lang {
	case "go", "python", "javascript", "typescript", "tsx":
		return true
	}
	return false
}

// renames reports whether what is imported may have another name in the file.
func (f *facts) renames() bool {
	return f.file.Exact && f.lang != "go"
}

// addLine remembers a line.
func (f *facts) addLine(src []byte, line int) {
	const most = 400
	if _, ok := f.text[line]; ok || line < 1 || line > len(f.starts) {
		return
	}
	text, _, _ := bytes.Cut(src[f.starts[line-1]:], []byte("\n"))
	f.text[line] = strings.TrimSpace(strings.ToValidUTF8(string(text[:min(len(text), most)]), "\uFFFD"))
}

func (f *facts) lineOf(sym *pki.Symbol) int {
	i, found := slices.BinarySearch(f.starts, sym.NameByte)
	if found {
		i++
	}
	return max(1, i)
}

func (f *facts) columnOf(sym *pki.Symbol) int { return sym.NameByte - f.starts[f.lineOf(sym)-1] + 1 }

func lineStarts(src []byte) []int {
	starts := []int{0}
	for i, c := range src {
		if c == '\n' || c == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// file returns the facts of a file that need not have the name, or nil.
func (s *search) file(name string) *facts {
	s.mu.Lock()
	f, ok := s.facts[name]
	s.mu.Unlock()
	if ok {
		return f
	}
	if src, err := s.files.ReadFile(name); err == nil && s.ctx.Err() == nil {
		if lang := s.finder.Language(name, src); lang != "" {
			f = s.factsOf(name, lang, src, false)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts[name] = f
	return f
}

// hasWord reports whether data has a word, and not only as a part of others.
func hasWord(data []byte, word string) bool {
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte(word))
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isWord(data[i-1])) && (end == len(data) || !isWord(data[end])) {
			return true
		}
		from = i + 1
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// answer is whether a reference means a symbol.
type answer int

const (
	no answer = iota
	maybe
	yes
)

// uses compares every reference with the targets.
func (s *search) uses(targets []definition, name symbolName) *Result {
	r := &Result{Files: len(s.hits), Partial: s.partial, Failed: s.failed}
	byName := map[string]bool{}
	for _, f := range s.hits {
		imports := make(map[int]bool) // lines
		defined := definedIn(f, targets)
		aliases := s.aliasesIn(f, targets, imports)
		for i := range f.refs {
			ref := &f.refs[i]
			if defined[ref.Offset] || ref.Name != name.last && !slices.Contains(aliases, ref.Name) {
				continue
			}
			sure := s.means(f, ref, targets, name)
			if sure == no {
				continue
			}
			if !followed(f.lang) {
				byName[f.lang] = true
			}
			if ref.Kind == pki.RefImport {
				imports[ref.Line] = true
				continue
			}
			throughDot(f, ref, imports)
			r.Uses = append(r.Uses, Reference{Path: f.path, Line: ref.Line, Column: ref.Column, Text: f.text[ref.Line], Kind: string(ref.Kind), Name: ref.Scope, ByName: sure == maybe})
		}
		for _, i := range f.file.Imports {
			if imports[i.Line] {
				delete(imports, i.Line)
				r.Imports = append(r.Imports, Reference{Path: f.path, Line: i.Line, Column: i.Column, Text: f.text[i.Line], Kind: string(pki.RefImport)})
			}
		}
	}
	sortReferences(r.Imports)
	sortReferences(r.Uses)
	for lang := range byName {
		r.ByName = append(r.ByName, lang)
	}
	slices.Sort(r.ByName)
	return r
}

// means tells whether a reference means one of the targets; without targets,
// whether it may mean the name.
func (s *search) means(f *facts, ref *pki.Reference, targets []definition, name symbolName) answer {
	if len(targets) == 0 {
		return named(f, ref, name)
	}
	sure := no
	for i := range targets {
		if sure < yes && related(f.lang, targets[i].from.lang) {
			sure = max(sure, s.matches(f, ref, targets[i].target))
		}
	}
	return sure
}

// aliasesIn returns the names under which a file imports the targets, and marks
// the lines where it does.
func (s *search) aliasesIn(f *facts, targets []definition, lines map[int]bool) (names []string) {
	if !f.renames() {
		return nil
	}
	for i := range f.file.Imports {
		imp := &f.file.Imports[i]
		if imp.Alias == "" || imp.Path == "" && imp.Alias == imp.Name {
			continue
		}
		v := s.imported(f, imp, 0)
		if v.state == isSymbol && slices.ContainsFunc(targets, func(d definition) bool { return d.module == v.module && d.name == v.name }) {
			names = append(names, imp.Alias)
			if imp.Path != "" {
				lines[imp.Line] = true
			}
		}
	}
	return names
}

// definedIn returns where in a file the targets have their names.
func definedIn(f *facts, targets []definition) map[int]bool {
	at := make(map[int]bool)
	for _, d := range targets {
		if d.from == f && d.symbol.Kind != pki.Field {
			at[d.symbol.NameByte] = true
		}
	}
	return at
}

// throughDot marks the import that a use goes through.
func throughDot(f *facts, ref *pki.Reference, lines map[int]bool) {
	root, _ := ref.In.Root()
	if ref.In == "" {
		root = ref.Name
	}
	for _, i := range f.file.Imports {
		if root != "" && i.Alias == root && i.Path != "" || ref.In == "" && i.Name == "*" && i.Alias == "" && f.lang == "go" {
			lines[i.Line] = true
		}
	}
}

// related: languages that share their names.
func related(a, b string) bool { return family(a) == family(b) }

func family(lang string) string {
	switch lang {
	case "javascript", "typescript", "tsx":
		return "javascript"
	case "java", "kotlin", "scala":
		return "java"
	case "c", "cpp":
		return "c"
	}
	return lang
}

func sortReferences(list []Reference) {
	slices.SortStableFunc(list, func(a, b Reference) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// follow looks for more files, where a target is known under other names:
// exported under another one, or as the default of its module.
func (s *search) follow(targets []definition) error {
	const most = 4
	for range most {
		var words []string
		add := func(word string) {
			if word != "" && !slices.Contains(s.words, word) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
		for _, f := range s.hits {
			if !f.renames() || !slices.ContainsFunc(targets, func(d definition) bool { return related(d.from.lang, f.lang) }) {
				continue
			}
			for _, alias := range s.aliasesIn(f, targets, map[int]bool{}) {
				switch exported := slices.ContainsFunc(f.file.Imports, func(i pki.Import) bool { return i.Alias == alias && i.Exported }); {
				case !exported:
				case alias == exportDefault || alias == exportWhole:
					add(moduleWord(f.path))
				default:
					add(alias)
				}
			}
		}
		if words == nil {
			return nil
		}
		if err := s.gather(words...); err != nil {
			return err
		}
	}
	return nil
}

// moduleWord is the word by which a file is imported.
func moduleWord(name string) string {
	base := path.Base(name)
	base, _, _ = strings.Cut(base, ".")
	if base == "index" || base == "__init__" {
		base = path.Base(path.Dir(name))
	}
	return base
}
