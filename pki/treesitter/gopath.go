package treesitter

import (
	"go/ast"
	"go/token"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// goScope is a block of a function: its names, and of what type they are.
type goScope struct {
	outer *goScope
	names map[string]pki.Path
}

func (s *goScope) declare(name *ast.Ident, path pki.Path) {
	if name == nil || name.Name == "_" {
		return
	}
	if s.names == nil {
		s.names = make(map[string]pki.Path)
	}
	s.names[name.Name] = path
}

func (s *goScope) lookup(name string) (pki.Path, bool) {
	for ; s != nil; s = s.outer {
		if path, ok := s.names[name]; ok {
			return path, true
		}
	}
	return "", false
}

// A value of a type that no file declares, so that whoever follows a path
// need not guess.
const goBasic pki.Path = "int!"

// maxSpine is how deep an expression may be for its path to be of interest.
const maxSpine = 60

// deep reports whether it would take long to find out what an expression is.
func deep(e ast.Expr) bool {
	for range maxSpine {
		switch t := e.(type) {
		case *ast.SelectorExpr:
			e = t.X
		case *ast.CallExpr:
			e = t.Fun
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.StarExpr:
			e = t.X
		case *ast.SliceExpr:
			e = t.X
		case *ast.UnaryExpr:
			e = t.X
		case *ast.BinaryExpr:
			e = t.X
		case *ast.TypeAssertExpr:
			e = t.X
		case *ast.ArrayType:
			e = t.Elt
		case *ast.ChanType:
			e = t.Value
		case *ast.MapType:
			e = t.Value
		case *ast.FuncType:
			if t.Results == nil || len(t.Results.List) == 0 {
				return false
			}
			e = t.Results.List[0].Type
		default:
			return false
		}
	}
	return true
}

// pathOf says what the value of an expression is.
func (s *goScope) pathOf(e ast.Expr) pki.Path {
	if deep(e) {
		return pki.Unknown
	}
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "true", "false", "iota":
			return goBasic
		case "nil", "_":
			return pki.Unknown
		}
		if path, ok := s.lookup(e.Name); ok {
			return path
		}
		return pki.Path(e.Name)
	case *ast.SelectorExpr:
		return s.pathOf(e.X).Then("." + e.Sel.Name)
	case *ast.CallExpr:
		return s.pathOfCall(e)
	case *ast.IndexExpr:
		return s.pathOf(e.X).Then("[]")
	case *ast.IndexListExpr:
		return s.pathOf(e.X).Then("%")
	case *ast.ParenExpr:
		return s.pathOf(e.X)
	case *ast.StarExpr:
		return s.pathOf(e.X)
	case *ast.SliceExpr:
		return s.pathOf(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			return s.pathOf(e.X).Then("[]")
		}
		return s.pathOf(e.X)
	case *ast.BinaryExpr:
		switch e.Op {
		case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ, token.LAND, token.LOR:
			return goBasic
		}
		if path := s.pathOf(e.X); path != goBasic || e.Op == token.SHL || e.Op == token.SHR {
			return path
		}
		return s.pathOf(e.Y)
	case *ast.BasicLit:
		return goBasic
	case *ast.CompositeLit:
		if e.Type == nil {
			return pki.Unknown
		}
		return s.valueOf(e.Type)
	case *ast.FuncLit:
		return s.valueOf(e.Type)
	case *ast.TypeAssertExpr:
		if e.Type == nil {
			return s.pathOf(e.X)
		}
		return s.valueOf(e.Type)
	}
	return s.valueOf(e)
}

func (s *goScope) pathOfCall(e *ast.CallExpr) pki.Path {
	fun := ast.Unparen(e.Fun)
	if id, ok := fun.(*ast.Ident); ok {
		if _, local := s.lookup(id.Name); !local && len(e.Args) > 0 {
			switch id.Name {
			case "new", "make":
				return s.valueOf(e.Args[0])
			case "append", "min", "max":
				return s.pathOf(e.Args[0])
			case "len", "cap", "copy", "string", "int", "byte", "rune":
				return goBasic
			}
		}
	}
	switch fun.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType, *ast.StructType:
		return s.valueOf(fun)
	}
	return s.pathOf(fun).Then("()")
}

// valueOf says what a value of a type is.
func (s *goScope) valueOf(t ast.Expr) pki.Path {
	if deep(t) {
		return pki.Unknown
	}
	switch t := t.(type) {
	case *ast.Ident:
		if path, ok := s.lookup(t.Name); ok {
			return path // of a local type or a type parameter it is that of its values
		}
		return pki.Path(t.Name).Then("!")
	case *ast.SelectorExpr:
		return s.pathOf(t.X).Then("." + t.Sel.Name + "!")
	case *ast.StarExpr:
		return s.valueOf(t.X)
	case *ast.ParenExpr:
		return s.valueOf(t.X)
	case *ast.ArrayType:
		return s.valueOf(t.Elt).Then("^")
	case *ast.Ellipsis:
		if t.Elt == nil {
			return pki.Unknown
		}
		return s.valueOf(t.Elt).Then("^")
	case *ast.ChanType:
		return s.valueOf(t.Value).Then("^")
	case *ast.MapType:
		return s.valueOf(t.Value).Map(s.valueOf(t.Key))
	case *ast.FuncType:
		results := s.results(t)
		if len(results) == 0 {
			return goBasic.Then("~")
		}
		return results[0].Then("~")
	case *ast.InterfaceType:
		return "any!"
	case *ast.StructType:
		return pki.Nameless
	case *ast.IndexExpr:
		return s.generic(t.X)
	case *ast.IndexListExpr:
		return s.generic(t.X)
	}
	return pki.Unknown
}

// generic is valueOf for a type with type arguments.
func (s *goScope) generic(t ast.Expr) pki.Path {
	return s.pathOf(t).Then("%!")
}

// results are the types of what a function returns.
func (s *goScope) results(t *ast.FuncType) []pki.Path {
	if t.Results == nil {
		return nil
	}
	var out []pki.Path
	for _, f := range t.Results.List {
		path := s.valueOf(f.Type)
		for range max(1, len(f.Names)) {
			out = append(out, path)
		}
	}
	return out
}
