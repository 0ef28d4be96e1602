package world

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// By-products of interpreters and tests count as output in each project, unless its rules
// say otherwise.
func TestByProducts(t *testing.T) {
	root := t.TempDir()
	t.Setenv("HOME", root)
	t.Setenv("XDG_CONFIG_HOME", root)
	if err := ownfile.MkdirAll(root+"/.git/info", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		dir     bool
		ignored bool
	}{
		{"__pycache__", true, true}, {"stock.pyc", false, true}, {".pytest_cache", true, true}, {".mypy_cache", true, true}, {"coverage", true, true}, {".coverage", false, true},
		{"coverage", false, false}, {"cache", true, false}, {"coverage.go", false, false}, {"stock.py", false, false}, {"dist", true, false}, {".cache", true, false},
	} {
		if got := (Options{}).rulesIn(root).ignored(test.name, test.dir); got != test.ignored {
			t.Errorf("%s is output: %v", test.name, got)
		}
	}
	if !(Options{}).rulesIn(root).enter("node_modules").ignored(".cache", true) {
		t.Error("node_modules/.cache is reviewed")
	}
	if (Options{}).rulesIn(root).at([]byte("!coverage/\n")).ignored("coverage", true) {
		t.Error("the project's rule has no precedence")
	}
}
