package shell

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestElsewhere: of a directory without tests, or without sources of the linter, it is said where
// there are some, before anybody is asked. The controls have some, or may have.
func TestElsewhere(t *testing.T) {
	where := "docs has no tests; there are tests in app/src (vitest), cart (go), py (pytest), any (npm), crate (cargo)"
	files := map[string]string{
		"go.mod": "module example.org/a\n\ngo 1.24\n", "cart/a_test.go": "package cart\n", "docs/a.md": "x\n", "main/m.go": "package main\n",
		"py/pyproject.toml": "[tool.pytest.ini_options]\n", "py/test_a.py": "", "py/lib/b.py": "", "py/.venv/bin/python": "",
		"own/pytest.ini": "[pytest]\npython_files = check_*.py\n", "own/lib/check_a.py": "", "own/.venv/bin/python": "",
		"app/package.json": `{"scripts":{"test":"vitest"}}`, "app/src/a.test.ts": "", "app/lib/b.ts": "",
		"free/package.json": `{"scripts":{"test":"jest"},"jest":{"testMatch":["**/*.ts"]}}`, "free/lib/b.ts": "", "free/docs/a.md": "",
		"any/package.json": `{"scripts":{"test":"./run"}}`, "any/lib/b.js": "", "any/test/a.bats": "", "any/docs/a.md": "",
		"crate/Cargo.toml": "[package]\nname = \"x\"\n", "crate/src/main.rs": "", "crate/assets/a.txt": "",
		"java/pom.xml": "<project/>", "java/src/main/java/x/A.java": "", "java/docs/a.md": "",
	}
	r := newRig(t)
	for name, text := range files {
		at := filepath.Join(r.root, name)
		if err := ownfile.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	plan := func(tool, dir string) string {
		data, err := json.Marshal(map[string]string{"path": dir})
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.byName[tool].Bind(data)
		if err == nil {
			err = b.Plan(t.Context(), r.files)
		}
		if err != nil {
			return err.Error()
		}
		return ""
	}
	for _, dir := range []string{"docs", "main", "py/lib", "app/lib", "free/docs", "any/docs", "crate/assets", "java/docs"} {
		if got := plan("run_tests", dir); !strings.HasPrefix(got, dir+" has no tests; there are tests in ") || !strings.Contains(got, "cart (go)") {
			t.Errorf("%s: %q", dir, got)
		}
	}
	if got := plan("run_tests", "docs"); got != where {
		t.Errorf("%q, want %q", got, where)
	}
	for _, dir := range []string{"", "cart", "py", "own/lib", "app/src", "app", "free/lib", "any/lib", "any/test", "crate/src", "java/src/main"} {
		if got := plan("run_tests", dir); got != "" {
			t.Errorf("control %s: %q", dir, got)
		}
	}
	if got := plan("run_lint", "docs"); !strings.HasPrefix(got, "docs has no source that go vet reads; there are some in ") || !strings.Contains(got, "cart (go vet)") {
		t.Errorf("%q", got)
	}
	for _, dir := range []string{"", "cart"} {
		if got := plan("run_lint", dir); got != "" {
			t.Errorf("control %s: %q", dir, got)
		}
	}
}

// TestNoPytest: that pytest is missing is said before anybody is asked.
func TestNoPytest(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := newRig(t)
	for name, text := range map[string]string{"pytest.ini": "[pytest]\n", "test_a.py": ""} {
		if err := ownfile.WriteFile(filepath.Join(r.root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := r.byName["run_tests"].Bind([]byte(`{}`))
	if err == nil {
		err = b.Plan(t.Context(), r.files)
	}
	if err == nil || !strings.Contains(err.Error(), "pytest is not installed") {
		t.Error(err)
	}
}
