package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// eachFile visits every Go file of the project but the tests.
func eachFile(t *testing.T, visit func(pkg, name string, f *ast.File)) {
	t.Helper()
	files, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		visit(path.Dir(f.name), f.name, f.file)
	}
}

// parsedFile is a Go file of the project. Nobody changes it.
type parsedFile struct {
	name string
	file *ast.File
}

// parsed are the files of eachFile in order, parsed once: the race detector makes that
// seconds.
var parsed = sync.OnceValues(func() (files []parsedFile, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, parsedFile{name, f})
		return nil
	})
	return files, err
})
