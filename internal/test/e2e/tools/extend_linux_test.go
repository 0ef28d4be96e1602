package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// onTool is the setting hooks with one hook.
func onTool(event, matcher, command string) e2e.Object {
	return e2e.Object{event: []e2e.Object{{"matcher": matcher, "hooks": []e2e.Object{{"type": "command", "command": command}}}}}
}

// TestNoHooks: where hooks are false, in the editor's settings or by the key of before,
// those of the user's file are listed and don't run. Control: without it one denies.
func TestNoHooks(t *testing.T) {
	deny := onTool("PreToolUse", "Read", "echo 'not this one' >&2; exit 2")
	for name, c := range map[string]struct {
		user, client e2e.Object
		denied       bool
	}{
		"control":           {e2e.Object{"hooks": deny}, e2e.Object{}, true},
		"the editor's word": {e2e.Object{"hooks": deny}, e2e.Object{"hooks": false}, false},
		"the key of before": {e2e.Object{"hooks": deny, "hooksEnabled": false}, e2e.Object{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, c.user)
			r := e2e.ServeSelf(t, e2e.Project(t, map[string]string{"a.txt": "text\n"}), fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": c.client}})
			r.Mode("autonomous")
			if res := r.Tool("read_file", e2e.Object{"path": "a.txt"}); res.OK == c.denied {
				t.Errorf("denied: %v, want %v: %s", !res.OK, c.denied, res.Content)
			}
			if list := e2e.HooksOf(r); len(list) != 1 || list[0].Trusted != c.denied {
				t.Errorf("the list is %+v", list)
			}
		})
	}
}

// TestHooks: hooks of the user hold back, change and answer calls, in the sandbox and
// through the real server; what is denied stays so.
func TestHooks(t *testing.T) {
	e2e.Home(t)
	guard := e2e.Script(t, "guard.sh", `#!/bin/sh
input=$(cat)
case "$input" in
*forbidden*) echo "not this one" >&2; exit 2 ;;
*please-ask*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "who knows"}}' ;;
*change-me*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo changed"}}}' ;;
*no-such-member*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"commando": "x"}}}' ;;
*let-it*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}' ;;
*escape*) (echo x > "$CLAUDE_PROJECT_DIR/escaped"; cat "$CLAUDE_PROJECT_DIR/.env"; curl -s http://127.0.0.1:1) 2>&1; echo x >> "$0"; exit 3 ;;
esac
`)
	set := onTool("PreToolUse", "Bash|git_status", guard)
	set["PostToolUse"] = []e2e.Object{{"matcher": "Read", "hooks": []e2e.Object{{"command": `grep -q '"file_path":"'"$CLAUDE_PROJECT_DIR"'/a.txt"' && echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "this file is generated"}}'; true`}}}}
	set["PostToolUseFailure"] = []e2e.Object{{"hooks": []e2e.Object{{"command": `grep -q not_found && echo '{"hookSpecificOutput": {"hookEventName": "PostToolUseFailure", "additionalContext": "look elsewhere"}}'; true`}}}}
	e2e.UserSettings(t, e2e.Object{"hooks": set, "toolPermissions": e2e.Object{"git_log": "deny"}})
	dir := e2e.Project(t, map[string]string{"a.txt": "text\n", ".env": "KEY=value-that-nobody-knows\n"})
	r := e2e.ServeSelf(t, dir, fakeeditor.Options{})
	r.Mode("autonomous")
	for _, c := range []struct{ name, line, want string }{
		{"nothing is said", "echo plain", "plain\n"},
		{"denied", "echo forbidden", "a hook of the user's (sidecar.hooks) denies this: not this one"},
		{"asked about", "echo please-ask", "the user did not allow"}, // the question is dismissed
		{"changed", "echo change-me", "changed\n"},
		{"changed to nonsense", "echo no-such-member", "changed the arguments to what run_command does not take"},
	} {
		res := r.Tool("run_command", e2e.Object{"command": c.line})
		if !strings.Contains(res.Content, c.want) {
			t.Errorf("%s: no %q in %s", c.name, c.want, res.Content)
		}
		if c.name == "asked about" && res.Decision.Rule != "hook.ask" {
			t.Errorf("who asked: %+v", res.Decision)
		}
		if c.name == "changed" && !strings.Contains(res.Content, "A hook of the user's changed the arguments") {
			t.Errorf("the model is not told: %s", res.Content)
		}
	}
	if res := r.Tool("read_file", e2e.Object{"path": "a.txt"}); !res.OK || !strings.Contains(res.Content, "A hook of the user's says: this file is generated") {
		t.Errorf("after a call: %s", res.Content)
	}
	if res := r.Tool("read_file", e2e.Object{"path": "b.txt"}); res.OK || !strings.Contains(res.Content, "look elsewhere") {
		t.Errorf("after a failure: %s", res.Content)
	}

	// It saves the mode's question, and nothing else.
	r.Mode("cautious")
	if res := r.Tool("run_command", e2e.Object{"command": "echo let-it > new.txt"}); !res.OK || res.Decision.Rule != "hook.allow" {
		t.Errorf("allowed: %+v %s", res.Decision, res.Content)
	}
	if res := r.Tool("run_command", e2e.Object{"command": "echo plain > other.txt"}); res.OK {
		t.Errorf("the control was not asked about: %+v", res.Decision)
	}
	r.Mode("plan")
	if res := r.Tool("run_command", e2e.Object{"command": "echo let-it > third.txt"}); res.OK {
		t.Errorf("a hook allows what the mode denies: %s", res.Content)
	}

	// A hook is confined, too.
	r.Mode("autonomous")
	if res := r.Tool("run_command", e2e.Object{"command": "echo escape"}); !res.OK {
		t.Errorf("a hook that fails holds back: %s", res.Content)
	}
	if _, err := os.Stat(filepath.Join(dir, "escaped")); err == nil {
		t.Error("a hook wrote into the workspace")
	}
	list := e2e.HooksOf(r)
	if len(list) != 3 || !list[2].Trusted || !strings.Contains(list[2].LastError+list[0].LastError, "exit code 3") || strings.Contains(list[0].LastError, "value-that-nobody-knows") {
		t.Errorf("the list is %+v", list)
	}
	if data, err := os.ReadFile(guard); err != nil || strings.Contains(string(data), "\nx\n") {
		t.Errorf("a hook changed itself: %v", err)
	}
}

// TestHooksOfProject: what a project brings runs once its user trusts the project.
func TestHooksOfProject(t *testing.T) {
	for _, trust := range []string{"unknown", "trusted"} {
		t.Run(trust, func(t *testing.T) {
			e2e.Home(t)
			dir := e2e.Project(t, map[string]string{
				".claude/settings.json": `{"hooks": {"PreToolUse": [{"hooks": [{"command": "exit 2"}]}]}, "model": "x"}`,
				".sidecar/hooks.json":   `{"hooks": {"PreToolUse": [{"hooks": [{"command": "./guard.sh"}]}]}}`,
				"a.txt":                 "text\n", "guard.sh": "#!/bin/sh\necho from the project >&2; exit 2\n",
			})
			if err := ownfile.Chmod(filepath.Join(dir, "guard.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
			r := e2e.ServeSelf(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"workspace": e2e.Object{"trust": trust}}}})
			res := r.Tool("read_file", e2e.Object{"path": "a.txt"})
			if res.OK != (trust != "trusted") {
				t.Errorf("%s: %s", trust, res.Content)
			}
			list := e2e.HooksOf(r)
			if len(list) != 2 || list[0].Trusted != (trust == "trusted") || list[0].Origin != ".claude/settings.json" || list[1].Origin != ".sidecar/hooks.json" {
				t.Errorf("the list is %+v", list)
			}
			if trust != "trusted" {
				return
			}
			// A file that can't be read, or no longer names a hook, loosens nothing.
			e2e.Write(t, filepath.Join(dir, ".claude/settings.json"), `{"hooks": `)
			e2e.Write(t, filepath.Join(dir, ".sidecar/hooks.json"), `{"hooks": {}}`)
			e2e.HooksOf(r)
			if res := r.Tool("read_file", e2e.Object{"path": "a.txt"}); res.OK {
				t.Errorf("after the change: %s", res.Content)
			}
			if got := e2e.Command[struct{ Problems []string }](r, "sidecar.hooks.list", e2e.Object{}).Problems; len(got) != 1 || !strings.Contains(got[0], ".claude/settings.json can't be read") {
				t.Errorf("problems: %q", got)
			}
			// Once the user takes the change, it holds.
			if out, stderr, code := e2e.RunCLI(t, "", "trust", "yes", "--root", dir); code != 0 || !strings.Contains(out, "Accepted: .claude/settings.json, .sidecar/hooks.json") {
				t.Fatalf("%d: %s%s", code, out, stderr)
			}
			e2e.HooksOf(r)
			if res := r.Tool("read_file", e2e.Object{"path": "a.txt"}); !res.OK {
				t.Errorf("once it is taken: %s", res.Content)
			}
		})
	}
}

// TestCustomTools: a tool from the settings runs without a shell, in the sandbox, and
// what it writes is an edit of its session.
func TestCustomTools(t *testing.T) {
	e2e.Home(t)
	t.Setenv("MY_TRACKER", "tracker-token-4711-abcdef")
	tool := e2e.Script(t, "tool.sh", `#!/bin/sh
printf 'argument <%s>\n' "$@"
echo "stdin $(cat)"
echo "token ${MY_TRACKER:-none}"
[ -f pending.txt ] && echo "sees $(cat pending.txt)"
[ "$1" = write ] && { echo made > made.txt || exit 9; }
[ "$1" = fail ] && { echo oh >&2; exit 4; }
true
`)
	input := e2e.Object{"type": "object", "properties": e2e.Object{"what": e2e.Object{"type": "string"}, "more": e2e.Object{"type": "array", "items": e2e.Object{"type": "string"}}}, "required": []string{"what"}}
	custom := func(name string, more e2e.Object) e2e.Object {
		c := e2e.Object{"name": name, "description": "A tool of ours.", "command": []string{tool, "{what}", "fixed {what}", "{more}"}, "input": input, "env": []string{"MY_TRACKER"}}
		for k, v := range more {
			c[k] = v
		}
		return c
	}
	e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"custom_does": "allow"}, "tools": e2e.Object{"custom": []e2e.Object{
		custom("does", nil), custom("reads", e2e.Object{"access": "read"}),
		custom("broken", e2e.Object{"command": []string{tool, "{nothing}"}}),
		custom("options", e2e.Object{"command": []string{tool, "--", "{what}"}}),
	}}})
	dir := e2e.Project(t, map[string]string{"a.txt": "text\n"})
	r := e2e.ServeSelf(t, dir, fakeeditor.Options{})
	r.Mode("review")
	if res := r.Tool("write_file", e2e.Object{"path": "pending.txt", "content": "what waits\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	if res := r.Tool("custom_options", e2e.Object{"what": "x"}); res.OK {
		t.Errorf("review asks about what runs programs: %+v", res.Decision)
	}
	res := r.Tool("custom_reads", e2e.Object{"what": "a b; $(id)", "more": []string{"c", "d"}})
	for _, want := range []string{"argument <a b; $(id)>\n", "argument <fixed {what}>\n", "argument <c>\nargument <d>\n", `stdin {"more":["c","d"],"what":"a b; $(id)"}`, "token [REDACTED", "sees what waits"} {
		if !res.OK || !strings.Contains(res.Content, want) {
			t.Errorf("no %q in %s", want, res.Content)
		}
	}
	if res := r.Tool("custom_reads", e2e.Object{"what": "write"}); res.OK || !strings.Contains(res.Content, "exit code 9") {
		t.Errorf("a reading tool wrote: %s", res.Content)
	}
	r.IsQueued("pending.txt")
	for args, want := range map[string]string{
		`{"what": "-rf"}`: "would be an option", `{}`: "what", `{"what": "x", "other": 1}`: "other", `{"what": "fail"}`: "oh",
	} {
		if res := r.Tool("custom_reads", json.RawMessage(args)); res.OK || !strings.Contains(res.Content, want) {
			t.Errorf("%s: %s", args, res.Content)
		}
	}
	if res := r.Tool("custom_does", e2e.Object{"what": "write"}); !res.OK {
		t.Errorf("allowed: %s", res.Content)
	}
	r.IsQueued("made.txt", "pending.txt")
	r.Mode("autonomous")
	if res := r.Tool("custom_options", e2e.Object{"what": "-rf"}); !res.OK || !strings.Contains(res.Content, "argument <-rf>") {
		t.Errorf("after --: %s", res.Content)
	}
	if res := r.Tool("custom_broken", e2e.Object{"what": "x"}); res.OK || res.Error.Code != "unknown_tool" {
		t.Errorf("a tool that can't be made: %s", res.Content)
	}
	if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
		t.Error("what it wrote is on the disk before anybody accepted it")
	}
}
