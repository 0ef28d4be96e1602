package agenthook

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestAnswers: what each agent is told about each kind of its own tools.
func TestAnswers(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.txt", "pending.txt"} {
		if err := ownfile.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Symlink(home, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	gate := func(_ context.Context, w Wish) (Verdict, error) {
		switch {
		case strings.Contains(string(w.With), "denied"):
			return Verdict{Decision: Deny, Reason: "no"}, nil
		case strings.Contains(string(w.With), "asked"):
			return Verdict{Decision: Ask, Reason: "nobody is there"}, nil
		case strings.Contains(string(w.With), "broken"):
			return Verdict{}, errors.New("the gate is broken")
		}
		return Verdict{Decision: Allow, Pending: filepath.Base(w.Path) == "pending.txt"}, nil
	}
	elsewhere := t.TempDir()
	if err := errors.Join(ownfile.MkdirAll(filepath.Join(home, ".config/sidecar"), 0o700), ownfile.Symlink(filepath.Join(home, ".config/sidecar"), filepath.Join(home, "link"))); err != nil {
		t.Fatal(err)
	}
	o := Options{Roots: []string{root}, Home: home, Self: "/opt/my tools/sidecar-ls", Gate: gate, Secret: []string{filepath.Join(home, ".config/sidecar")}, Getenv: func(name string) string {
		return map[string]string{"CODEX_HOME": elsewhere}[name]
	}}
	in := func(name string) string { return filepath.Join(root, name) }
	for _, c := range []struct {
		agent, tool string
		args        map[string]any
		want        string // in the answer; "" is no answer
		not         string
	}{
		{"claude", "Write", map[string]any{"file_path": in("new/b.txt")}, `"permissionDecision":"deny","permissionDecisionReason":"sidecar-ls: files of this workspace are edited with our tools, so that the user can review the edit: call mcp__sidecar__write_file instead of Write`, ""},
		{"claude", "Edit", map[string]any{"file_path": in("a.txt")}, "mcp__sidecar__edit_file", ""},
		{"claude", "Edit", map[string]any{}, "mcp__sidecar__edit_file", ""},
		{"claude", "NotebookEdit", map[string]any{"notebook_path": in("n.ipynb")}, "mcp__sidecar__edit_file", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".claude/plans/p.md")}, "", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".claude/settings.json")}, "is not in the workspace", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".claude/hooks/x.sh")}, "is not in the workspace", ""},
		{"claude", "Edit", map[string]any{"file_path": filepath.Join(home, ".claude/CLAUDE.md")}, "is not in the workspace", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".claude/commands/x.md")}, "is not in the workspace", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".claude/projects/p/memory/MEMORY.md")}, "is not in the workspace", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".claude/plans/x.sh")}, "is not in the workspace", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".claude/plans/../agents/x.md")}, "is not in the workspace", ""},
		{"gemini", "write_file", map[string]any{"file_path": filepath.Join(home, ".gemini/GEMINI.md")}, "is not in the workspace", ""},
		{"gemini", "write_file", map[string]any{"file_path": filepath.Join(home, ".gemini/tmp/bin/rg")}, "is not in the workspace", ""},
		{"claude", "Read", map[string]any{"file_path": filepath.Join(home, ".config/sidecar/settings.json")}, "may hold secrets", ""},
		{"claude", "Read", map[string]any{"file_path": filepath.Join(home, "link/settings.json")}, "may hold secrets", ""},
		{"claude", "Grep", map[string]any{"pattern": "key", "path": filepath.Join(home, ".config/sidecar")}, "may hold secrets", ""},
		{"gemini", "read_file", map[string]any{"file_path": filepath.Join(home, ".config/sidecar/mcp-tokens.json")}, "may hold secrets", ""},
		{"claude", "Read", map[string]any{"file_path": filepath.Join(home, ".config/other/settings.json")}, "", ""},
		{"claude", "Edit", map[string]any{"file_path": filepath.Join(elsewhere, "plan.md")}, "is not in the workspace", ""},
		{"claude", "Write", map[string]any{"file_path": filepath.Join(home, ".bashrc")}, "is not in the workspace", "instead of"},
		{"claude", "Write", map[string]any{"file_path": in("out/.bashrc")}, "is not in the workspace", ""},
		{"claude", "Write", map[string]any{"file_path": in("../x")}, "is not in the workspace", ""},
		{"claude", "Read", map[string]any{"file_path": in("a.txt")}, "", ""},
		{"claude", "Read", map[string]any{"file_path": in("pending.txt")}, "edits that wait for the user's review", ""},
		{"claude", "Read", map[string]any{"file_path": in("denied.txt")}, `"deny","permissionDecisionReason":"sidecar-ls: no"`, ""},
		{"claude", "Read", map[string]any{"file_path": filepath.Join(home, "notes.txt")}, "", ""},
		{"claude", "Read", map[string]any{"file_path": filepath.Join(home, ".ssh/id_rsa")}, "may hold secrets", ""},
		{"claude", "Grep", map[string]any{"pattern": "x"}, "mcp__sidecar__grep", ""},
		{"claude", "Grep", map[string]any{"pattern": "x", "path": home}, "", ""},
		{"claude", "Bash", map[string]any{"command": "echo 'it''s' > a.txt", "timeout": 5}, `"permissionDecision":"allow"`, ""},
		{"claude", "Bash", map[string]any{"command": "denied"}, `"deny"`, "updatedInput"},
		{"claude", "Bash", map[string]any{"command": "asked"}, `"ask"`, ""},
		{"claude", "Glob", map[string]any{"pattern": "**"}, "", ""},
		{"claude", "WebFetch", map[string]any{"url": "http://127.0.0.1"}, "", ""},
		{"claude", "mcp__sidecar__write_file", map[string]any{"path": "a.txt"}, "", ""},
		{"codex", "apply_patch", map[string]any{"command": "*** Begin Patch"}, "mcp__sidecar__apply_patch", ""},
		{"codex", "Bash", map[string]any{"command": "make"}, `"permissionDecision":"allow"`, ""},
		{"codex", "Bash", map[string]any{"command": "asked"}, `"deny"`, "updatedInput"},
		{"gemini", "replace", map[string]any{"file_path": in("a.txt")}, `{"decision":"deny","reason":"sidecar-ls: files of this`, ""},
		{"gemini", "run_shell_command", map[string]any{"command": "make", "description": "build"}, `{"decision":"allow","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{`, ""},
		{"gemini", "run_shell_command", map[string]any{"command": "asked"}, `{"decision":"deny","reason":"sidecar-ls: nobody is there"}`, ""},
		{"gemini", "read_file", map[string]any{"file_path": "pending.txt"}, "mcp_sidecar_read_file", ""},
	} {
		a, _ := agentOf(c.agent)
		data, err := json.Marshal(map[string]any{"session_id": "0d4e-99", "hook_event_name": a.event, "cwd": root, "tool_name": c.tool, "tool_input": c.args, "tool_use_id": "toolu_01AbC"})
		if err != nil {
			t.Fatal(err)
		}
		call, err := Read(c.agent, data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := call.Answer(t.Context(), o)
		if err != nil || (c.want == "") != (got == nil) || !strings.Contains(string(got), c.want) || c.not != "" && strings.Contains(string(got), c.not) {
			t.Errorf("%s: %s(%v): %s, %v", c.agent, c.tool, c.args, got, err)
		}
		if got == nil {
			continue
		}
		var answer map[string]any
		if err := json.Unmarshal(got, &answer); err != nil || strings.Count(string(got), "\n") != 1 {
			t.Errorf("it is no line of JSON: %s", got)
		}
	}
}

// TestWithoutWorlds: where there are none a command is decided on and left as it is, and an
// agent's own directory is the one that its variable names.
func TestWithoutWorlds(t *testing.T) {
	allow := func(context.Context, Wish) (Verdict, error) { return Verdict{Decision: Allow}, nil }
	call, err := Read("codex", []byte(`{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "make"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := call.Answer(t.Context(), Options{Roots: []string{t.TempDir()}, Gate: allow}); err != nil || !strings.Contains(string(got), `"allow"`) || strings.Contains(string(got), "updatedInput") {
		t.Errorf("%s, %v", got, err)
	}
	a, _ := agentOf("claude")
	for dir, want := range map[string]string{"": "/home/me/.claude", "/elsewhere": "/elsewhere", "not/absolute": "/home/me/.claude"} {
		if got := a.dir(Options{Home: "/home/me", Getenv: func(string) string { return dir }}); got != want {
			t.Errorf("%q is %q, want %q", dir, got, want)
		}
	}
}

// TestFailsClosed: what can't be decided is an error, which holds the call back.
func TestFailsClosed(t *testing.T) {
	for name, c := range map[string]struct{ agent, in, want string }{
		"another agent":  {"aider", `{}`, "claude, codex, gemini"},
		"no JSON":        {"claude", `{"tool_name": "Bash"`, "not the JSON"},
		"an array":       {"claude", `[]`, "not the JSON"},
		"no event":       {"claude", `{"tool_name": "Bash", "tool_input": {}}`, "no event"},
		"no tool":        {"claude", `{"hook_event_name": "PreToolUse"}`, "no tool"},
		"no arguments":   {"claude", `{"hook_event_name": "PreToolUse", "tool_name": "Bash"}`, "no object"},
		"no line":        {"claude", `{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}`, "no command line"},
		"a list as line": {"codex", `{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": ["ls"]}}`, "no command line"},
		"a broken gate":  {"gemini", `{"hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}`, "broken"},
	} {
		call, err := Read(c.agent, []byte(c.in))
		if err == nil {
			_, err = call.Answer(t.Context(), Options{Roots: []string{t.TempDir()}, Gate: func(context.Context, Wish) (Verdict, error) { return Verdict{}, errors.New("broken") }})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, in := range map[string]string{ // the control
		"another event": `{"hook_event_name": "Stop"}`,
		"another tool":  `{"hook_event_name": "PreToolUse", "tool_name": "TodoWrite", "tool_input": {}}`,
	} {
		call, err := Read("claude", []byte(in))
		if err != nil || call.Matters() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLine: a shell reads the words of a line as they were.
func TestLine(t *testing.T) {
	words := []string{"", "a", "two words", "it's", `$(touch x)`, "`y`", "a\nb", `"`, "ü*?~", "-n"}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", Line(append([]string{"printf", `<%s>`}, words...)...)).Output()
	if want := "<" + strings.Join(words, "><") + ">"; err != nil || string(out) != want {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}

// TestLike: what an agent asks about is our tool with its arguments, where there is one.
func TestLike(t *testing.T) {
	for _, c := range []struct{ own, args, ours, with string }{
		{"Edit", `{"file_path":"/p/a","old_string":"a","new_string":"b","replace_all":true}`, "edit_file", `{"occurrence":"all","path":"/p/a","replace":"b","search":"a"}`},
		{"Write", `{"file_path":"/p/a","content":"b"}`, "write_file", `{"content":"b","path":"/p/a"}`},
		{"Bash", `{"command":"ls","description":"look"}`, "run_command", `{"command":"ls"}`},
		{"WebFetch", `{"url":"http://x.example","prompt":"?"}`, "web_fetch", `{"url":"http://x.example"}`},
		{"Write", `[]`, "", ""},
		{"Bash", `{}`, "", ""},
		{"Unheard", `{"a":1}`, "", ""},
	} {
		if ours, with := Like("claude", c.own, json.RawMessage(c.args)); ours != c.ours || string(with) != c.with {
			t.Errorf("%s %s is %s %s", c.own, c.args, ours, with)
		}
	}
}
