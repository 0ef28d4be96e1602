package treesitter

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// scope is a block of JavaScript, TypeScript or Python with the names that it
// declares.
type scope struct {
	outer    *scope
	names    map[string]binding
	function bool // var and global find their function here
	class    bool // names of a class's body: methods inside do not see them
}

// binding is what a name in a scope stands for: a symbol, or something local.
type binding struct {
	path   pki.Path
	in     pki.Path // of a symbol: what it belongs to
	symbol bool
}

// nameWalker is what the walks over JavaScript and Python share.
type nameWalker struct {
	src     []byte
	starts  []int // of lines
	symbols map[int]*pki.Symbol
	scope   *scope
	file    pki.File
	decls   map[string]int // index in file.Decls

	returns []*pki.Path // what the functions around return, innermost last
	classes []classScope
}

// classScope is a class that is walked.
type classScope struct {
	path pki.Path // of its values
	base pki.Path // of the values of its first base
	name string   // qualified
}

func newNameWalker(src []byte, symbols []pki.Symbol) nameWalker {
	w := nameWalker{src: src, starts: lineStarts(src), symbols: make(map[int]*pki.Symbol), decls: make(map[string]int)}
	w.file = pki.File{Symbols: symbols, Exact: true}
	for i := range symbols {
		w.symbols[symbols[i].NameByte] = &symbols[i]
	}
	w.scope = &scope{function: true}
	return w
}

func (w *nameWalker) text(n *node) string {
	if n == nil || n.end-n.start > maxName || n.end > len(w.src) {
		return ""
	}
	return string(w.src[n.start:n.end])
}

func (w *nameWalker) open(function bool) { w.scope = &scope{outer: w.scope, function: function} }
func (w *nameWalker) close()             { w.scope = w.scope.outer }

// lookup finds a name. One that no scope declares belongs to the file or is
// imported.
func (w *nameWalker) lookup(name string) (binding, bool) {
	for s := w.scope; s != nil; s = s.outer {
		if b, ok := s.names[name]; ok && (!s.class || s == w.scope) {
			return b, true
		}
	}
	return binding{}, false
}

// declare says what a name stands for in a scope. The symbol that has its name
// here, if there is one, is what it stands for; else the path.
func (w *nameWalker) declare(s *scope, n *node, path pki.Path) {
	name := w.text(n)
	if name == "" {
		return
	}
	b := binding{path: path}
	if sym := w.symbols[n.start]; sym != nil {
		b = binding{path: plainPath(sym.Qualified), in: plainPath(sym.Container), symbol: true}
		w.decl(sym.Qualified, path)
	} else if known, ok := s.names[name]; ok && (known.symbol || path == pki.Unknown) {
		return
	}
	if s.names == nil {
		s.names = make(map[string]binding)
	}
	s.names[name] = b
}

// plainPath is the path of a qualified name, unknown if the name has signs that
// are steps.
func plainPath(qualified string) pki.Path {
	if strings.ContainsAny(strings.ReplaceAll(qualified, ".", ""), pki.StepMarks+"<>?") {
		return pki.Unknown
	}
	return pki.Path(qualified)
}

// decl says of what type a symbol is. The first that is known holds.
func (w *nameWalker) decl(qualified string, results ...pki.Path) *pki.Decl {
	i, ok := w.decls[qualified]
	if !ok {
		i = len(w.file.Decls)
		w.decls[qualified] = i
		w.file.Decls = append(w.file.Decls, pki.Decl{Name: qualified})
	}
	d := &w.file.Decls[i]
	if len(results) > 0 && results[0].Known() && d.Results == nil {
		d.Results = results
	}
	return d
}

// use refers to a name, unless it is local.
func (w *nameWalker) use(n *node, kind pki.ReferenceKind) {
	b, found := w.lookup(w.text(n))
	switch {
	case !found:
		w.refer(n, "", kind)
	case b.symbol:
		w.refer(n, b.in, kind)
	}
}

func (w *nameWalker) refer(n *node, in pki.Path, kind pki.ReferenceKind) {
	name := w.text(n)
	if n == nil || name == "" || !utf8.ValidString(name) || len(w.file.References) >= maxReferences {
		return
	}
	line, column := position(w.starts, n.start)
	w.file.References = append(w.file.References, pki.Reference{Name: name, Kind: kind, In: in, Line: line, Column: column, Offset: n.start})
}

// pathOfName is the path of a name as it is seen here.
func (w *nameWalker) pathOfName(n *node) pki.Path {
	name := w.text(n)
	if b, ok := w.lookup(name); ok {
		return b.path
	}
	if name == "" {
		return pki.Unknown
	}
	return plainPath(name)
}

// returned notes what a function returns.
func (w *nameWalker) returned(path pki.Path) {
	if last := len(w.returns) - 1; last >= 0 && path.Known() && !w.returns[last].Known() {
		*w.returns[last] = path
	}
}

// valueBasic is a value that nothing of the workspace declares.
const valueBasic = goBasic

func (w *nameWalker) addImport(i pki.Import, at *node) {
	if at == nil || len(w.file.Imports) >= maxImports || i.Path == "" && i.Name == "" {
		return
	}
	i.Offset = at.start
	i.Line, i.Column = position(w.starts, at.start)
	w.file.Imports = append(w.file.Imports, i)
}

// finish puts references in order and says which symbols they are in.
func (w *nameWalker) finish() pki.File {
	refs := w.file.References
	slices.SortStableFunc(refs, func(a, b pki.Reference) int { return cmp.Compare(a.Offset, b.Offset) })
	refs = slices.CompactFunc(refs, func(a, b pki.Reference) bool { return a.Offset == b.Offset })
	n := nameScanner{file: pki.File{Symbols: w.file.Symbols}}
	for i := range refs {
		refs[i].Scope = n.scope(refs[i].Offset)
	}
	w.file.References = refs
	return w.file
}
