package mcp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestWatchOverMCP: what a watched command prints comes with the next result of any tool.
func TestWatchOverMCP(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n", ".env": "TOKEN=hush-hush-4711\n"}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}})
	a := e2e.AgentProcess(t, dir, e2e.MCPVersions[0], nil)
	call := func(tool string, args e2e.Object, want string) string {
		t.Helper()
		text, ok := a.Call(tool, args)
		if !ok || !strings.Contains(text, want) {
			t.Fatalf("%s: %s", tool, text)
		}
		return text
	}
	call("run_command", e2e.Object{"command": `until [ -e go ]; do sleep 0.05; done; echo quiet; printf '\033[31mready\033[0m hush-%s-4711\n' hush; until [ -e end ]; do sleep 0.05; done; exit 3`, "background": true}, "bg1")
	call("command_watch", e2e.Object{"id": "bg1", "pattern": "^ready"}, "bg1 is watched")
	if text, ok := a.Call("command_watch", e2e.Object{"id": "bg1", "pattern": "("}); ok || !strings.Contains(text, "RE2") {
		t.Errorf("a bad pattern: %s", text)
	}
	if text, ok := a.Call("command_watch", e2e.Object{"id": "bg2"}); ok || !strings.Contains(text, "there are bg1") {
		t.Errorf("an unknown id: %s", text)
	}
	if text := call("read_file", e2e.Object{"path": "a.txt"}, "one"); strings.Contains(text, "bg1") {
		t.Errorf("before it prints: %s", text)
	}
	noted := func(want string) (text string) {
		t.Helper()
		e2e.Until(t, "no note came", func() bool {
			text, _ = a.Call("read_file", e2e.Object{"path": "a.txt"})
			return strings.Contains(text, want)
		})
		return text
	}
	e2e.Write(t, filepath.Join(dir, "go"), "")
	if text := noted("bg1 printed"); !strings.Contains(text, "<untrusted_output>\nready [REDACTED") || strings.Contains(text, "4711") || strings.Contains(text, "quiet") || strings.Contains(text, "[31m") {
		t.Errorf("the note is %s", text)
	}
	if text := call("read_file", e2e.Object{"path": "a.txt"}, "one"); strings.Contains(text, "bg1 printed") {
		t.Errorf("it comes twice: %s", text)
	}
	e2e.Write(t, filepath.Join(dir, "end"), "")
	noted("bg1 ended with exit code 3")
}

// TestNoEditor: git and dpkg ask nobody, and git says what to do instead; a variable that is
// set for a command holds.
func TestNoEditor(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}})
	t.Setenv("GIT_EDITOR", "true")
	a := e2e.AgentProcess(t, dir, e2e.MCPVersions[0], nil)
	const git = "cd $TMPDIR && git init -q x && cd x && git config user.name A && git config user.email a@example.org && git config core.editor true && echo a > a && git add a && "
	for name, c := range map[string]struct {
		args e2e.Object
		want string
		ok   bool
	}{
		"commit":          {e2e.Object{"command": git + "git commit"}, "There is no editor here. Give git the text: commit -m TEXT", false},
		"a list":          {e2e.Object{"command": git + "git commit -qm a && git commit -q --allow-empty -m b && git rebase -i HEAD~1"}, "There is no editor here.", false},
		"with a text":     {e2e.Object{"command": git + "git commit -qm text && git log --format=%s"}, "text\n", true},
		"an editor given": {e2e.Object{"command": git + "git commit -qm before && git commit -q --amend && git log --format=%s", "env": e2e.Object{"GIT_EDITOR": "echo after >"}}, "after\n", true},
		"a list given":    {e2e.Object{"command": git + `git commit -qm a && git commit -q --allow-empty -m b && GIT_SEQUENCE_EDITOR="sed -i s/^pick/drop/" git rebase -i HEAD~1 && git log --format=%s`}, "a\n", true},
		"dpkg":            {e2e.Object{"command": "echo is $DEBIAN_FRONTEND $EDITOR."}, "is noninteractive .", true},
	} {
		if text, ok := a.Call("run_command", c.args); ok != c.ok || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v, %s", name, ok, text)
		}
	}
	for _, command := range []string{"export GIT_EDITOR='echo mine >'", git + "git commit -q && git log --format=%s"} {
		if text, ok := a.Call("run_command", e2e.Object{"command": command}); !ok || strings.Contains(command, "commit") && !strings.Contains(text, "mine\n") {
			t.Errorf("of the session: %s", text)
		}
	}
}
