package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// TestWithoutCgo: a build without a C compiler says that it is one, and answers all
// the same.
func TestWithoutCgo(t *testing.T) {
	slow.Test(t)
	withoutCgo := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", needs.Variable+"=") // what that skips is the point of it
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	server := filepath.Join(t.TempDir(), "sidecar-ls")
	withoutCgo("build", "-trimpath", "-o", server, "../../../cmd/sidecar-ls")
	withoutCgo("test", "-short", "../../../pki/treesitter")

	dir := t.TempDir()
	for name, text := range map[string]string{
		"sum.go":  "package sum\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n\nfunc twice(n int) int { return Add(n, n) }\n",
		"shop.py": "class Shop:\n    def sell(self):\n        return 1\n\n\nShop().sell()\n",
	} {
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		want []string
	}{
		{"--version", []string{"without parsers"}},
		{"doctor", []string{"without parsers", "parsers     none", "CGO_ENABLED=1"}},
		{"call read_file path=sum.go mode=outline", []string{"4-4 func Add(a, b int) int", "6-6 func twice(n int) int"}},
		{"call read_file path=shop.py mode=outline", []string{"1-3 class Shop", "2-3 def sell(self)"}},
		{"call find_references symbol=Add", []string{"sum.go:4:6", "sum.go:6:32"}},
		{"call find_references symbol=Shop", []string{"shop.py:1:7", "shop.py:6:1"}},
		{"knowledge search Add", []string{"sum.go:4-4", "Add"}},
	} {
		cmd := exec.CommandContext(t.Context(), server, strings.Fields(c.args)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil && c.args != "doctor" { // which may find something amiss with this machine
			t.Errorf("%s: %v", c.args, err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s has no %q:\n%s", c.args, want, out)
			}
		}
	}
}

// TestWithParsers is the control: this build has parsers, and doesn't say it has none.
func TestWithParsers(t *testing.T) {
	if !treesitter.Parsers {
		needs.Skip(t, needs.Cgo, "built without cgo")
	}
	var out strings.Builder
	if code := Main(t.Context(), []string{"--version"}, Streams{Out: &out, Err: &out}); code != exitOK || strings.Contains(out.String(), "parsers") {
		t.Errorf("%d: %s", code, out.String())
	}
}
