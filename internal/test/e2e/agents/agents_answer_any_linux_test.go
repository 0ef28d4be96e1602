package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// A person answers in any shell what servers of other folders ask, in a directory that is no
// project, too. The control: --root names one folder.
func TestAnswerAnywhere(t *testing.T) {
	e2e.Home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	one, two, nowhere := e2e.Project(t, nil), e2e.Project(t, nil), t.TempDir()
	sidecar := func(dir string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), self, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	type asks struct {
		dir    string
		result chan e2e.Result
	}
	var all []asks
	for _, dir := range []string{one, two} {
		r, _ := e2e.EditorProcess(t, dir)
		t.Cleanup(func() { _ = r.Shutdown(t.Context()) })
		r.Lacks("window/showMessageRequest")
		a := asks{dir, make(chan e2e.Result, 1)}
		go func() { a.result <- r.Tool("run_command", e2e.Object{"command": "echo x > made.txt"}) }()
		all = append(all, a)
	}
	var shown string
	e2e.Until(t, "not both wait", func() bool {
		shown, _ = sidecar(nowhere, "agent", "answer")
		return strings.Contains(shown, "by default in "+one+"\n") && strings.Contains(shown, "by default in "+two+"\n")
	})
	if here, err := sidecar(one, "agent", "answer"); err != nil || !strings.HasPrefix(here, "ask_") || strings.Contains(here, " in "+one) || !strings.Contains(here, " in "+two) {
		t.Errorf("of a folder: %v\n%s", err, here)
	}
	if alone, err := sidecar(nowhere, "agent", "answer", "--root", two); err != nil || strings.Count(alone, "Answer it with") != 1 || strings.Contains(alone, " in "+two) {
		t.Errorf("of one that is named: %v\n%s", err, alone)
	}
	if entries, err := os.ReadDir(nowhere); err != nil || len(entries) > 0 {
		t.Errorf("it leaves %v, %v", entries, err)
	}
	for _, a := range all {
		before, _, _ := strings.Cut(shown, ", by default in "+a.dir+"\n")
		id := before[strings.LastIndex(before, "\n")+1:]
		if out, err := sidecar(nowhere, "agent", "answer", id, "y"); err != nil {
			t.Fatalf("%s: %v\n%s", id, err, out)
		}
		if res := <-a.result; !res.OK || res.Decision.By != "user" {
			t.Errorf("%+v", res)
		}
		if _, err := os.Stat(filepath.Join(a.dir, "made.txt")); err != nil {
			t.Error(err)
		}
	}
	if shown, err := sidecar(nowhere, "agent", "answer"); err != nil || strings.Contains(shown, one) || strings.Contains(shown, two) { // others may run tests
		t.Errorf("in the end: %v\n%s", err, shown)
	}
}
