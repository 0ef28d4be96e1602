package trust_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// asker is an editor with questions of its own.
func asker() fakeeditor.Options {
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Approve = true
	return fakeeditor.Options{Capabilities: can}
}

// envOfTest is what a program needs to find the settings and the editor of this test.
func envOfTest() (env []string) {
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// inShell runs sidecar-ls as a process.
func inShell(t *testing.T, dir, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err strings.Builder
	cmd := exec.CommandContext(t.Context(), program.ServerAnywhere(t), args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(stdin), &out, &err
	if e := cmd.Run(); e != nil && cmd.ProcessState == nil {
		t.Fatal(e)
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// audited is the record of what was decided.
func audited(t *testing.T, r *e2e.Rig, dir string) []auditlog.Record {
	t.Helper()
	e2e.Command[auditlog.Report](r, "sidecar.audit.verify", e2e.Object{}) // which writes what waits
	list, err := auditlog.Find(filepath.Join(dir, ".sidecar", "logs"), auditlog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestClaudeHook: the policy stands behind the own tools of a real Claude Code, set up as
// a user does it: an edit leads to our tools, a command runs in a world, and what the disk
// does not have is not read from there.
func TestClaudeHook(t *testing.T) {
	slow.Test(t)
	path := clients.Hooked.Find(t)
	server := program.ServerAnywhere(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n", ".env": "KEY=hidden-from-agents\n"}, e2e.Object{"commandRules": []e2e.Object{{"prefix": []string{"git", "push"}, "decision": "deny"}}, "toolPermissions": e2e.Object{}})
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	if out, stderr, code := inShell(t, dir, "", "setup", "claude", "--via=hook", "--yes"); code != 0 || !strings.Contains(out, "hook claude") {
		t.Fatalf("%d %s%s", code, out, stderr)
	}
	r := e2e.RunWith(t, dir, asker())
	allow := e2e.Object{"outcome": "allow"}
	d := r.Decides(allow, e2e.Object{"outcome": "deny", "reason": "not that"}, allow)
	c := clients.Hooked.Start(t, clients.Options{Path: path, Dir: dir, Server: []string{server, "mcp", "--root", dir}, Env: envOfTest(), Home: user})
	told := func(tool string, args e2e.Object, want ...string) {
		t.Helper()
		c.Turn().CallOwn(tool, args)
		turn := c.Turn()
		e2e.Contains(t, turn.Result, want...)
		if strings.Contains(turn.Result, "hidden-from-agents") {
			t.Errorf("%s shows a secret: %s", tool, turn.Result)
		}
		go turn.CallOwn("Glob", e2e.Object{"pattern": "*.txt"}) // which is no business of ours
	}
	told("Write", e2e.Object{"file_path": filepath.Join(dir, "a.txt"), "content": "two\n"}, "mcp__sidecar__write_file")
	told("Bash", e2e.Object{"command": "echo 'it'\\''s two' >> a.txt; cat a.txt", "description": "add a line"}, "one\nit's two\n")
	told("Bash", e2e.Object{"command": "cat a.txt; cat .env"}, "leave it out of the line")
	told("Read", e2e.Object{"file_path": filepath.Join(dir, "a.txt")}, "wait for the user's review", "mcp__sidecar__read_file")
	told("Read", e2e.Object{"file_path": filepath.Join(dir, ".env")}, "sidecar-ls: ")
	told("Bash", e2e.Object{"command": "touch b.txt"}, "not that")
	told("Bash", e2e.Object{"command": "git push origin"}, "sidecar-ls: ")
	c.Turn().End()
	c.Wait()
	if len(d.Asked) != 2 || !strings.Contains(d.Asked[0], "Run `echo") {
		t.Errorf("the user was asked %q", d.Asked)
	}
	if got := r.File("a.txt"); got != "one\n" {
		t.Errorf("the disk has %q", got)
	}
	list := r.Pending().Edits
	if len(list) != 1 || list[0].Path != "a.txt" || !strings.HasPrefix(list[0].Session, "claude-") {
		t.Errorf("pending: %+v", list)
	}
	if out, stderr, code := inShell(t, dir, "", "setup", "claude", "--via=hook", "--undo", "--yes"); code != 0 {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	if data, err := os.ReadFile(filepath.Join(user, ".claude", "settings.json")); err == nil && strings.Contains(string(data), "sidecar") {
		t.Errorf("undo leaves %s", data)
	}
}

// TestHookAlone: without an editor a hook decides what needs no person, also where a
// variable says that it is in a world, and what goes wrong holds the call back.
func TestHookAlone(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, e2e.Object{"mode": "cautious", "toolPermissions": e2e.Object{}})
	bash := func(line string) string {
		data, err := json.Marshal(e2e.Object{"session_id": "s", "hook_event_name": "PreToolUse", "cwd": dir, "tool_name": "Bash", "tool_use_id": "t", "tool_input": e2e.Object{"command": line}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, c := range map[string]struct {
		agent, in string
		env       string
		want      string
		code      int
	}{
		"asks its own user":  {"claude", bash("make"), "", `"permissionDecision":"ask"`, 0},
		"can't ask":          {"codex", bash("make"), "", `"permissionDecision":"deny"`, 0},
		"only looks":         {"codex", bash("ls"), "", `"permissionDecision":"allow"`, 0},
		"says it is in one":  {"claude", bash("make"), "SIDECAR_WORLD=1", `"permissionDecision":"ask"`, 0},
		"not JSON":           {"claude", "{", "", "not the JSON", 2},
		"nothing":            {"gemini", "", "", "not the JSON", 2},
		"an unknown project": {"claude", strings.ReplaceAll(bash("make"), dir, "/no/such/dir"), "", "no such file", 2},
	} {
		t.Run(name, func(t *testing.T) {
			if c.env != "" {
				key, value, _ := strings.Cut(c.env, "=")
				t.Setenv(key, value)
			}
			out, stderr, code := inShell(t, dir, c.in, "hook", c.agent)
			if code != c.code || !strings.Contains(out+stderr, c.want) || c.want == "" && out != "" {
				t.Errorf("exit code %d: %s%s", code, out, stderr)
			}
		})
	}
}

// TestHookInWorld: in a world a hook has nothing to say.
func TestHookInWorld(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, nil)
	call := `{"session_id":"s","hook_event_name":"PreToolUse","cwd":"` + dir + `","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"make"}}`
	r := e2e.Runs(t, dir, "--", "sh", "-c", "echo '"+call+"' | /run/sidecar-ls hook claude && echo ended $?")
	_ = r.In.Close()
	if got := r.Next(); got != "ended 0" {
		t.Errorf("the hook says %q", got)
	}
	r.Ends(0)
}

// TestClaudeApprove: what a real Claude Code without a terminal would ask its user is asked
// in the editor, with what it would do.
func TestClaudeApprove(t *testing.T) {
	slow.Test(t)
	path := clients.Asking.Find(t)
	server := program.ServerAnywhere(t)
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, e2e.Object{"mode": "review", "toolPermissions": e2e.Object{}})
	r := e2e.RunWith(t, dir, asker())
	allow := e2e.Object{"outcome": "allow"}
	d := r.Decides(e2e.Object{"outcome": "deny", "reason": "keep it"}, allow, e2e.Object{"outcome": "deny", "reason": "stay here"})
	c := clients.Asking.Start(t, clients.Options{Path: path, Dir: dir, Server: []string{server, "mcp", "--root", dir}, Env: envOfTest()})
	c.Turn().CallOwn("Write", e2e.Object{"file_path": filepath.Join(dir, "b.txt"), "content": "two\n"})
	turn := c.Turn()
	e2e.Contains(t, turn.Result, "keep it")
	turn.CallOwn("Write", e2e.Object{"file_path": filepath.Join(dir, "c.txt"), "content": "three\n"})
	turn = c.Turn()
	turn.CallOwn("Bash", e2e.Object{"command": "touch d.txt", "description": "touch it"})
	turn = c.Turn()
	e2e.Contains(t, turn.Result, "stay here")
	turn.End()
	c.Wait()
	if len(d.Asked) != 3 {
		t.Fatalf("the user was asked %q", d.Asked)
	}
	e2e.Contains(t, d.Asked[0], "Create `b.txt` (by Claude Code itself)?", "does not wait for review", "+two")
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
		t.Error("what was denied is there")
	}
	if got := r.File("c.txt"); got != "three\n" {
		t.Errorf("what was allowed is %q", got)
	}
	if out, _, _ := inShell(t, dir, "", "audit", "list"); !strings.Contains(out, "run_command (Claude Code Bash)") {
		t.Errorf("the list of the record does not say whose tools they were:\n%s", out)
	}
	var own []string
	for _, a := range audited(t, r, dir) {
		if a.Own != "" {
			own = append(own, a.Tool+" by "+a.Own+": "+a.Outcome)
		}
	}
	if strings.Join(own, "; ") != "write_file by Claude Code Write: deny; write_file by Claude Code Write: allow; run_command by Claude Code Bash: deny" {
		t.Errorf("the record has %q", own)
	}
}
