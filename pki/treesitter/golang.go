package treesitter

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// goSymbols uses Go's own parser: it is exact, several times as fast as
// tree-sitter, and goes on after errors.
func goSymbols(src []byte) []pki.Symbol {
	g, _ := parseGo(src)
	return g.out
}

// goAnalyze is goSymbols with references.
func goAnalyze(src []byte) pki.File {
	g, file := parseGo(src)
	if file == nil {
		return pki.File{}
	}
	return g.references(file)
}

// parseGo finds the symbols of a file. Without a file there is nothing.
func parseGo(src []byte) (*goFile, *ast.File) {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "", legible(src), parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return &goFile{}, nil
	}
	g := &goFile{src: src, file: fset.File(file.FileStart), lines: lineStarts(src)}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.function(d)
		case *ast.GenDecl:
			g.group(d)
		}
	}
	slices.SortStableFunc(g.out, func(a, b pki.Symbol) int { return a.StartByte - b.StartByte })
	return g, file
}

// legible returns src with a sign in the place of every byte that is not UTF-8,
// which the parser would stop at.
func legible(src []byte) []byte {
	if utf8.Valid(src) && bytes.IndexByte(src, 0) < 0 {
		return src
	}
	out := bytes.Clone(src)
	for i := 0; i < len(out); {
		r, n := utf8.DecodeRune(out[i:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			out[i] = '?'
		}
		i += n
	}
	return out
}

type goFile struct {
	src   []byte
	file  *token.File
	lines []int
	out   []pki.Symbol
}

// offset is inside the source even for positions that broken code makes up.
func (g *goFile) offset(p token.Pos) int {
	if !p.IsValid() || int(p) < g.file.Base() {
		return 0
	}
	return min(int(p)-g.file.Base(), len(g.src))
}

// add appends a symbol that reaches from one position to another. The
// signature ends at the position body, if that is valid.
func (g *goFile) add(s pki.Symbol, name, from, to, body token.Pos, prefix string, docs ...*ast.CommentGroup) {
	start, end := g.offset(from), g.offset(to)
	if s.Name == "" || s.Name == "_" || start >= end || len(s.Name) > maxName || len(g.out) >= maxSymbols {
		return
	}
	stop := end
	if body.IsValid() {
		stop = max(start, min(end, g.offset(body)))
	}
	s.StartByte, s.EndByte, s.BodyByte = start, end, stop
	s.NameByte = max(start, g.offset(name))
	s.StartLine, s.EndLine = lineAt(g.lines, start), lineAt(g.lines, max(start, end-1))
	s.Signature = cut(fold(prefix+string(g.src[start:min(stop, start+4*maxSignature)])), maxSignature)
	s.Qualified = join(s.Container, s.Name)
	for _, d := range docs {
		if s.Doc == "" && d != nil {
			s.Doc, s.DocStart, s.DocEnd = cut(trimText(d.Text()), maxDoc), g.offset(d.Pos()), g.offset(d.End())
		}
	}
	g.out = append(g.out, s)
}

func (g *goFile) function(d *ast.FuncDecl) {
	s := pki.Symbol{Name: d.Name.Name, Kind: pki.Function}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		s.Kind, s.Container = pki.Method, typeName(d.Recv.List[0].Type)
	}
	body := token.NoPos
	if d.Body != nil {
		body = d.Body.Lbrace
	}
	g.add(s, d.Name.Pos(), d.Pos(), d.End(), body, "", d.Doc)
}

func (g *goFile) group(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		// Alone, a declaration begins with its keyword; in a group it does not.
		from, prefix := spec.Pos(), d.Tok.String()+" "
		docs := []*ast.CommentGroup{}
		if !d.Lparen.IsValid() {
			from, prefix = d.Pos(), ""
			docs = append(docs, d.Doc)
		}
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			g.types(spec, from, prefix, append(docs, spec.Doc, spec.Comment))
		case *ast.ValueSpec:
			kind := pki.Variable
			if d.Tok == token.CONST {
				kind = pki.Constant
			}
			for i, name := range spec.Names {
				at, before := from, prefix
				if i > 0 {
					at, before = name.Pos(), d.Tok.String()+" "
				}
				g.add(pki.Symbol{Name: name.Name, Kind: kind}, name.Pos(), at, spec.End(), brace(spec), before, append(docs, spec.Doc, spec.Comment)...)
			}
		}
	}
}

// brace returns where the first composite value or function of a spec begins.
func brace(spec *ast.ValueSpec) token.Pos {
	for _, v := range spec.Values {
		if u, ok := v.(*ast.UnaryExpr); ok {
			v = u.X
		}
		switch v := v.(type) {
		case *ast.CompositeLit:
			return v.Lbrace
		case *ast.FuncLit:
			return v.Body.Lbrace
		}
	}
	return token.NoPos
}

func (g *goFile) types(spec *ast.TypeSpec, from token.Pos, prefix string, docs []*ast.CommentGroup) {
	s := pki.Symbol{Name: spec.Name.Name, Kind: pki.Type}
	var members *ast.FieldList
	body := token.NoPos
	switch t := spec.Type.(type) {
	case *ast.StructType:
		s.Kind, members, body = pki.Struct, t.Fields, t.Fields.Opening
	case *ast.InterfaceType:
		s.Kind, members, body = pki.Interface, t.Methods, t.Methods.Opening
	}
	g.add(s, spec.Name.Pos(), from, spec.End(), body, prefix, docs...)
	if members == nil {
		return
	}
	for _, f := range members.List {
		kind := pki.Field
		if _, ok := f.Type.(*ast.FuncType); ok && s.Kind == pki.Interface {
			kind = pki.Method
		}
		if len(f.Names) == 0 && s.Kind == pki.Struct { // embedded
			g.add(pki.Symbol{Name: typeName(f.Type), Kind: kind, Container: s.Name, Depth: 1}, typeNamePos(f.Type), f.Pos(), f.End(), token.NoPos, "", f.Doc, f.Comment)
		}
		for _, name := range f.Names {
			g.add(pki.Symbol{Name: name.Name, Kind: kind, Container: s.Name, Depth: 1}, name.Pos(), name.Pos(), f.End(), token.NoPos, "", f.Doc, f.Comment)
		}
	}
}

// typeName is the name of a receiver or an embedded type: no pointer, package
// or type arguments.
func typeName(e ast.Expr) string {
	if id := typeIdent(e); id != nil {
		return id.Name
	}
	return ""
}

func typeNamePos(e ast.Expr) token.Pos {
	if id := typeIdent(e); id != nil {
		return id.Pos()
	}
	return e.Pos()
}

func typeIdent(e ast.Expr) *ast.Ident {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.SelectorExpr:
			return t.Sel
		case *ast.Ident:
			return t
		default:
			return nil
		}
	}
}
