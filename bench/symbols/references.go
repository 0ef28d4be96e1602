package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// sample are packages of the Go distribution: small and large, old and new,
// with and without generics.
var sample = []string{
	"archive/tar", "bufio", "bytes", "cmp", "compress/flate", "container/list", "context", "crypto/tls", "database/sql", "encoding/json", "errors", "fmt",
	"go/ast", "go/parser", "go/scanner", "go/token", "go/types", "html/template", "io", "io/fs", "log", "log/slog", "maps", "math/big", "mime/multipart", "net", "net/http", "net/http/httptest", "net/mail",
	"net/textproto", "net/url", "os", "os/exec", "path/filepath", "reflect", "regexp", "regexp/syntax", "slices", "sort", "strconv", "strings", "sync", "sync/atomic", "testing", "text/scanner",
	"text/tabwriter", "text/template", "text/template/parse", "time", "unicode/utf8",
}

// at is a place in a file of the distribution.
type at struct {
	file         string
	line, column int
}

// object is something declared in the sample, with what go/types says of it.
type object struct {
	name string // path/of/package.Qualified
	kind string
	uses map[at]bool
}

// groundTruth type-checks the sample.
func groundTruth(root string) ([]*object, map[string]bool, error) {
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "source", nil)
	place := func(pos token.Pos) at {
		p := fset.Position(pos)
		file, _ := filepath.Rel(root, p.Filename)
		return at{filepath.ToSlash(file), p.Line, p.Column}
	}
	objects := map[at]*object{}
	files := map[string]bool{}
	var infos []*types.Info
	for _, path := range sample {
		pkg, err := build.Import(path, "", 0)
		if err != nil {
			return nil, nil, err
		}
		var parsed []*ast.File
		for _, name := range pkg.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, 0)
			if err != nil {
				return nil, nil, err
			}
			parsed = append(parsed, f)
			files[place(f.Package).file] = true
		}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: imp, FakeImportC: true, Error: func(error) {}}
		_, _ = conf.Check(path, fset, parsed, info)
		infos = append(infos, info)
		for _, f := range parsed {
			declare(f, func(id *ast.Ident, name, kind string) {
				objects[place(id.Pos())] = &object{name: path + "." + name, kind: kind, uses: map[at]bool{}}
			})
		}
	}
	for _, info := range infos {
		for id, obj := range info.Uses {
			if o := objects[place(obj.Pos())]; o != nil && id.Name != "_" {
				o.uses[place(id.Pos())] = true
			}
		}
	}
	var list []*object
	for _, o := range objects {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *object) int { return strings.Compare(a.name, b.name) })
	return list, files, nil
}

// declare names what a file declares outside of functions.
func declare(f *ast.File, add func(id *ast.Ident, name, kind string)) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name, d.Name.Name, "function")
			} else if t := receiver(d.Recv.List[0].Type); t != "" {
				add(d.Name, t+"."+d.Name.Name, "method")
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id, id.Name, "value")
					}
				case *ast.TypeSpec:
					add(spec.Name, spec.Name.Name, "type")
					var fields *ast.FieldList
					kind := "field"
					switch t := spec.Type.(type) {
					case *ast.StructType:
						fields = t.Fields
					case *ast.InterfaceType:
						fields, kind = t.Methods, "method"
					}
					if fields == nil {
						continue
					}
					for _, field := range fields.List {
						for _, id := range field.Names {
							add(id, spec.Name.Name+"."+id.Name, kind)
						}
					}
				}
			}
		}
	}
}

func receiver(t ast.Expr) string {
	for {
		switch u := t.(type) {
		case *ast.StarExpr:
			t = u.X
		case *ast.IndexExpr:
			t = u.X
		case *ast.IndexListExpr:
			t = u.X
		case *ast.ParenExpr:
			t = u.X
		case *ast.Ident:
			return u.Name
		default:
			return ""
		}
	}
}

// score counts what is right.
type score struct{ objects, want, got, right int }

func (s score) String() string {
	return fmt.Sprintf("%5d symbols  %6d uses  recall %5.1f %%  precision %5.1f %%", s.objects, s.want,
		100*float64(s.right)/float64(max(1, s.want)), 100*float64(s.right)/float64(max(1, s.got)))
}

// references compares the references of n symbols with go/types.
func compareReferences(n int, verbose bool) error {
	root := filepath.Join(runtime.GOROOT(), "src")
	objects, files, err := groundTruth(root)
	if err != nil {
		return err
	}
	all := len(objects)
	rnd := rand.New(rand.NewPCG(1, 2))
	rnd.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	objects = slices.DeleteFunc(objects, func(o *object) bool {
		return strings.HasSuffix(o.name, "._") || strings.HasSuffix(o.name, ".init")
	})
	objects = objects[:min(n, len(objects))]
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: root}}, workspace.DiskOptions{})
	if err != nil {
		return err
	}
	defer disk.Close()
	finder := &references.Finder{
		Language: treesitter.Language,
		Analyze: func(_ context.Context, lang string, src []byte) (pki.File, error) {
			return treesitter.Analyze(lang, src)
		},
	}
	total := map[string]*score{}
	start := time.Now()
	for _, o := range objects {
		r, err := finder.Find(context.Background(), disk, references.Query{Symbol: o.name})
		if err != nil {
			fmt.Printf("  %s: %v\n", o.name, err)
			r = &references.Result{}
		}
		got := map[at]bool{}
		byName := 0
		for _, p := range r.Uses {
			if files[p.Path] {
				got[at{p.Path, p.Line, p.Column}] = true
				if p.ByName {
					byName++
				}
			}
		}
		var missed, extra []string
		for _, k := range []string{o.kind, "all"} {
			if total[k] == nil {
				total[k] = &score{}
			}
			t := total[k]
			t.objects++
			t.want += len(o.uses)
			t.got += len(got)
			for p := range o.uses {
				if got[p] {
					t.right++
				} else if k == "all" {
					missed = append(missed, fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column))
				}
			}
		}
		for p := range got {
			if !o.uses[p] {
				extra = append(extra, fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column))
			}
		}
		if verbose && len(missed)+len(extra) > 0 {
			slices.Sort(missed)
			slices.Sort(extra)
			fmt.Printf("  %s %s: %d uses, %d found, %d of them by name; missed %v; extra %v\n", o.kind, o.name, len(o.uses), len(got), byName, missed[:min(3, len(missed))], extra[:min(3, len(extra))])
		}
	}
	fmt.Printf("references in Go beside go/types: %d of %d symbols of %d packages, %.0f ms each\n", len(objects), all, len(sample), float64(time.Since(start).Milliseconds())/float64(len(objects)))
	for _, k := range []string{"function", "method", "type", "field", "value", "all"} {
		if t := total[k]; t != nil {
			fmt.Printf("  %-9s %s\n", k, t)
		}
	}
	return nil
}
