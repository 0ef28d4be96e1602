package world

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// TestApartNpm: npm installs, updates and fails in a copy that is elsewhere, whose
// packages are links, and the folder has what it should have.
func TestApartNpm(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		needs.Skip(t, needs.Node, err)
	}
	r := newRig(t, SeparateCopy, map[string]string{
		".gitignore": "node_modules/\n", "package.json": `{"name": "x", "version": "1.0.0"}`,
		"one/package.json": `{"name": "one", "version": "1.0.0"}`, "one/index.js": "module.exports = 'one'",
		"two/package.json": `{"name": "two", "version": "1.0.0"}`, "two/index.js": "module.exports = 'two'",
	})
	outside := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "npm", append(args, "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--cache="+filepath.Join(os.Getenv("XDG_CACHE_HOME"), "npm"))...)
		cmd.Dir = r.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	outside("pack", "./one", "./two")
	outside("install", "./one-1.0.0.tgz")
	installed := func(want string) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(r.root, "node_modules", "*", "index.js"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, path := range found {
			if info, err := os.Lstat(filepath.Dir(path)); err != nil || !info.IsDir() {
				t.Errorf("%s is no directory", path)
			}
			names = append(names, filepath.Base(filepath.Dir(path)))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("the folder has %q, want %q", got, want)
		}
	}
	installed("one")
	const npm = "npm --offline --no-audit --no-fund --loglevel=error "
	for _, c := range []struct{ line, out, changes, has string }{
		{"node -p 'require(\"one\")'", "one\n", "", "one"},
		{npm + "install ./no-such-1.0.0.tgz >/dev/null 2>&1 || node -p 'require(\"one\")'", "one\n", "", "one"},
		{npm + "install ./two-1.0.0.tgz >/dev/null && node -p 'require(\"one\") + require(\"two\")'", "onetwo\n", "modify package-lock.json, modify package.json", "one two"},
		{npm + "ci >/dev/null && node -p 'require(\"one\") + require(\"two\")'", "onetwo\n", "", "one two"},
		{"rm -rf node_modules; node -p 1", "1\n", "", "one two"},
		{"node -p 'require(\"one\") + require(\"two\")'", "onetwo\n", "", "one two"},
	} {
		out, h := r.run(c.line)
		if !strings.HasSuffix(out, c.out) || kinds(h.Changes) != c.changes {
			t.Errorf("%s: %s, changed %s, said %q", c.line, out, kinds(h.Changes), h.Said)
		}
		installed(c.has)
	}
}
