// Package shape counts the methods of types and the functions among the fields of structs.
package shape

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// What a type and a struct may have.
const (
	MaxMethods   = 40 // with its parts
	MaxFunctions = 4  // more of them are an interface that has no name yet
)

// Type is a type of a package, tests aside.
type Type struct {
	Name      string // with its package, below the module: server.Server
	Own       int    // methods
	All       int    // with those of the types that are parts of it: they have a field that points back, and fewer methods
	Functions int    // among the fields of a struct
}

// Read finds the types below a directory of a module that have methods or fields that are
// functions. It looks at names alone: a field points back when its type is *T of the same package.
func Read(root fs.FS) (map[string]Type, error) {
	types := map[string]Type{}
	parts := map[string]map[string]bool{} // by type: those that point back
	update := func(name string, f func(*Type)) {
		t := types[name]
		t.Name = name
		f(&t)
		types[name] = t
	}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); base == "testdata" || base == "node_modules" || name != "." && strings.HasPrefix(base, ".") || name == "internal/test" || name == "bench" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := path.Dir(name) + "."
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				of, _ := base(fn.Recv.List[0].Type)
				update(pkg+of, func(t *Type) { t.Own++ })
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range fields.Fields.List {
				if _, ok := field.Type.(*ast.FuncType); ok {
					update(pkg+spec.Name.Name, func(t *Type) { t.Functions += max(len(field.Names), 1) })
				}
				if of, pointer := base(field.Type); pointer && of != spec.Name.Name {
					if parts[pkg+of] == nil {
						parts[pkg+of] = map[string]bool{}
					}
					parts[pkg+of][pkg+spec.Name.Name] = true
				}
			}
			return true
		})
		return nil
	})
	for name, t := range types {
		t.All = t.Own
		for part := range parts[name] {
			if p := types[part]; p.Own < t.Own {
				t.All += p.Own
			}
		}
		types[name] = t
	}
	return types, err
}

// base is the name of a type of the same package, and whether the expression is a pointer to it.
func base(e ast.Expr) (name string, pointer bool) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name, pointer
		case *ast.StarExpr:
			pointer, e = true, x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return "", false
		}
	}
}
