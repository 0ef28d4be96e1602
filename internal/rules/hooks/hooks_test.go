package hooks

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/procgroup"
)

// TestParse: what can't be used of a source is left out and said, and the rest runs.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, data, want, problem string }{
		{"one", `{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "timeout": 2.5, "failClosed": true}]}]}`, "PreToolUse Bash true 2.5s closed", ""},
		{"no matcher, no type", `{"Stop": [{"hooks": [{"command": "true"}]}]}`, "Stop  true 0s", ""},
		{"members of others", `{"PostToolUse": [{"x": 1, "hooks": [{"type": "command", "command": "true", "async": true}]}]}`, "PostToolUse  true 0s", ""},
		{"an event that is not known", `{"Notification": [{"hooks": [{"command": "false"}]}], "Stop": [{"hooks": [{"command": "true"}]}]}`, "Stop  true 0s", "Notification is no event"},
		{"another type", `{"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}, {"command": "true"}]}]}`, "Stop  true 0s", "type prompt"},
		{"no command", `{"Stop": [{"hooks": [{"type": "command"}]}]}`, "", "needs a command"},
		{"a long command", `{"Stop": [{"hooks": [{"command": "` + strings.Repeat("x", maxCommand+1) + `"}]}]}`, "", "put it into a script"},
		{"a zero byte", `{"Stop": [{"hooks": [{"command": "a\u0000b"}]}]}`, "", "zero byte"},
		{"no time", `{"Stop": [{"hooks": [{"command": "true", "timeout": 0}]}]}`, "", "timeout must be"},
		{"all the time", `{"Stop": [{"hooks": [{"command": "true", "timeout": 601}]}]}`, "", "timeout must be"},
		{"a matcher that is none", `{"PreToolUse": [{"matcher": "(", "hooks": [{"command": "true"}]}]}`, "", "regular expression"},
		{"a list", `[]`, "", "object of events"},
		{"an event of another shape", `{"Stop": {"hooks": []}, "PreToolUse": [{"hooks": [{"command": "true"}]}]}`, "PreToolUse  true 0s", "must be a list"},
		{"a group of another shape", `{"Stop": [7, {"hooks": [{"command": "true"}]}]}`, "Stop  true 0s", "Stop[0]"},
		{"a hook of another shape", `{"Stop": [{"hooks": [7, {"command": "true"}]}]}`, "Stop  true 0s", "hooks[0]"},
		{"too many", `{"Stop": [{"hooks": [` + strings.TrimSuffix(strings.Repeat(`{"command": "true"},`, maxHooks+1), ",") + `]}]}`, "200", "at most 200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, problems := Parse([]byte(c.data), Hook{Origin: "here"})
			var got []string
			for _, h := range list {
				text := fmt.Sprintf("%s %s %s %v", h.Event, h.Matcher, h.Command, h.Timeout)
				if h.FailClosed {
					text += " closed"
				}
				got = append(got, text)
			}
			text := strings.Join(got, "; ")
			if len(got) > 10 {
				text = fmt.Sprint(len(got))
			}
			if text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
			said := strings.Join(problems, "\n")
			if (said == "") != (c.problem == "") || !strings.Contains(said, c.problem) {
				t.Errorf("problems %q, want one with %q", said, c.problem)
			}
		})
	}
}

// TestMatcher: names, lists of names and regular expressions over whole names.
func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		matcher, name string
		want          bool
	}{
		{"", "Bash", true}, {"*", "Bash", true}, {"Bash", "Bash", true}, {"Bash", "BashOutput", false}, {"Edit|Write", "Write", true},
		{"Edit|Write", "WriteX", false}, {"mcp__.*", "mcp__a__b", true}, {"mcp__.*", "xmcp__a", false}, {"run_command", "run_command", true}, {"bash", "Bash", false},
	} {
		m, err := matcher(c.matcher)
		if err != nil || m(c.name) != c.want {
			t.Errorf("%q and %q: want %v, %v", c.matcher, c.name, c.want, err)
		}
	}
	for _, c := range []struct{ tool, server, name, want string }{
		{"run_command", "", "", "Bash run_command"},
		{"edit_file", "", "", "Edit edit_file MultiEdit"},
		{"mcp_tickets_show", "tickets", "show", "mcp__tickets__show mcp_tickets_show"},
		{"git_status", "", "", "git_status"},
	} {
		if _, all := Names(c.tool, c.server, c.name); strings.Join(all, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.tool, all, c.want)
		}
	}
}

// TestArguments: arguments are told by the names that hooks know, and come back by ours.
func TestArguments(t *testing.T) {
	abs := func(name string) string { return "/w/" + name }
	for _, c := range []struct{ tool, ours, theirs, back string }{
		{"edit_file", `{"path":"a.go","search":"<a>","replace":"b"}`, `{"file_path":"/w/a.go","new_string":"b","old_string":"\u003ca\u003e"}`, `{"path":"/w/a.go","replace":"b","search":"\u003ca\u003e"}`},
		{"run_command", `{"command":"ls","timeout_s":3}`, `{"command":"ls","timeout":3000}`, `{"command":"ls","timeout_s":3}`},
		{"git_status", `{}`, `{}`, `{}`},
	} {
		theirs := Theirs(c.tool, abs, json.RawMessage(c.ours))
		if !sameJSON(string(theirs), c.theirs) {
			t.Errorf("%s: %s, want %s", c.tool, theirs, c.theirs)
		}
		back, err := Ours(c.tool, theirs)
		if err != nil || !sameJSON(string(back), c.back) {
			t.Errorf("%s comes back as %s, want %s: %v", c.tool, back, c.back, err)
		}
	}
	if got, _ := Ours("run_command", json.RawMessage(`{"timeout":1500}`)); !sameJSON(string(got), `{"timeout_s":2}`) {
		t.Errorf("a time is cut: %s", got)
	}
	if _, err := Ours("run_command", json.RawMessage(`7`)); err == nil {
		t.Error("a number passes for arguments")
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

// TestAnswers: what a hook says, and what does not count.
func TestAnswers(t *testing.T) {
	text := func(o Outcome) string {
		var parts []string
		add := func(what, s string) {
			if s != "" {
				parts = append(parts, what+"="+s)
			}
		}
		add("decision", o.Decision)
		add("reason", o.Reason)
		add("input", string(o.Input))
		if o.Output != nil {
			add("output", *o.Output)
		}
		add("context", strings.Join(o.Context, "|"))
		add("said", o.said)
		add("halt", o.Halt)
		return strings.Join(parts, " ")
	}
	specific := func(e Event, members string) string {
		return fmt.Sprintf(`{"hookSpecificOutput": {"hookEventName": %q, %s}}`, e, members)
	}
	for _, c := range []struct {
		name  string
		event Event
		code  int
		out   string
		want  string
		err   string
	}{
		{"nothing", PreToolUse, 0, "", "", ""},
		{"words", PreToolUse, 0, "all is well", "", ""},
		{"words at the start", SessionStart, 0, "Use tabs.\n", "context=Use tabs.", ""},
		{"exit code 2", PreToolUse, 2, "", "decision=deny reason=stderr", ""},
		{"exit code 2 where nothing can be held back", SessionStart, 2, "", "", "exit code 2"},
		{"another exit code", PreToolUse, 1, `{"decision":"block"}`, "", "exit code 1: stderr"},
		{"deny", PreToolUse, 0, specific(PreToolUse, `"permissionDecision": "deny", "permissionDecisionReason": "no"`), "decision=deny reason=no", ""},
		{"ask", PreToolUse, 0, specific(PreToolUse, `"permissionDecision": "ask"`), "decision=ask", ""},
		{"allow", PreToolUse, 0, specific(PreToolUse, `"permissionDecision": "allow"`), "decision=allow", ""},
		{"a decision of before", PreToolUse, 0, `{"decision": "block", "reason": "no"}`, "decision=deny reason=no", ""},
		{"a decision that is none", PreToolUse, 0, specific(PreToolUse, `"permissionDecision": "yes"`), "", `is "yes"`},
		{"another word", PreToolUse, 0, `{"decision": "maybe"}`, "", `is "maybe"`},
		{"for another event", PreToolUse, 0, specific(PostToolUse, `"additionalContext": "x"`), "", "for PostToolUse"},
		{"a changed input", PreToolUse, 0, specific(PreToolUse, `"updatedInput": {"command": "ls"}`), `input={"command":"ls"}`, ""},
		{"an input that is none", PreToolUse, 0, specific(PreToolUse, `"updatedInput": 7`), "", "must be an object"},
		{"an input afterwards", PostToolUse, 0, specific(PostToolUse, `"updatedInput": {"command": "ls"}`), "", ""},
		{"allowed in the person's place", PermissionRequest, 0, specific(PermissionRequest, `"decision": {"behavior": "allow"}`), "decision=allow", ""},
		{"denied in the person's place", PermissionRequest, 0, specific(PermissionRequest, `"decision": {"behavior": "deny", "message": "no"}`), "decision=deny reason=no", ""},
		{"another behaviour", PermissionRequest, 0, specific(PermissionRequest, `"decision": {"behavior": "ask"}`), "", "allow or deny"},
		{"an input that nobody looked at", PermissionRequest, 0, specific(PermissionRequest, `"decision": {"behavior": "allow", "updatedInput": {"command": "rm"}}`), "", "only PreToolUse can"},
		{"a changed output", PostToolUse, 0, specific(PostToolUse, `"updatedToolOutput": "other"`), "output=other", ""},
		{"an output that is JSON", PostToolUse, 0, specific(PostToolUse, `"updatedToolOutput": {"a": 1}`), `output={"a": 1}`, ""},
		{"context", PostToolUse, 0, specific(PostToolUse, `"additionalContext": "x"`), "context=x", ""},
		{"for the user", PostToolUse, 0, `{"systemMessage": "hm"}`, "said=hm", ""},
		{"stop", PreToolUse, 0, `{"continue": false, "stopReason": "enough"}`, "halt=enough", ""},
		{"no JSON", PreToolUse, 0, `{"decision": `, "", "not the JSON"},
		{"another type", PreToolUse, 0, `{"decision": 7}`, "", "not the JSON"},
		{"words before it", PreToolUse, 0, "env loaded\n" + `{"decision": "block", "reason": "no"}`, "decision=deny reason=no", ""},
		{"words on its line", PreToolUse, 0, "checking {a} … " + `{"decision": "block", "reason": "no"}` + "\n", "decision=deny reason=no", ""},
		{"words behind it", PreToolUse, 0, `{"decision": "block", "reason": "no"}` + "\nDone.\n", "decision=deny reason=no", ""},
		{"words before several lines", PreToolUse, 0, "f() { true; }\n{\n  \"hookSpecificOutput\": {\n    \"permissionDecision\": \"ask\"\n  }\n}\n", "decision=ask", ""},
		{"a mark of UTF-8", PreToolUse, 0, "\ufeff" + `{"decision": "block", "reason": "no"}`, "decision=deny reason=no", ""},
		{"the mark, and words", PreToolUse, 0, "\ufeffhello\n\ufeff" + `{"decision": "block", "reason": "no"}`, "decision=deny reason=no", ""},
		{"UTF-16", PreToolUse, 0, wide(`{"decision": "block", "reason": "no"}`), "decision=deny reason=no", ""},
		{"JSON of somebody else", PreToolUse, 0, `{"type": "banner"}` + "\n" + `{"decision": "block", "reason": "no"}` + "\n" + `{"level": 30}`, "decision=deny reason=no", ""},
		{"two answers", PreToolUse, 0, `{"decision": "block", "reason": "no"}` + "\n" + `{"decision": "approve", "systemMessage": "hm"}`, "decision=deny reason=no said=hm", ""},
		{"words and an answer at the start", SessionStart, 0, "Use tabs.\n" + specific(SessionStart, `"additionalContext": "x"`), "context=Use tabs.|x", ""},
		{"words and one that is cut", PreToolUse, 0, "env loaded\n" + `{"decision": "block", "rea`, "", "not the JSON"},
		{"words and one that is misspelt", PreToolUse, 0, "env loaded\n" + `{"hookSpecificOutput": {"permissionDecision": "deny",}}`, "", "not the JSON"},
		{"a part of one that is misspelt", PreToolUse, 0, `x {"a", "b": {"decision": "approve"}}`, "", "not the JSON"},
		{"words and a decision that is none", PreToolUse, 0, "env loaded\n" + `{"decision": "maybe"}`, "", `is "maybe"`},
		{"words with brackets", PostToolUse, 0, "formatted:\n{ x }\n{\"a\": 1}\n", "", ""},
		{"many brackets", PostToolUse, 0, strings.Repeat("{\"a\":[", 100_000), "", "not the JSON"},
		{"too much", PreToolUse, 0, strings.Repeat("x", maxAnswer+1), "", "more than"},
		{"a long reason", PreToolUse, 0, `{"decision": "block", "reason": "` + strings.Repeat("é", maxContext) + `"}`, "decision=deny reason=" + strings.Repeat("é", maxContext/2) + "…", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			row, ok := RowOf(c.event)
			if !ok {
				t.Fatal("no such event")
			}
			o, err := ended{c.code, []byte(c.out), "stderr"}.read(row, "run_command")
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%v, want %q", err, c.err)
			}
			if got := text(o); got != c.want {
				t.Errorf("got %.300q, want %.300q", got, c.want)
			}
		})
	}
}

// wide is a text in UTF-16, as PowerShell may write it.
func wide(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// rig is a runner whose hooks are processes that nobody confines.
type rig struct {
	*Runner
	t      *testing.T
	dir    string
	now    time.Time
	mu     sync.Mutex
	list   []Hook
	ran    []Ran
	starts int
	gone   sync.WaitGroup
}

func newRig(t *testing.T, list ...Hook) *rig {
	r := &rig{t: t, dir: t.TempDir(), now: time.Now(), list: list}
	for i := range r.list {
		h := &r.list[i]
		h.Trusted = true
		if h.Event == "" {
			h.Event = PreToolUse
		}
		if h.matches == nil {
			var err error
			if h.matches, err = matcher(h.Matcher); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.Runner = New(Options{Config: r, Start: r.start, Told: r.told, Now: r.clock})
	t.Cleanup(func() {
		r.Close()
		r.gone.Wait() // no process is left
	})
	return r
}

func (r *rig) Hooks() ([]Hook, []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Hook(nil), r.list...), nil
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) told(ran Ran) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = append(r.ran, ran)
}

func (r *rig) started() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starts
}

func (r *rig) start(_ context.Context, root string, h *Hook, argv []string) (*Process, error) {
	r.mu.Lock()
	r.starts++
	r.mu.Unlock()
	if strings.HasPrefix(h.Command, "missing") {
		return nil, errors.New("there is no sandbox")
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = root
	procgroup.Own(cmd) // a sandbox ends all of its processes
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	theirs.Close()
	wait := sync.OnceValue(cmd.Wait)
	r.gone.Go(func() { _ = wait() })
	return &Process{In: in, Out: out, Wait: wait, Kill: func() { _ = procgroup.End(cmd) }, Said: func() string { return strings.TrimSpace(said.String()) }}, nil
}

func (r *rig) run(event Event, tool string) Outcome {
	theirs, names := Names(tool, "", "")
	return r.Run(r.t.Context(), Input{Event: event, Session: "s", Dir: r.dir, Call: "c", ToolName: theirs, OurTool: tool, Tool: json.RawMessage(`{"command":"ls"}`)}, names...)
}

const says = `echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "%s", "permissionDecisionReason": "%s"}}'`

// TestMerge: hooks run beside each other, and the strictest decides; the order is that
// of the file.
func TestMerge(t *testing.T) {
	r := newRig(t,
		Hook{Origin: "a", Command: fmt.Sprintf(says, "allow", "fine")},
		Hook{Origin: "b", Command: fmt.Sprintf(says, "deny", "first")},
		Hook{Origin: "c", Command: fmt.Sprintf(says, "ask", "hm")},
		Hook{Origin: "d", Command: fmt.Sprintf(says, "deny", "second")},
		Hook{Origin: "e", Command: "exit 3", Matcher: "Write"},
		Hook{Origin: "f", Command: fmt.Sprintf(says, "allow", "fine")}, // the line of a, again
	)
	if o := r.run(PreToolUse, "run_command"); o.Decision != Deny || o.Reason != "first" || o.By != "b" {
		t.Errorf("got %+v", o)
	}
	if len(r.ran) != 4 {
		t.Errorf("%d hooks were run, want 4", len(r.ran))
	}
	if o := r.run(PostToolUse, "run_command"); o.Decision != "" || len(r.ran) != 4 {
		t.Errorf("hooks of another event: %+v", o)
	}
	if r.Active(PreToolUse, "git_status") != true || r.Active(PostToolUse, "git_status") {
		t.Error("it is not known which events have hooks")
	}
}

// TestInput: a hook is told all of a call, reads it or not, and begins where its session is.
func TestInput(t *testing.T) {
	r := newRig(t, Hook{Command: `cat > told.json; pwd > where; exit 0`}, Hook{Command: "exit 0"})
	big := strings.Repeat("x", 1<<20) // more than a pipe holds
	if o := r.Run(t.Context(), Input{Event: PreToolUse, Dir: r.dir, ToolName: "Write", Tool: json.RawMessage(`{"content":"` + big + `"}`)}); o.Decision != "" {
		t.Errorf("got %+v", o)
	}
	data, err := os.ReadFile(filepath.Join(r.dir, "told.json"))
	var got struct {
		Event string `json:"hook_event_name"`
		Tool  string `json:"tool_name"`
		Input struct{ Content string }
		Raw   struct {
			Content string `json:"content"`
		} `json:"tool_input"`
	}
	if err != nil || json.Unmarshal(data, &got) != nil || got.Event != "PreToolUse" || got.Tool != "Write" || got.Raw.Content != big {
		t.Errorf("it was told %.200s, %v", data, err)
	}
	for _, ran := range r.ran {
		if ran.Failure != "" {
			t.Errorf("a hook that does not read fails: %s", ran.Failure)
		}
	}
}

// TestAhead: a program that is started ahead does nothing before its event, and does not
// stay after the runner.
func TestAhead(t *testing.T) {
	r := newRig(t, Hook{Command: `date +%s%N >> times; cat > /dev/null`})
	lines := func() int {
		data, _ := os.ReadFile(filepath.Join(r.dir, "times"))
		return strings.Count(string(data), "\n")
	}
	for n := 1; n <= 3; n++ {
		r.run(PreToolUse, "run_command")
		if lines() != n {
			t.Fatalf("after %d events it has run %d times", n, lines())
		}
		r.mu.Lock()
		k := r.keepers[r.list[0].key(r.dir)]
		r.mu.Unlock()
		k.work.Wait() // the next one has been started
		if r.started() != n+1 || lines() != n {
			t.Fatalf("after %d events %d programs were started, and %d have run", n, r.started(), lines())
		}
	}
}

// TestFailures: a hook that fails is said and holds nothing back, unless it is to.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, command, want string
		timeout             time.Duration
	}{
		{"an exit code", "echo oh >&2; exit 7", "exit code 7: oh", 0},
		{"garbage", `echo '{"decision": 1}'`, "not the JSON", 0},
		{"no end", "sleep 1000", "ended after 100ms", 100 * time.Millisecond},
		{"no end, and a child", "sleep 1000 & cat; wait", "ended after 100ms", 100 * time.Millisecond},
		{"no start", "missing", "there is no sandbox", 0},
		{"a flood", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "more than", 0},
		{"killed", "kill -9 $$", "ended by a signal", 0},
	} {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, closed), func(t *testing.T) {
				r := newRig(t, Hook{Command: "exec 2>&1; " + c.command, Timeout: c.timeout, FailClosed: closed})
				if strings.HasPrefix(c.command, "missing") || c.name == "an exit code" {
					r = newRig(t, Hook{Command: c.command, Timeout: c.timeout, FailClosed: closed})
				}
				o := r.run(PreToolUse, "run_command")
				if len(r.ran) != 1 || !strings.Contains(r.ran[0].Failure, c.want) || !strings.Contains(r.ran[0].Said, c.want) {
					t.Fatalf("it is told as %+v, want %q", r.ran, c.want)
				}
				if (o.Decision == Deny) != closed {
					t.Errorf("held back: %+v, want %v", o, closed)
				}
			})
		}
	}
}

// TestBreaker: a hook that fails three times in a minute is given up for a minute.
func TestBreaker(t *testing.T) {
	r := newRig(t, Hook{Command: "test -e good"}, Hook{Command: "true"})
	open := func() bool {
		list, _ := r.List()
		return list[0].Open
	}
	for range 2 {
		r.run(PreToolUse, "run_command")
	}
	if open() {
		t.Fatal("it is given up after two failures")
	}
	r.run(PreToolUse, "run_command")
	if list, _ := r.List(); !list[0].Open || list[1].Open || list[0].LastError == "" || list[1].LastError != "" {
		t.Fatalf("after three failures: %+v", list)
	}
	if err := ownfile.WriteFile(filepath.Join(r.dir, "good"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(r.ran)
	if r.run(PreToolUse, "run_command"); len(r.ran) != before+1 || !open() {
		t.Errorf("it is tried while it is given up: %+v", r.ran[before:])
	}
	r.mu.Lock()
	r.now = r.now.Add(breakerTime)
	r.mu.Unlock()
	r.run(PreToolUse, "run_command")
	if list, _ := r.List(); list[0].Open || list[0].LastError != "" {
		t.Errorf("after a minute, and a success: %+v", list[0])
	}
}

// TestBreakerClosed: a hook that is given up holds back what it must not miss.
func TestBreakerClosed(t *testing.T) {
	r := newRig(t, Hook{Command: "exit 3", FailClosed: true})
	for i := range breakerFailures + 1 {
		if o := r.run(PreToolUse, "run_command"); o.Decision != Deny {
			t.Errorf("try %d: %+v", i, o)
		}
	}
	if len(r.ran) != breakerFailures {
		t.Errorf("it was run %d times", len(r.ran))
	}
}

// TestReload: what is not named any more is not run, and nothing of it is left.
func TestReload(t *testing.T) {
	r := newRig(t, Hook{Command: "exit 2"})
	if o := r.run(PreToolUse, "run_command"); o.Decision != Deny {
		t.Fatalf("got %+v", o)
	}
	r.mu.Lock()
	r.list[0].Trusted = false
	r.mu.Unlock()
	r.Reload()
	if o := r.run(PreToolUse, "run_command"); o.Decision != "" || r.Active(PreToolUse, "Bash") {
		t.Errorf("what is not trusted runs: %+v", o)
	}
	if list, _ := r.List(); len(list) != 1 || list[0].Trusted {
		t.Errorf("the list is %+v", list)
	}
}

// TestGivenUp: a call that is given up ends its hooks, and is no failure of theirs.
func TestGivenUp(t *testing.T) {
	r := newRig(t, Hook{Command: "touch begun; sleep 1000", FailClosed: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Outcome)
	go func() { done <- r.Run(ctx, Input{Event: PreToolUse, Dir: r.dir}, "Bash") }()
	for {
		if _, err := os.Stat(filepath.Join(r.dir, "begun")); err == nil {
			break
		}
		select {
		case o := <-done:
			t.Fatalf("it has ended: %+v", o)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if o := <-done; o.Decision != "" || len(r.ran) != 0 {
		t.Errorf("got %+v, told %+v", o, r.ran)
	}
}
