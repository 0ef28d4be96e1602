package references_test

import (
	"context"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// TestAgainstGoTypes asks for every symbol of some packages of the Go
// distribution, and compares with what go/types says. bench/symbols does the
// same over more of them.
func TestAgainstGoTypes(t *testing.T) {
	slow.Test(t)
	packages := []string{"bufio", "container/list", "text/tabwriter", "text/template/parse", "encoding/csv"}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module std\n")
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "source", nil)
	defs := map[token.Position]string{}
	uses := map[string]map[token.Position]bool{}
	var infos []*types.Info
	for _, pkg := range packages {
		names, _ := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", pkg, "*.go"))
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			src, err := os.ReadFile(name)
			if err != nil {
				needs.Skip(t, needs.Sources, err)
			}
			copied := filepath.Join(dir, pkg, filepath.Base(name))
			write(t, copied, string(src))
			f, err := parser.ParseFile(fset, copied, src, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: imp}
		if _, err := conf.Check(pkg, fset, files, info); err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
		for id, obj := range info.Defs {
			if name := qualified(obj); name != "" && id.Name != "_" {
				defs[fset.Position(id.Pos())] = pkg + "." + name
			}
		}
	}
	for _, info := range infos {
		for id, obj := range info.Uses {
			if name := defs[fset.Position(obj.Pos())]; name != "" {
				if uses[name] == nil {
					uses[name] = map[token.Position]bool{}
				}
				uses[name][place(fset.Position(id.Pos()))] = true
			}
		}
	}

	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	finder := &references.Finder{
		Language: treesitter.Language,
		Analyze: func(_ context.Context, lang string, src []byte) (pki.File, error) {
			return treesitter.Analyze(lang, src)
		},
	}
	var names []string
	for _, name := range defs {
		names = append(names, name)
	}
	slices.Sort(names)
	wanted, got, right := 0, 0, 0
	for _, name := range names {
		r, err := finder.Find(t.Context(), disk, references.Query{Symbol: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(r.Definitions) == 0 {
			t.Errorf("%s: no definition", name)
		}
		wanted += len(uses[name])
		for _, u := range r.Uses {
			got++
			if uses[name][token.Position{Filename: filepath.Join(dir, u.Path), Line: u.Line, Column: u.Column}] {
				right++
			}
		}
	}
	t.Logf("%d symbols, %d uses, %d found, %d of them right", len(names), wanted, got, right)
	if wanted < 1000 {
		t.Fatal("there is nothing to compare")
	}
	if recall := float64(right) / float64(wanted); recall < 0.95 {
		t.Errorf("recall %.3f", recall)
	}
	if precision := float64(right) / float64(got); precision < 0.9 {
		t.Errorf("precision %.3f", precision)
	}
}

func place(p token.Position) token.Position {
	p.Offset = 0
	return p
}

// qualified names what is declared outside of functions, as we do; "" is for
// what is not.
func qualified(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Func:
		recv := obj.Signature().Recv()
		if recv == nil {
			return obj.Name()
		}
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			return n.Obj().Name() + "." + obj.Name()
		}
	case *types.TypeName, *types.Const, *types.Var:
		if obj.Parent() != nil && obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			return obj.Name()
		}
	}
	return ""
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := ownfile.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
