package ownfile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// changing are the functions that change what a path leads to, or what is beside it, by package.
var changing = map[string][]string{
	"os": {"WriteFile", "Create", "OpenFile", "Truncate", "Mkdir", "MkdirAll", "Chmod", "Chown", "Lchown", "Chtimes",
		"Remove", "RemoveAll", "Rename", "Link", "Symlink"},
	"io/ioutil":             {"WriteFile"},
	"syscall":               {"Creat", "Truncate", "Chmod", "Chown", "Unlink", "Rmdir", "Mkdir", "Rename", "Link", "Symlink", "Utimes", "UtimesNano"},
	"golang.org/x/sys/unix": {"Creat", "Truncate", "Chmod", "Chown", "Unlink", "Rmdir", "Mkdir", "Rename", "Link", "Symlink", "Utimes", "UtimesNano"},
}

// allowed are the calls that stay, by file and function, with the reason.
var allowed = map[string]string{}

// toSystem is a command line that makes a link to a file of the machine.
var toSystem = regexp.MustCompile(`\bln\s+-\w*s\w*\s+['"]?/(etc|usr|bin|sbin|lib|var|root|home|boot|opt)\b`)

// offences are what a file does past this package, as the function's name and where.
func offences(files *token.FileSet, f *ast.File) map[string][]token.Position {
	out := map[string][]token.Position{}
	names := map[string]string{} // of the packages in this file
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if _, ok := changing[path]; !ok {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			out["import . "+path] = append(out["import . "+path], files.Position(spec.Pos()))
		}
		names[name] = path
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr: // whether it is called here or handed on
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(changing[names[x.Name]], n.Sel.Name) {
				out[x.Name+"."+n.Sel.Name] = append(out[x.Name+"."+n.Sel.Name], files.Position(n.Pos()))
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && toSystem.MatchString(n.Value) {
				out["ln -s"] = append(out["ln -s"], files.Position(n.Pos()))
			}
		}
		return true
	})
	return out
}

// TestNoLinkIsFollowedOut: no test, and no helper that writes in a test's tree, changes files by a path that a
// fixture may have made a link. Which fixtures make links can't be said by the words of a file (a checkout, a copy
// and a program make them, too), so this holds for all tests.
func TestNoLinkIsFollowedOut(t *testing.T) {
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	looked, used := 0, map[string]bool{}
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(top, path)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !ruled(name) {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		looked++
		for what, at := range offences(files, f) {
			if allowed[name+" "+what] != "" {
				used[name+" "+what] = true
				continue
			}
			for _, p := range at {
				t.Errorf("%s:%d: %s follows links out of the test's directory: use internal/test/ownfile, and a decoy for what leads out", name, p.Line, what)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 300 {
		t.Fatalf("only %d files were looked at", looked)
	}
	for what := range allowed {
		if !used[what] {
			t.Errorf("%s is not done: take its row out", what)
		}
	}
}

// ruled are tests, and what writes for them.
func ruled(name string) bool {
	if strings.HasPrefix(name, "internal/test/ownfile/") || !strings.HasSuffix(name, ".go") {
		return false
	}
	return strings.HasSuffix(name, "_test.go") || slices.ContainsFunc([]string{"gittest", "symlink", "fakeeditor", "tooltest", "clients", "acpagent"}, func(helper string) bool {
		return strings.HasPrefix(name, "internal/test/"+helper+"/")
	})
}

// TestTheRuleFinds: the rule above finds what it forbids, however it is spelled, and nothing else.
func TestTheRuleFinds(t *testing.T) {
	for body, want := range map[string]int{
		`import "os"; func f() { os.WriteFile("a/"+"b", nil, 0) }`:                                             1,
		`import "os"; func f() { do := os.Create; do("x") }`:                                                   1,
		`import other "os"; func f() { other.OpenFile("x", 0, 0); other.Chmod("x", 0) }`:                       2,
		`import . "os"; func f() { WriteFile("x", nil, 0) }`:                                                   1,
		`import "os"; func f() { os.RemoveAll("x"); os.Rename("x", "y"); os.Truncate("x", 0) }`:                3,
		`import "golang.org/x/sys/unix"; func f() { unix.Truncate("x", 0) }`:                                   1,
		`const line = "ln -s /etc/passwd out"`:                                                                 1,
		"const line = `ln -sf /root/.bashrc out`":                                                              1,
		`const line = "ln -s ../decoy out"`:                                                                    0,
		`import "os"; func f(r *os.Root) { os.ReadFile("x"); os.MkdirTemp("", ""); r.WriteFile("x", nil, 0) }`: 0,
		`import os "example.com/os"; func f() { os.WriteFile("x", nil, 0) }`:                                   0,
		`import "github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"; func f() { ownfile.Create("a/b") }`:  0,
	} {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, "x_test.go", "package x; "+body, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, at := range offences(files, f) {
			found += len(at)
		}
		if found != want {
			t.Errorf("%s: %d found, want %d", body, found, want)
		}
	}
	for name, want := range map[string]bool{"shadow/lazy_test.go": true, "internal/test/gittest/gittest.go": true, "shadow/lazy.go": false, "internal/test/ownfile/ownfile.go": false} {
		if ruled(name) != want {
			t.Error(fmt.Sprint(name, " is ruled: ", !want))
		}
	}
	if _, err := os.Stat("../../../go.mod"); err != nil {
		t.Error("the rule looks elsewhere: ", err)
	}
}
