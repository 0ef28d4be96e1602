package app_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// maxAppLines bounds this package: it builds, and whatever decides something has
// a room of its own.
const maxAppLines = 1000

// TestAppOnlyBuilds keeps this package small, and what it builds apart: only
// methods of the three lifetimes see one of them whole. All else takes what it
// needs.
func TestAppOnlyBuilds(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, "_test.go") {
			lines += strings.Count(string(text), "\n")
		}
	}
	if lines == 0 || lines > maxAppLines {
		t.Errorf("internal/app has %d lines, more than the %d that building takes: find what decides something a package", lines, maxAppLines)
	}
	lifetimes := map[string]bool{"Client": true, "Home": true, "Workspace": true}
	isLifetime := func(e ast.Expr) bool {
		star, ok := e.(*ast.StarExpr)
		if !ok {
			return false
		}
		id, ok := star.X.(*ast.Ident)
		return ok && lifetimes[id.Name]
	}
	methods := 0
	eachFile(t, func(pkg, name string, f *ast.File) {
		if pkg != "internal/app" {
			return
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn.Recv != nil && isLifetime(fn.Recv.List[0].Type) {
				methods++
				continue
			}
			for _, p := range fn.Type.Params.List {
				if isLifetime(p.Type) {
					t.Errorf("%s: %s takes a whole lifetime: give it the parts that it needs", name, fn.Name.Name)
				}
			}
		}
	})
	if methods < 10 {
		t.Fatalf("only %d methods were found", methods)
	}
}

// maxFolders bounds the folders that stand beside each other below internal.
const maxFolders = 18

// TestArchitectureListsPackages: whoever looks for the room of a line finds it. A room of a
// wing is listed by its own name in the line of the wing.
func TestArchitectureListsPackages(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	wings := map[string]string{} // their lines
	for line := range strings.Lines(string(page)) {
		if wing, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); ok {
			wings[wing] += rest
		}
	}
	listed, folders := 0, map[string]bool{}
	for pkg := range importGraph(t) {
		if parts := strings.Split(pkg, "/"); parts[0] == "internal" {
			folders[parts[1]] = true
		}
		if strings.HasPrefix(pkg, "internal/test") || strings.HasPrefix(pkg, "bench") {
			continue
		}
		listed++
		wing, ok := pkg, false
		for !ok && wing != "." {
			wing = path.Dir(wing)
			_, ok = wings[wing]
		}
		if !strings.Contains(string(page), "`"+pkg+"`") && (!ok || !strings.Contains(wings[wing], "`"+path.Base(pkg)+"`")) {
			t.Errorf("ARCHITECTURE.md does not say what %s holds", pkg)
		}
	}
	if listed < 50 {
		t.Fatalf("only %d packages were looked at", listed)
	}
	if len(folders) > maxFolders {
		t.Errorf("internal has %d folders, more than %d: a new one belongs in a wing", len(folders), maxFolders)
	}
}
