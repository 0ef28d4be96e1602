package tools_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestRunLint: the fixes of a linter go the way of all edits, through the real
// server: they wait in review, are applied where edits are, and never meet text
// that the linter has not seen.
func TestRunLint(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Fatal(err)
	}
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"run_lint": "allow"}, "sandbox": e2e.Object{"mode": "off"}})
	const before, after = "package a\n\nfunc F(s string) {\n\ts = s\n}\n", "package a\n\nfunc F(s string) {\n}\n"
	dir := e2e.Project(t, map[string]string{
		"go.mod": "module example.org/a\n\ngo 1.24\n", "a.go": before, "b.go": strings.Replace(before, "F", "G", 1), "notes.md": "",
		"web/package.json": "{}", "web/eslint.config.js": "", "web/x.js": "var a\n",
		"web/node_modules/.bin/eslint": "#!/bin/bash\nprintf '[{\"filePath\":\"%s/x.js\",\"messages\":[],\"output\":\"let a\\\\n\"}]' \"$PWD\"\n",
	})
	if out, err := exec.Command("chmod", "+x", filepath.Join(dir, "web/node_modules/.bin/eslint")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := e2e.ServeSelf(t, dir, fakeeditor.Options{})
	says := func(args e2e.Object, want ...string) {
		t.Helper()
		res := r.Tool("run_lint", args)
		for _, w := range want {
			if !res.OK || !strings.Contains(res.Content, w) {
				t.Errorf("%v: no %q in\n%s", args, w, res.Content)
			}
		}
	}

	r.Mode("review")
	says(e2e.Object{}, "$ go vet -json ./...\n2 findings: 0 errors, 2 warnings\na.go:4:2: warning: self-assignment of s (assign)\nb.go:4:2: ", "[Not run: eslint in web. A path there runs it.]")
	r.IsQueued()
	says(e2e.Object{"path": "a.go", "fix": true}, "[Fixes change 1 file: a.go.]", "Held for review")
	r.IsQueued("a.go")
	if r.File("a.go") != before {
		t.Errorf("the disk has %q", r.File("a.go"))
	}
	if res := r.Tool("read_file", e2e.Object{"path": "a.go"}); strings.Contains(res.Content, "s = s") {
		t.Errorf("the view is without the fix:\n%s", res.Content)
	}

	// The linter looks at the disk: what it says of a.go is not of the text that
	// waits.
	says(e2e.Object{"fix": true}, "[Fixes change 1 file: b.go. The lines above are those before the fixes.]", "[Fixes were left out of a.go: ", "text that is pending or not saved was not looked at in a.go.]", "1 finding: 0 errors, 1 warning\na.go:4:2: ")
	r.IsQueued("a.go", "b.go")
	if res := r.Accept(e2e.Object{}); len(res.Accepted) != 2 || len(res.Failed) != 0 {
		t.Errorf("%+v", res)
	}
	if r.File("a.go") != after || strings.Contains(r.File("b.go"), "s = s") {
		t.Errorf("a.go %q, b.go %q", r.File("a.go"), r.File("b.go"))
	}
	says(e2e.Object{}, "nothing was found")

	// Another linter, whose fixes are whole texts.
	says(e2e.Object{"path": "web", "fix": true}, "$ node_modules/.bin/eslint --format json --fix-dry-run .", "[Fixes change 1 file: web/x.js.]")
	r.IsQueued("web/x.js")
	e2e.Command[json.RawMessage](r, "sidecar.review.reject", e2e.Object{})
	if r.File("web/x.js") != "var a\n" {
		t.Errorf("a fix that was rejected is there: %q", r.File("web/x.js"))
	}

	// Where edits are applied, the fix is.
	r.Mode("autonomous")
	uri, err := r.OpenFile(t.Context(), filepath.Join(dir, "web/x.js"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "// typed\n"); err != nil {
		t.Fatal(err)
	}
	says(e2e.Object{"path": "web", "fix": true}, "[Fixes were left out of web/x.js: ")
	if text, _ := r.Text(uri); text != "// typed\n" {
		t.Errorf("what the user typed is %q", text)
	}
	if err := r.Save(t.Context(), uri); err != nil {
		t.Fatal(err)
	}
	says(e2e.Object{"path": "web", "fix": true}, "[Fixes change 1 file: web/x.js.]")
	if text, _ := r.Text(uri); text != "let a\n" {
		t.Errorf("the editor has %q", text)
	}

	for name, c := range map[string]struct {
		path string
		code tools.Code
	}{"outside": {"../x.go", tools.OutsideWorkspace}, "no language": {"notes.md", tools.NotFound}, "nowhere": {"x.go", tools.NotFound}} {
		if res := r.Tool("run_lint", e2e.Object{"path": c.path}); res.OK || res.Error.Code != c.code {
			t.Errorf("%s: %+v", name, res)
		}
	}
	r.Mode("plan")
	if res := r.Tool("run_lint", e2e.Object{"fix": true}); res.Error.Code != tools.Denied {
		t.Errorf("plan: %+v", res)
	}
}
