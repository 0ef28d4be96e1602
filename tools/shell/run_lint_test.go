package shell

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// lints runs run_lint on some files and returns its text, its structured
// result, the changes, and the code of its failure.
func lints(t *testing.T, r *rig, files map[string]string, args map[string]any) (text string, l Linted, changes []workspace.Change, code tools.Code) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(r.root, name)
		if err := ownfile.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := ownfile.WriteFile(at, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.byName["run_lint"].Bind(data)
	if err == nil {
		err = b.Plan(t.Context(), r.files)
	}
	if err != nil {
		return err.Error(), l, nil, tools.AsError(err).Code
	}
	res, changes, err := b.Run(t.Context(), &tools.Call{Session: "s1", Files: r.files})
	if err != nil {
		e := tools.AsError(err)
		return e.Message + "\n" + e.Detail, e.Structured.(Linted), changes, e.Code
	}
	return res.Text, res.Structured.(Linted), changes, ""
}

// vetted has no import, so that nothing but it is compiled.
var vetted = map[string]string{
	"go.mod":   "module example.org/a\n\ngo 1.24\n",
	"a.go":     "package a\n\nfunc F(s string) {\n\ts = s\n}\n",
	"b.go":     "package a\n\nfunc G(s string) {\n\ts = s\n}\n",
	"sub/c.go": "package sub\n\nfunc F(s string) {\n\ts = s\n}\n",
	"doc.md":   "",
}

// TestLintGo runs the real go vet.
func TestLintGo(t *testing.T) {
	slow.Test(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", onlyGo(t))
	for name, c := range map[string]struct {
		more    map[string]string
		args    map[string]any
		want    []string // of the text
		without []string
		total   int
		changes string
		code    tools.Code
	}{
		"all": {nil, map[string]any{}, []string{
			"$ go vet -json ./...\n3 findings: 0 errors, 3 warnings\na.go:4:2: warning: self-assignment of s (assign)\nb.go:4:2: ", "\nsub/c.go:4:2: ", "[exit code 0, ",
		}, []string{"Fixes"}, 3, "", ""},
		"a file":      {nil, map[string]any{"path": "b.go"}, []string{"1 finding: 0 errors, 1 warning\nb.go:4:2: "}, []string{"a.go"}, 1, "", ""},
		"a directory": {nil, map[string]any{"path": "sub"}, []string{"1 finding: 0 errors, 1 warning\nsub/c.go:4:2: "}, []string{"a.go"}, 1, "", ""},
		"fix":         {nil, map[string]any{"fix": true}, []string{"nothing is left to find", "[Fixes change 3 files: a.go, b.go, sub/c.go.]"}, nil, 0, "a.go b.go sub/c.go", ""},
		"fix a file":  {nil, map[string]any{"fix": true, "path": "b.go"}, []string{"[Fixes change 1 file: b.go.]"}, nil, 0, "b.go", ""},
		"what does not compile is told wherever it is": {map[string]string{"sub/c.go": "package sub\n\nvar x int = \"\"\n"}, map[string]any{}, []string{
			"3 findings: 1 error, 2 warnings", "sub/c.go:3:13: error: cannot use",
		}, nil, 3, "", ""},
		"clean":                  {map[string]string{"a.go": "package a\n", "b.go": "package a\n", "sub/c.go": "package sub\n"}, map[string]any{}, []string{"nothing was found\n"}, nil, 0, "", ""},
		"several projects":       {map[string]string{"tools/go.mod": "module example.org/tools\n\ngo 1.24\n"}, map[string]any{}, []string{"[Not run: go vet in tools. A path there runs it.]"}, nil, 3, "", ""},
		"a module that is bad":   {map[string]string{"go.mod": "modul"}, map[string]any{}, []string{"go vet did not work", "unknown directive"}, nil, 0, "", tools.CommandFailed},
		"nobody knows it":        {nil, map[string]any{"path": "doc.md"}, []string{"no linter is known for doc.md; run_command"}, nil, 0, "", tools.NotFound},
		"nobody has it":          {map[string]string{"x.py": ""}, map[string]any{"path": "x.py"}, []string{"let the user install ruff"}, nil, 0, "", tools.NotFound},
		"outside":                {nil, map[string]any{"path": "../x.go"}, nil, nil, 0, "", tools.OutsideWorkspace},
		"outside, by its path":   {nil, map[string]any{"path": "/etc/passwd"}, nil, nil, 0, "", tools.OutsideWorkspace},
		"it is not there":        {nil, map[string]any{"path": "x.go"}, nil, nil, 0, "", tools.NotFound},
		"no argument of another": {nil, map[string]any{"command": "ls"}, nil, nil, 0, "", tools.InvalidArguments},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.env = toolchains(t)
			files := map[string]string{}
			for _, from := range []map[string]string{vetted, c.more} {
				for name, text := range from {
					files[name] = text
				}
			}
			text, l, changes, code := lints(t, r, files, c.args)
			var changed []string
			for _, ch := range changes {
				changed = append(changed, ch.Path)
				if string(ch.Before) != files[ch.Path] || strings.Contains(string(ch.After), "s = s") {
					t.Errorf("%s: %q", ch.Path, ch.After)
				}
			}
			if code != c.code || l.Total != c.total || len(l.Findings) != c.total || strings.Join(changed, " ") != c.changes {
				t.Errorf("%q, %d findings, %q is changed:\n%s", code, l.Total, changed, text)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range c.without {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
			for name, text := range files {
				if data, err := os.ReadFile(filepath.Join(r.root, name)); err != nil || string(data) != text {
					t.Errorf("%s is written: %q, %v", name, data, err)
				}
			}
		})
	}
}

// onlyGo is a PATH with go and what a shell needs, and no other linter.
func onlyGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go", "bash", "cat", "touch", "mv", "mkdir", "rm"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", at)
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLintFixesWholeTexts: eslint gives the new text of each file. The program
// here stands for it, and does what it may do besides.
func TestLintFixesWholeTexts(t *testing.T) {
	said := func(file, output string) string {
		return fmt.Sprintf(`[{"filePath":"'"$PWD"'/%s","messages":[{"ruleId":"no-unused-vars","severity":1,"message":"'\''b'\'' is never used.","line":2,"column":5}],"output":%q}]`, file, output)
	}
	for name, c := range map[string]struct {
		does  string
		fix   bool
		want  string
		after string // of a.js, in the changes
		code  tools.Code
	}{
		"looks":            {"echo '" + said("a.js", "unasked\n") + "'; exit 1", false, "1 finding: 0 errors, 1 warning\na.js:2:5: warning: 'b' is never used. (no-unused-vars)\n[exit code 1", "", ""},
		"fixes":            {"echo '" + said("a.js", "let a;\n") + "'; exit 1", true, "[Fixes change 1 file: a.js.]", "let a;\n", ""},
		"of no such file":  {"echo '" + said("none.js", "x") + "'; exit 1", true, "[Fixes were left out of none.js", "", ""},
		"of one elsewhere": {`echo '[{"filePath":"/etc/hosts","messages":[],"output":"x"}]'`, true, "nothing was found", "", ""},
		"of a secret":      {"echo '" + said(".env", "x") + "'; exit 1", true, "[Fixes were left out of .env", "", ""},
		"writes it itself": {"echo changed > a.js; touch -d '+1 minute' a.js; echo '" + said("a.js", "x") + "'; exit 1", true, "[Fixes were left out of a.js", "", ""},
		"crashes":          {"echo 'TypeError: no such rule' >&2; exit 2", true, "eslint did not work, so what it would find is not known; what it printed says why\n$ node_modules/.bin/eslint --format json --fix-dry-run .\n[stderr]\nTypeError: no such rule\n[exit code 2", "", tools.CommandFailed},
		"prints no JSON":   {"echo all is well", false, "eslint did not work", "", tools.CommandFailed},
		"is killed":        {"kill -9 $$", false, "eslint did not work", "", tools.CommandFailed},
		"finds nothing":    {"echo '[]'", true, "nothing was found\n[exit code 0", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: r.root}}, workspace.DiskOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer disk.Close()
			r.files = workspace.Guard(disk, func(string) bool { return false })
			text, l, changes, code := lints(t, r, map[string]string{
				"package.json": "{}", "eslint.config.js": "", ".env": "KEY=1\n", "a.js": "var a\nlet b\n", "node_modules/.bin/eslint": "#!/bin/bash\n" + c.does + "\n",
			}, map[string]any{"fix": c.fix})
			after := ""
			for _, ch := range changes {
				if ch.Path != "a.js" || string(ch.Before) != "var a\nlet b\n" {
					t.Errorf("change %+v", ch)
				}
				after = string(ch.After)
			}
			if code != c.code || after != c.after || !strings.Contains(text, c.want) {
				t.Errorf("%q, %q:\n%s", code, after, text)
			}
			if l.Linter != "eslint" || l.Sandbox == "" {
				t.Errorf("%+v", l)
			}
		})
	}
}

// TestLintManyFindings: all of them are in the text, which is cut where it is
// shown, and a part in the structured result.
func TestLintManyFindings(t *testing.T) {
	r := newRig(t)
	text, l, _, _ := lints(t, r, map[string]string{
		"package.json": "{}", "eslint.config.js": "",
		"node_modules/.bin/eslint": "#!/bin/bash\n" + `printf '[{"filePath":"'"$PWD"'/a.js","messages":['
for i in {2500..2}; do printf '{"ruleId":"r","severity":2,"message":"long%0400d word","line":%d,"column":1},' 7 $i; done
printf '{"ruleId":"r","severity":1,"message":"the last","line":1,"column":1}]}]'; exit 1` + "\n",
	}, nil)
	lines := strings.Count(text, "\na.js:")
	if l.Total != 2500 || l.Errors != 2499 || l.Warnings != 1 || len(l.Findings) != maxFindings || lines != maxFindingLines || !strings.Contains(text, "\n500 more; look at less with path\n") {
		t.Errorf("%d findings, %d errors, %d warnings, %d in the structure, %d lines", l.Total, l.Errors, l.Warnings, len(l.Findings), lines)
	}
	if l.Findings[0].Message != "the last" || l.Findings[1].Line != 2 || len(l.Findings[1].Message) > maxFindingMessage+10 {
		t.Errorf("%+v", l.Findings[:2])
	}
}
