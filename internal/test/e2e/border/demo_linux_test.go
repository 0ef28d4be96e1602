package border_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestDemo: an agent in review changes a program, starts it as a server in the background, asks
// it, runs the tests and commits on a branch. Nobody is asked. The person finds the change in the
// review, and a line of output.
func TestDemo(t *testing.T) {
	slow.Test(t)
	model := clients.NewModel()
	t.Cleanup(model.Close)
	dir := project(t, e2e.Object{
		"backend.profiles": []e2e.Object{{"name": "played", "provider": "anthropic", "url": model.URL, "model": "scripted", "key": "sk-played-0123456789"}},
		"backend.profile":  "played",
	})
	e2e.Write(t, filepath.Join(dir, "page.txt"), "hello\n")
	e2e.Write(t, filepath.Join(dir, "serve.sh"), "exec ./asker http 127.0.0.1:3000 \"$(cat page.txt)\"\n")
	e2e.Write(t, filepath.Join(dir, "Makefile"), "test:\n\tmkdir -p dist && grep goodbye page.txt > dist/report\n")
	e2e.Write(t, filepath.Join(dir, ".gitignore"), "dist/\nasker\n")
	e2e.Asker(t, dir)
	e2e.GitIn(t, dir, "add", "-A")
	e2e.GitIn(t, dir, "commit", "-qm", "a server")
	e2e.GitIn(t, dir, "config", "user.name", "Ada")
	e2e.GitIn(t, dir, "config", "user.email", "ada@example.org")
	head := e2e.GitIn(t, dir, "rev-parse", "HEAD")
	r := serve(t, dir)
	complete(r)

	ask := "for i in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/3000) 2>/dev/null && break; sleep 0.05; done; "
	if _, err := exec.LookPath("curl"); err == nil {
		ask += "curl -sS http://localhost:3000/"
	} else {
		ask += `exec 3<>/dev/tcp/127.0.0.1/3000; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3`
	}
	c := r.Agent("say goodbye", e2e.Ours)
	turn := e2e.Next(t, model)
	for _, step := range []struct {
		tool, want string
		args       e2e.Object
	}{
		{"edit_file", "page.txt", e2e.Object{"path": "page.txt", "search": "hello", "replace": "goodbye"}},
		{"run_command", "bg1", e2e.Object{"command": "sh serve.sh", "background": true}},
		{"run_command", "goodbye at ", e2e.Object{"command": ask}},
		{"run_tests", "exit code 0", e2e.Object{"command": "make test"}},
		{"run_command", "goodbye", e2e.Object{"command": "git checkout -qb goodbye && git commit -qam 'Say goodbye' && git branch --show-current"}},
		{"command_kill", "", e2e.Object{"id": "bg1"}}, // output is held once nothing writes it any more
	} {
		turn.CallOwn(step.tool, step.args)
		if turn = e2e.Next(t, model); !strings.Contains(turn.Result, step.want) {
			t.Errorf("%s says %s", step.tool, turn.Result)
		}
	}
	turn.Say("It says goodbye.")
	if reason, why, said := c.Stopped(1); reason != conversation.Done {
		t.Fatalf("it ended by %s: %s: %s", reason, why, said)
	}
	for _, e := range c.History() {
		if e.Kind == conversation.Asked {
			t.Errorf("the agent asks: %s", e.Text)
		}
	}
	if asked := r.Asked(); len(asked) > 0 {
		t.Errorf("the person is asked: %q", asked)
	}
	// All of that is in the session alone.
	if r.File("page.txt") != "hello\n" || there(r, "dist") || e2e.GitIn(t, dir, "rev-parse", "HEAD") != head || strings.Contains(e2e.GitIn(t, dir, "branch"), "goodbye") {
		t.Error("something left the session before anybody decided")
	}
	left := func() []effects.Effect {
		t.Helper()
		return e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{}).Effects
	}
	if list := left(); len(list) > 0 {
		t.Errorf("it left: %+v", list)
	}
	r.IsQueued("page.txt")
	var held []workspace.Held
	e2e.Until(t, "no output is held", func() bool { held = r.HeldOutput(); return len(held) > 0 })
	if len(held) != 1 || held[0].Files != 1 || !slices.Equal(held[0].Names, []string{"dist"}) {
		t.Errorf("the output: %+v", held)
	}

	// A person accepts it: the commit is made on its branch.
	if done := r.Accept(e2e.Object{}); len(done.Failed) > 0 || len(done.Commits) != 1 || done.Commits[0].Message != "Say goodbye" || done.Commits[0].Error != "" {
		t.Errorf("accepted: %+v", done)
	}
	e2e.Command[e2e.Object](r, "sidecar.review.output", e2e.Object{"action": "accept"})
	if r.File("page.txt") != "goodbye\n" || r.File("dist/report") != "goodbye\n" {
		t.Error("it is not on the disk")
	}
	if branch, parent := e2e.GitIn(t, dir, "branch", "--show-current"), e2e.GitIn(t, dir, "rev-parse", "HEAD~1"); branch != "goodbye\n" || parent != head {
		t.Errorf("on %q, after %q", branch, parent)
	}
	kinds := map[effects.Kind]int{}
	for _, e := range left() {
		kinds[e.Kind]++
		if e.Decision != effects.Reviewed {
			t.Errorf("it left by %s: %s", e.Decision, e.What)
		}
	}
	if kinds[effects.Files] == 0 || kinds[effects.Git] == 0 || kinds[effects.Output] == 0 {
		t.Errorf("what left is not written down: %v", kinds)
	}
}
