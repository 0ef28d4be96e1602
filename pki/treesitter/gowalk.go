package treesitter

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// block walks statements in a scope of their own.
func (w *goReferences) block(list []ast.Stmt) {
	w.open()
	w.stmts(list)
	w.close()
}

func (w *goReferences) stmts(list []ast.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *goReferences) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		w.assign(s)
	case *ast.BlockStmt:
		w.block(s.List)
	case *ast.CaseClause:
		w.open()
		for _, e := range s.List {
			w.expr(e)
		}
		w.stmts(s.Body)
		w.close()
	case *ast.CommClause:
		w.open()
		w.stmt(s.Comm)
		w.stmts(s.Body)
		w.close()
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				w.localSpec(spec)
			}
		}
	case *ast.DeferStmt:
		w.expr(s.Call)
	case *ast.ExprStmt:
		w.expr(s.X)
	case *ast.ForStmt:
		w.open()
		w.stmt(s.Init)
		w.expr(s.Cond)
		w.stmt(s.Post)
		w.stmt(s.Body)
		w.close()
	case *ast.GoStmt:
		w.expr(s.Call)
	case *ast.IfStmt:
		w.open()
		w.stmt(s.Init)
		w.expr(s.Cond)
		w.stmt(s.Body)
		w.stmt(s.Else)
		w.close()
	case *ast.IncDecStmt:
		w.target(s.X)
	case *ast.LabeledStmt:
		w.stmt(s.Stmt)
	case *ast.RangeStmt:
		w.rangeStmt(s)
	case *ast.ReturnStmt:
		w.exprs(s.Results)
	case *ast.SelectStmt:
		w.stmt(s.Body)
	case *ast.SendStmt:
		w.expr(s.Chan)
		w.expr(s.Value)
	case *ast.SwitchStmt:
		w.open()
		w.stmt(s.Init)
		w.expr(s.Tag)
		w.stmt(s.Body)
		w.close()
	case *ast.TypeSwitchStmt:
		w.typeSwitch(s)
	}
}

func (w *goReferences) assign(s *ast.AssignStmt) {
	w.exprs(s.Rhs)
	if s.Tok != token.DEFINE {
		for _, e := range s.Lhs {
			w.target(e)
		}
		return
	}
	paths := w.assigned(len(s.Lhs), s.Rhs)
	for i, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		if !ok {
			continue
		}
		if _, known := w.scope.names[id.Name]; !known {
			w.scope.declare(id, paths[i])
		}
	}
}

func (w *goReferences) localSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		w.types(spec.Type)
		w.exprs(spec.Values)
		for i, path := range w.valuePaths(spec) {
			w.scope.declare(spec.Names[i], path)
		}
	case *ast.TypeSpec:
		w.scope.declare(spec.Name, pki.Unknown)
		w.open()
		w.typeParams(spec.TypeParams)
		under := w.scope.valueOf(spec.Type)
		w.types(spec.Type)
		w.close()
		w.scope.declare(spec.Name, under)
	}
}

func (w *goReferences) rangeStmt(s *ast.RangeStmt) {
	w.expr(s.X)
	w.open()
	defer w.close()
	if s.Tok != token.DEFINE {
		w.target(s.Key)
		w.target(s.Value)
	} else {
		if id, ok := s.Key.(*ast.Ident); ok {
			w.scope.declare(id, w.scope.pathOf(s.X).Then("[k]"))
		}
		if id, ok := s.Value.(*ast.Ident); ok {
			w.scope.declare(id, w.scope.pathOf(s.X).Then("[]"))
		}
	}
	w.stmt(s.Body)
}

func (w *goReferences) typeSwitch(s *ast.TypeSwitchStmt) {
	w.open()
	defer w.close()
	w.stmt(s.Init)
	var name *ast.Ident
	var value ast.Expr
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		if len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			name, _ = a.Lhs[0].(*ast.Ident)
			value = a.Rhs[0]
		}
	case *ast.ExprStmt:
		value = a.X
	}
	w.expr(value)
	for _, c := range s.Body.List {
		clause, ok := c.(*ast.CaseClause)
		if !ok {
			continue
		}
		w.open()
		for _, t := range clause.List {
			w.types(t)
		}
		if name != nil {
			path := w.scope.pathOf(value)
			if len(clause.List) == 1 {
				path = w.scope.valueOf(clause.List[0])
			}
			w.scope.declare(name, path)
		}
		w.stmts(clause.Body)
		w.close()
	}
}

// target walks what is assigned to.
func (w *goReferences) target(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		w.name(e, pki.RefWrite)
	case *ast.SelectorExpr:
		w.selector(e, pki.RefWrite)
	case *ast.ParenExpr:
		w.target(e.X)
	default:
		w.expr(e)
	}
}

func (w *goReferences) exprs(list []ast.Expr) {
	for _, e := range list {
		w.expr(e)
	}
}

func (w *goReferences) name(id *ast.Ident, kind pki.ReferenceKind) {
	if _, local := w.scope.lookup(id.Name); !local && !w.imports[id.Name] {
		w.refer(id, "", kind)
	}
}

func (w *goReferences) selector(e *ast.SelectorExpr, kind pki.ReferenceKind) {
	w.expr(e.X)
	w.refer(e.Sel, w.scope.pathOf(e.X), kind)
}

func (w *goReferences) expr(e ast.Expr) {
	if w.depth++; w.depth > maxDepth {
		w.depth--
		return
	}
	defer func() { w.depth-- }()
	switch e := e.(type) {
	case nil:
	case *ast.Ident:
		w.name(e, pki.RefRead)
	case *ast.SelectorExpr:
		w.selector(e, pki.RefRead)
	case *ast.CallExpr:
		w.call(e)
	case *ast.BinaryExpr:
		w.expr(e.X)
		w.expr(e.Y)
	case *ast.CompositeLit:
		w.literal(e, pki.Unknown)
	case *ast.FuncLit:
		w.open()
		w.signature(e.Type)
		w.block(e.Body.List)
		w.close()
	case *ast.IndexExpr:
		w.expr(e.X)
		w.expr(e.Index)
	case *ast.IndexListExpr:
		w.expr(e.X)
		w.exprs(e.Indices)
	case *ast.KeyValueExpr:
		w.expr(e.Key)
		w.expr(e.Value)
	case *ast.ParenExpr:
		w.expr(e.X)
	case *ast.SliceExpr:
		w.expr(e.X)
		w.expr(e.Low)
		w.expr(e.High)
		w.expr(e.Max)
	case *ast.StarExpr:
		w.expr(e.X)
	case *ast.TypeAssertExpr:
		w.expr(e.X)
		w.types(e.Type)
	case *ast.UnaryExpr:
		w.expr(e.X)
	case *ast.ArrayType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType, *ast.MapType, *ast.StructType, *ast.Ellipsis:
		w.types(e)
	}
}

func (w *goReferences) call(e *ast.CallExpr) {
	fun := ast.Unparen(e.Fun)
	switch i := fun.(type) { // with type arguments
	case *ast.IndexExpr:
		w.expr(i.Index)
		fun = i.X
	case *ast.IndexListExpr:
		w.exprs(i.Indices)
		fun = i.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		w.name(fun, pki.RefCall)
	case *ast.SelectorExpr:
		w.selector(fun, pki.RefCall)
	default:
		w.expr(fun)
	}
	w.exprs(e.Args)
}

// literal walks a composite value. elided is what it is where its type is left
// out, as inside of a slice.
func (w *goReferences) literal(e *ast.CompositeLit, elided pki.Path) {
	in := elided
	keys := true // keys are names of fields
	if e.Type != nil {
		w.types(e.Type)
		in = w.scope.valueOf(e.Type)
		switch e.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			keys = false
		}
	} else if strings.HasSuffix(string(in), "^") || strings.HasSuffix(string(in), ">") {
		keys = false
	}
	for _, elt := range e.Elts {
		value := elt
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			value = kv.Value
			id, isName := kv.Key.(*ast.Ident)
			switch {
			case isName && keys:
				w.key(id, in)
			default:
				w.element(kv.Key, in.Then("[k]"))
			}
		}
		w.element(value, in.Then("[]"))
	}
}

// key is a name before a colon: a field, unless the literal turns out to be a
// map or a slice.
func (w *goReferences) key(id *ast.Ident, in pki.Path) {
	if _, local := w.scope.lookup(id.Name); local && in == pki.Unknown {
		return
	}
	w.refer(id, in, pki.RefWrite).Key = true
}

func (w *goReferences) element(e ast.Expr, path pki.Path) {
	if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
		w.literal(lit, path)
		return
	}
	w.expr(e)
}
