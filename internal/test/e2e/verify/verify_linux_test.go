package verify_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// verified is what the tests look at in a result of sidecar.review.verify.
type verified struct {
	OK       bool   `json:"ok"`
	Command  string `json:"command"`
	ExitCode int    `json:"exitCode"`
	Passed   *int   `json:"passed"`
	Failing  []struct {
		Name string `json:"name"`
	} `json:"failing"`
	Output string `json:"output"`
}

// TestVerify: what is pending, or a part of it, is tested before it is accepted,
// and the disk has nothing of it.
func TestVerify(t *testing.T) { e2e.EachWorld(t, testVerify) }

func testVerify(t *testing.T, kind string) {
	files := map[string]string{
		"go.mod": "module example.org/a\n\ngo 1.24\n", "a.go": "package a\n\nfunc Sum(a, b int) int { return a - b }\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Fatal(Sum(1, 2))\n\t}\n}\n", "notes.md": "one\n",
	}
	r := e2e.WorldRig(t, kind, files)
	verify := func(arg e2e.Object) (v verified, err error) {
		t.Helper()
		err = r.ExecuteCommand(t.Context(), "sidecar.review.verify", arg, &v)
		return v, err
	}
	list := func() (l struct {
		Edits []struct {
			Path  string `json:"path"`
			Hunks []struct {
				ID string `json:"id"`
			} `json:"hunks"`
		} `json:"edits"`
		Verified *struct {
			Command string `json:"command"`
			OK      bool   `json:"ok"`
			Passed  *int   `json:"passed"`
			Stale   bool   `json:"stale"`
		} `json:"verified"`
	}) {
		t.Helper()
		if err := r.ExecuteCommand(t.Context(), "sidecar.review.list", nil, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	if _, err := verify(e2e.Object{}); err == nil || !strings.Contains(err.Error(), "nothing is pending") {
		t.Errorf("of nothing: %v", err)
	}
	for path, text := range map[string]string{"a.go": "package a\n\nfunc Sum(a, b int) int { return a + b }\n", "notes.md": "two\n"} {
		if res := r.Tool("write_file", e2e.Object{"path": path, "content": text}); !res.OK {
			t.Fatal(res.Content)
		}
	}
	if l := list(); l.Verified != nil {
		t.Errorf("before: %+v", l.Verified)
	}
	v, err := verify(e2e.Object{})
	if err != nil || !v.OK || v.Passed == nil || *v.Passed != 1 || !strings.Contains(v.Command, "go test") {
		t.Errorf("all: %+v, %v", v, err)
	}
	l := list()
	if l.Verified == nil || !l.Verified.OK || l.Verified.Stale || l.Verified.Passed == nil {
		t.Errorf("the list has %+v", l.Verified)
	}
	// With the change of a.go left out it fails, and that is a result.
	notes := workspace.FileURI(r.Dir + "/notes.md")
	if v, err = verify(e2e.Object{"uris": []string{notes}}); err != nil || v.OK || len(v.Failing) != 1 || v.Failing[0].Name != "example.org/a.TestSum" {
		t.Errorf("a part: %+v, %v", v, err)
	}
	if l = list(); l.Verified == nil || l.Verified.OK {
		t.Errorf("the list has %+v", l.Verified)
	}
	// A hunk by its id, with a command; what that writes is dropped.
	hunk := l.Edits[0].Hunks[0].ID
	if v, err = verify(e2e.Object{"hunks": []string{hunk}, "command": "cat a.go notes.md; echo x > made.txt"}); err != nil || !v.OK || !strings.Contains(v.Output, "a + b") || !strings.Contains(v.Output, "one") {
		t.Errorf("a command: %+v, %v", v, err)
	}
	r.IsQueued("a.go", "notes.md")
	for name, text := range files {
		if r.File(name) != text {
			t.Errorf("the disk has %s as %q", name, r.File(name))
		}
	}
	for _, arg := range []e2e.Object{{"hunks": []string{"h999"}}, {"uris": []string{workspace.FileURI(r.Dir + "/other.md")}}, {"uris": "a.go"}} {
		if _, err := verify(arg); err == nil {
			t.Errorf("%v is taken", arg)
		}
	}
	// An agent's own tests count, until something is changed.
	if res := r.Tool("run_tests", e2e.Object{}); !res.OK {
		t.Fatal(res.Content)
	}
	if l = list(); l.Verified == nil || !l.Verified.OK || l.Verified.Stale {
		t.Errorf("after the agent's own tests the list has %+v", l.Verified)
	}
	if res := r.Tool("write_file", e2e.Object{"path": "notes.md", "content": "three\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	if l = list(); l.Verified == nil || !l.Verified.Stale {
		t.Errorf("after another edit the list has %+v", l.Verified)
	}
}

// TestVerifyByCommandLine: the same from a shell.
func TestVerifyByCommandLine(t *testing.T) {
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	run := func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), server, args...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // the code says what the error does
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run("call", "--mode", "review", "write_file", `{"path": "a.txt", "content": "two\n"}`); code != 0 {
		t.Fatal(out)
	}
	out, code := run("review", "verify", "--command", "grep -q two a.txt")
	if strings.Contains(out, "commands see the disk here") {
		needs.Skip(t, needs.Sandbox, out)
	}
	if code != 0 || !strings.Contains(out, "verified: grep -q two a.txt") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, code := run("review", "verify", "--command", "grep -q three a.txt", "a.txt"); code == 0 || !strings.Contains(out, "not verified: ") {
		t.Errorf("exit %d: %s", code, out)
	}
	// A module without tests, where all goes well: that is no success.
	for name, text := range map[string]string{"go.mod": "module example.org/a\n\ngo 1.24\n", "a.go": "package a\n"} {
		e2e.Write(t, filepath.Join(dir, name), text)
	}
	if out, code := run("review", "verify"); code == 0 || !strings.Contains(out, "\nnot verified: no test was run: go test") {
		t.Errorf("no test: exit %d: %s", code, out)
	}
	e2e.Write(t, filepath.Join(dir, "a_test.go"), "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n")
	if out, code := run("review", "verify"); code != 0 || !strings.Contains(out, "\nverified: go test") || !strings.Contains(out, "(1 passed, 0 failed)") {
		t.Errorf("control, a test: exit %d: %s", code, out)
	}
	if out, code := run("review", "verify", "b.txt"); code == 0 {
		t.Errorf("an unknown file: %s", out)
	}
	if data, err := os.ReadFile(dir + "/a.txt"); err != nil || string(data) != "one\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
}
