package app_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// modules are those beside the product's own, with why each is one.
var modules = map[string]string{
	"internal/release": "who builds the server needs nothing of what packs it",
}

// TestModules: ./... stops at another module, so each is tested and linted by its own line; and none needs the product,
// which would bring the product's whole graph with it.
func TestModules(t *testing.T) {
	top := os.DirFS("../..")
	var found []string
	err := fs.WalkDir(top, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.Name() == "go.mod" && name != "go.mod" {
			found = append(found, path.Dir(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := fs.ReadFile(top, "Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range found {
		if modules[dir] == "" {
			t.Errorf("%s is a module: say in this test why", dir)
		}
		for _, target := range []string{"test", "quick", "lint"} {
			rule := regexp.MustCompile(`(?m)^` + target + `:.*\n(\t.*\n)+`).Find(makefile)
			if !strings.Contains(string(rule), "cd "+dir+" && ") {
				t.Errorf("make %s leaves out %s, which ./... does not reach", target, dir)
			}
		}
		if text, err := fs.ReadFile(top, path.Join(dir, "go.mod")); err != nil || regexp.MustCompile(`(?m)^(require)?\s+`+regexp.QuoteMeta(module)+`\s`).Match(text) {
			t.Errorf("%s needs the product's module: %v", dir, err)
		}
	}
	for dir := range modules {
		if !slices.Contains(found, dir) {
			t.Errorf("%s is no module: take its row out", dir)
		}
	}
}
