package treesitter

import (
	"go/ast"
	"go/token"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// goReferences walks a file that has been parsed: every name that is not local
// to a function becomes a reference.
type goReferences struct {
	*goFile
	imports map[string]bool // names that stand for packages
	scope   *goScope
	within  string // qualified name of the symbol that is walked
	file    pki.File
	depth   int // of expressions
}

// maxDepth bounds how far nested expressions are followed.
const maxDepth = 2000

func (g *goFile) references(file *ast.File) pki.File {
	w := goReferences{goFile: g, imports: make(map[string]bool)}
	w.file = pki.File{Package: file.Name.Name, Symbols: g.out, Exact: true}
	for _, spec := range file.Imports {
		w.importSpec(spec)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			w.function(d)
		case *ast.GenDecl:
			var last *ast.ValueSpec
			for _, spec := range d.Specs {
				// Below iota a constant repeats the one above.
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.CONST {
					if v.Type == nil && v.Values == nil && last != nil {
						w.repeat(v, last)
						continue
					}
					last = v
				}
				w.topSpec(spec)
			}
		}
	}
	return w.file
}

// refer adds a reference.
func (w *goReferences) refer(id *ast.Ident, in pki.Path, kind pki.ReferenceKind) *pki.Reference {
	if id.Name == "_" || id.Name == "" || in == "" && isBasic(id.Name) || len(w.file.References) >= maxReferences {
		return &pki.Reference{}
	}
	at := w.offset(id.Pos())
	line, column := position(w.lines, at)
	w.file.References = append(w.file.References, pki.Reference{Name: id.Name, Kind: kind, Scope: w.within, In: in, Line: line, Column: column, Offset: at})
	return &w.file.References[len(w.file.References)-1]
}

func (w *goReferences) open()  { w.scope = &goScope{outer: w.scope} }
func (w *goReferences) close() { w.scope = w.scope.outer }

func (w *goReferences) function(d *ast.FuncDecl) {
	decl := pki.Decl{Name: d.Name.Name}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		decl.Name = join(typeName(d.Recv.List[0].Type), d.Name.Name)
	}
	w.within = decl.Name
	w.open()
	if d.Recv != nil {
		for _, f := range d.Recv.List {
			w.receiver(f)
		}
	}
	w.unknownParams(d.Type.TypeParams)
	decl.Results = w.scope.results(d.Type)
	w.typeParams(d.Type.TypeParams)
	w.signature(d.Type)
	if d.Body != nil {
		w.block(d.Body.List)
	}
	w.close()
	w.within = ""
	w.file.Decls = append(w.file.Decls, decl)
}

// receiver declares a receiver; what looks like type arguments are parameters.
func (w *goReferences) receiver(f *ast.Field) {
	t := f.Type
	for {
		switch u := t.(type) {
		case *ast.StarExpr:
			t = u.X
			continue
		case *ast.ParenExpr:
			t = u.X
			continue
		case *ast.IndexExpr:
			w.parameterNames(u.Index)
			t = u.X
			continue
		case *ast.IndexListExpr:
			w.parameterNames(u.Indices...)
			t = u.X
			continue
		}
		break
	}
	w.types(t)
	for _, name := range f.Names {
		w.scope.declare(name, w.scope.valueOf(t))
	}
}

func (w *goReferences) parameterNames(list ...ast.Expr) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			w.scope.declare(id, pki.Unknown)
		}
	}
}

// unknownParams declares type parameters as they are for everybody outside.
func (w *goReferences) unknownParams(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		for _, name := range f.Names {
			w.scope.declare(name, pki.Unknown)
		}
	}
}

// typeParams declares type parameters: their values are what the constraint is.
func (w *goReferences) typeParams(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		for _, name := range f.Names {
			switch f.Type.(type) {
			case *ast.Ident, *ast.SelectorExpr:
				w.scope.declare(name, w.scope.valueOf(f.Type))
			}
		}
		w.types(f.Type)
	}
}

// signature walks the types of parameters and results, and declares them.
func (w *goReferences) signature(t *ast.FuncType) {
	for _, list := range []*ast.FieldList{t.Params, t.Results} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			w.types(f.Type)
		}
		for _, f := range list.List {
			path := w.scope.valueOf(f.Type)
			for _, name := range f.Names {
				w.scope.declare(name, path)
			}
		}
	}
}

// topSpec walks a declaration of the file.
func (w *goReferences) topSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		w.within = spec.Name.Name
		w.open()
		w.unknownParams(spec.TypeParams)
		w.file.Decls = append(w.file.Decls, w.typeDecls(spec)...)
		w.typeParams(spec.TypeParams)
		w.typeBody(spec.Type)
		w.close()
	case *ast.ValueSpec:
		w.within = spec.Names[0].Name
		if spec.Type != nil {
			w.types(spec.Type)
		}
		paths := w.valuePaths(spec)
		for i, name := range spec.Names {
			w.file.Decls = append(w.file.Decls, pki.Decl{Name: name.Name, Results: []pki.Path{paths[i]}})
		}
		w.values(spec)
	}
	w.within = ""
}

// repeat declares constants with what the ones above have.
func (w *goReferences) repeat(spec, above *ast.ValueSpec) {
	paths := w.valuePaths(above)
	for i, name := range spec.Names {
		if i < len(paths) {
			w.file.Decls = append(w.file.Decls, pki.Decl{Name: name.Name, Results: []pki.Path{paths[i]}})
		}
	}
}

// values walks what names are declared with.
func (w *goReferences) values(spec *ast.ValueSpec) {
	for i, v := range spec.Values {
		if i < len(spec.Names) {
			if w.scope == nil {
				w.within = spec.Names[i].Name
			}
		}
		w.expr(v)
	}
}

// valuePaths says of what types the names of a declaration are.
func (w *goReferences) valuePaths(spec *ast.ValueSpec) []pki.Path {
	if spec.Type != nil {
		path := w.scope.valueOf(spec.Type)
		out := make([]pki.Path, len(spec.Names))
		for i := range out {
			out[i] = path
		}
		return out
	}
	return w.assigned(len(spec.Names), spec.Values)
}

// assigned says what each of n names gets of values.
func (w *goReferences) assigned(n int, values []ast.Expr) []pki.Path {
	out := make([]pki.Path, n)
	for i := range out {
		switch {
		case len(values) == n:
			out[i] = w.scope.pathOf(values[i])
		case len(values) == 1:
			out[i] = w.scope.pathOf(values[0])
			if _, call := ast.Unparen(values[0]).(*ast.CallExpr); call {
				out[i] = out[i].Then("@" + strconv.Itoa(i))
			} else if i > 0 {
				out[i] = goBasic // v, ok
			}
		default:
			out[i] = pki.Unknown
		}
	}
	return out
}

// typeDecls says what a type is made of.
func (w *goReferences) typeDecls(spec *ast.TypeSpec) []pki.Decl {
	d := pki.Decl{Name: spec.Name.Name, Alias: spec.Assign.IsValid()}
	var members []pki.Decl
	var fields *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		d.Under = w.scope.valueOf(spec.Type)
	}
	if fields != nil {
		for _, f := range fields.List {
			m := pki.Decl{Results: []pki.Path{w.scope.valueOf(f.Type)}}
			if method, ok := f.Type.(*ast.FuncType); ok && len(f.Names) == 1 {
				if _, isInterface := spec.Type.(*ast.InterfaceType); isInterface {
					m.Results = w.scope.results(method)
				}
			}
			if len(f.Names) == 0 {
				d.Bases = append(d.Bases, w.scope.valueOf(f.Type))
				if name := typeName(f.Type); name != "" {
					m.Name = join(d.Name, name)
					members = append(members, m)
				}
			}
			for _, name := range f.Names {
				m.Name = join(d.Name, name.Name)
				members = append(members, m)
			}
		}
	}
	return append(members, d)
}

// typeBody is types for a type's own definition, where a name without a field
// is a base.
func (w *goReferences) typeBody(t ast.Expr) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		w.types(t)
		return
	}
	for _, f := range fields.List {
		if len(f.Names) > 0 {
			w.types(f.Type)
			continue
		}
		from := len(w.file.References)
		w.types(f.Type)
		if added := w.file.References[from:]; len(added) > 0 {
			added[0].Kind = pki.RefExtends
		}
	}
}

// types walks a type.
func (w *goReferences) types(t ast.Expr) {
	switch t := t.(type) {
	case *ast.Ident:
		if _, local := w.scope.lookup(t.Name); !local {
			w.refer(t, "", pki.RefType)
		}
	case *ast.SelectorExpr:
		w.refer(t.Sel, w.scope.pathOf(t.X), pki.RefType)
	case *ast.StarExpr:
		w.types(t.X)
	case *ast.ParenExpr:
		w.types(t.X)
	case *ast.ArrayType:
		if t.Len != nil {
			w.expr(t.Len)
		}
		w.types(t.Elt)
	case *ast.Ellipsis:
		w.types(t.Elt)
	case *ast.ChanType:
		w.types(t.Value)
	case *ast.MapType:
		w.types(t.Key)
		w.types(t.Value)
	case *ast.FuncType:
		w.open()
		w.signature(t)
		w.close()
	case *ast.StructType:
		w.typeBody(t)
	case *ast.InterfaceType:
		w.typeBody(t)
	case *ast.IndexExpr:
		w.types(t.X)
		w.types(t.Index)
	case *ast.IndexListExpr:
		w.types(t.X)
		for _, i := range t.Indices {
			w.types(i)
		}
	case *ast.UnaryExpr: // ~T
		w.types(t.X)
	case *ast.BinaryExpr: // A | B
		w.types(t.X)
		w.types(t.Y)
	case nil:
	default:
		w.expr(t)
	}
}
