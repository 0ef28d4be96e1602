package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// typing runs this program on a terminal of its own, where a person types a line for each
// text that is shown.
func typing(t *testing.T, dir string, answers [][2]string, args ...string) (shown string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append(args, "--root", dir)...)
	other, tty := pty(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	var all bytes.Buffer
	b := make([]byte, 1024)
	for {
		n, err := other.Read(b)
		all.Write(b[:n])
		if len(answers) > 0 && strings.Contains(all.String(), answers[0][0]) {
			if _, err := io.WriteString(other, answers[0][1]+"\n"); err != nil {
				t.Fatal(err)
			}
			answers = answers[1:]
		}
		if err != nil {
			break // nobody has the terminal any more
		}
	}
	_ = cmd.Wait()
	if len(answers) > 0 {
		t.Errorf("%q was not shown: %s", answers[0][0], all.String())
	}
	return all.String()
}

// A person sees which rules would have answered them, chooses one, sees what it would have
// done, and is asked no more. Controls: no, and a line that goes on otherwise.
func TestSuggestedAtTerminal(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	run := func(line string) string {
		return typing(t, dir, [][2]string{{"[y/N] ", "y"}}, "call", "run_command", "command="+line)
	}
	for range 2 {
		if shown := run("make nothing"); !strings.Contains(shown, "Run `make nothing`?\r\nthe mode cautious asks before commands") {
			t.Errorf("the question: %s", shown)
		}
	}
	shown := typing(t, dir, [][2]string{{"Enter for none: ", "1"}, {"[y/N] ", "n"}}, "policy", "suggest")
	if !strings.Contains(shown, "1  make nothing …  answers 2 of 2 questions") || !strings.Contains(shown, "Nothing was written.") {
		t.Error(shown)
	}
	if _, err := os.Stat(config.UserFile()); err == nil {
		t.Error("a no was a yes")
	}
	shown = typing(t, dir, [][2]string{{"Enter for none: ", "1"}, {"[y/N] ", "y"}}, "policy", "suggest")
	if !strings.Contains(shown, "Always allow `make nothing …` in all your workspaces?\r\nIt allows every `make nothing …`, and so whatever the project's own files have it run. In the last 7 days it would have answered 2 of 2 questions, none of which you denied.") {
		t.Error(shown)
	}
	if shown := typing(t, dir, nil, "call", "run_command", "command=make nothing"); strings.Contains(shown, "[y/N]") {
		t.Errorf("asked again: %s", shown)
	}
	if shown := run("make nothing SHELL=./x"); !strings.Contains(shown, "Run `make nothing SHELL=./x`?") {
		t.Errorf("the control: %s", shown)
	}
}

// The examples of a file of rules are checked, and what contradicts itself is said. Control: a
// line, as before.
func TestPolicyTestFile(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text, want string
		ok         bool
	}{
		"good":         {`[{"prefix":["go","vet"],"decision":"allow","match":["go vet ./..."],"notMatch":["go vetx"]}]`, "rule 1  allow  go vet  ok", true},
		"settings":     {"{ // mine\n \"mode\": \"review\", \"commandRules\": [{\"prefix\":[\"go\",\"vet\"],\"decision\":\"ask\"}]}", "rule 1  ask    go vet  ok", true},
		"rest":         {`[{"prefix":["go","test"],"decision":"allow","rest":"known","match":["go test -exec sh"]}]`, `match: it does not decide about "go test -exec sh"`, false},
		"not a match":  {`[{"prefix":["go","vet"],"decision":"deny","notMatch":["go vet x"]}]`, "notMatch: go vet x begins with the prefix", false},
		"a conflict":   {`[{"prefix":["git"],"decision":"allow","match":["git push"]},{"prefix":["git","push"],"decision":"deny"}]`, `conflict: with the other rules "git push" is denied (a rule denies git push)`, false},
		"a contradict": {`[{"prefix":["git"],"decision":"allow"},{"prefix":["git"],"decision":"ask"}]`, "an earlier rule decides otherwise about the same words", false},
		"no rule":      {`{"commandRules":[]}`, "has no rules", false},
	} {
		file := filepath.Join(dir, "rules.json")
		e2e.Write(t, file, c.text)
		out, err := exec.CommandContext(t.Context(), self, "policy", "test", file, "--root", dir).CombinedOutput()
		if (err == nil) != c.ok || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), self, "policy", "test", "ls", "--root", dir).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "allow  ls") {
		t.Errorf("the control: %v\n%s", err, out)
	}
}

// An editor's user decides about a rule by what it would have done; what could be anything is
// refused before anybody is asked.
func TestAllowAlways(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	r, _ := e2e.EditorProcess(t, dir)
	t.Cleanup(func() { _ = r.Shutdown(t.Context()) })
	run := func() { r.Tool("run_command", e2e.Object{"command": "make nothing"}) }
	for _, answer := range []string{"Allow", "Allow", "Deny"} {
		r.Choose(answer)
		run()
	}
	type figures struct {
		Saves, Of, DeniedMatches int
		Widest                   string
	}
	list := e2e.Command[struct{ Rules []figures }](r, "sidecar.policy.suggest", e2e.Object{"days": 1})
	if len(list.Rules) != 1 || list.Rules[0].Saves != 2 || list.Rules[0].Of != 3 || list.Rules[0].DeniedMatches != 1 {
		t.Errorf("%+v", list)
	}
	rule := func(words ...string) e2e.Object {
		return e2e.Object{"rule": e2e.Object{"prefix": words}, "scope": "workspace"}
	}
	refused := func(name string, args e2e.Object, why string) {
		t.Helper()
		if err := r.ExecuteCommand(t.Context(), "sidecar.policy.allowAlways", args, nil); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused("a shell", rule("sh"), "runs whatever its arguments")
	refused("sudo", rule("sudo", "make"), "runs other commands")
	refused("a scope", e2e.Object{"rule": e2e.Object{"prefix": []string{"go", "test"}}, "scope": "all"}, "scope: user or workspace")
	refused("a deny", e2e.Object{"rule": e2e.Object{"prefix": []string{"go", "test"}, "decision": "deny"}, "scope": "user"}, "has the decision allow")
	refused("where it holds", e2e.Object{"rule": e2e.Object{"prefix": []string{"go", "test"}, "in": "/"}, "scope": "user"}, "unknown member")
	for _, answer := range []string{"Deny", ""} {
		r.Choose(answer)
		refused("answered "+answer, rule("make", "nothing"), "nothing was written")
	}
	if _, err := os.Stat(config.UserFile()); err == nil {
		t.Error("something was written")
	}
	r.Choose("Allow")
	got := e2e.Command[struct {
		File    string
		Figures figures
	}](r, "sidecar.policy.allowAlways", rule("make", "nothing"))
	data, _ := os.ReadFile(config.UserFile())
	if got.File != config.UserFile() || got.Figures.DeniedMatches != 1 || !strings.Contains(string(data), `{"prefix":["make","nothing"],"decision":"allow","rest":"known","in":"`+dir+`"}`) {
		t.Errorf("%+v\n%s", got, data)
	}
	run() // without an answer: nobody is asked
	if res := r.Tool("run_command", e2e.Object{"command": "make nothing"}); res.Decision.By != "rule" || res.Decision.Rule != "command.allow" {
		t.Errorf("%+v", res.Decision)
	}
}
