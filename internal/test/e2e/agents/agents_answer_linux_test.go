package agents_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// A person sees in any shell what the editor of the workspace is asked, and answers it there: with
// no and a reason, with yes, and with the word for what can't be undone. Controls: a word that is
// no answer, and a question that is over.
func TestAnswerElsewhere(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	r, _ := e2e.EditorProcess(t, dir)
	t.Cleanup(func() { _ = r.Shutdown(t.Context()) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sidecar := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), self, append(args, "--root", dir)...).CombinedOutput()
		return string(out), err
	}
	if out, err := sidecar("agent", "answer"); err != nil || out != "Nobody waits for an answer.\n" {
		t.Errorf("at first: %v, %s", err, out)
	}
	r.Lacks("window/showMessageRequest")
	ask := func(line string) (id, shown string, result chan e2e.Result) {
		result = make(chan e2e.Result, 1)
		go func() { result <- r.Tool("run_command", e2e.Object{"command": line}) }()
		e2e.Until(t, "nothing waits", func() bool {
			shown, _ = sidecar("agent", "answer")
			return strings.HasPrefix(shown, "ask_")
		})
		id, _, _ = strings.Cut(shown, ",")
		return id, shown, result
	}
	id, shown, result := ask("echo x > made.txt")
	if !strings.HasPrefix(shown, id+", by default\nRun `echo x > made.txt`?\nthe mode cautious asks before commands") || !strings.Contains(shown, "Answer it with: sidecar-ls agent answer "+id+" once|") {
		t.Error(shown)
	}
	if out, err := sidecar("agent", "answer", id, "perhaps"); err == nil || !strings.Contains(out, "is no answer to it; there are: once") {
		t.Errorf("no answer: %v, %s", err, out)
	}
	if out, err := sidecar("agent", "answer", id, "deny", "--reason", "not that file"); err != nil {
		t.Errorf("%v, %s", err, out)
	}
	if res := <-result; res.OK || !strings.Contains(res.Content, "not that file") || res.Decision.By != "user" {
		t.Errorf("denied: %+v", res)
	}
	if out, err := sidecar("agent", "answer", id, "once"); err == nil || !strings.Contains(out, "was answered or has expired") {
		t.Errorf("twice: %v, %s", err, out)
	}
	id, _, result = ask("echo x > made.txt")
	if out, err := sidecar("agent", "answer", id, "y"); err != nil {
		t.Errorf("%v, %s", err, out)
	}
	if res := <-result; !res.OK || r.File("made.txt") != "x\n" {
		t.Errorf("allowed: %+v", res)
	}
	id, shown, result = ask("rm -rf nothing")
	if out, err := sidecar("agent", "answer", id, "y"); err == nil || !strings.Contains(shown, "It can't be undone") {
		t.Errorf("a y is enough for what can't be undone: %s", out)
	}
	if out, err := sidecar("agent", "answer", id, "CONFIRM"); err != nil {
		t.Errorf("%v, %s", err, out)
	}
	if res := <-result; !res.OK {
		t.Errorf("confirmed: %+v", res)
	}
}
