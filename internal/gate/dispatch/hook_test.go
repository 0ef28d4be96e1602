package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// listener is hooks that say what a test has them say.
type listener struct {
	mu   sync.Mutex
	says map[hooks.Event]hooks.Outcome
	told []hooks.Input
}

func (l *listener) Ready(context.Context) {}

func (l *listener) Active(e hooks.Event, _ ...string) bool {
	_, ok := l.says[e]
	return ok
}

func (l *listener) Run(_ context.Context, in hooks.Input, _ ...string) hooks.Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, in)
	return l.says[in.Event]
}

// heard are the events that were told, in order.
func (l *listener) heard() string {
	var names []string
	for _, in := range l.told {
		names = append(names, string(in.Event))
	}
	return strings.Join(names, " ")
}

// all has every event heard, and nothing said but what is given.
func all(says map[hooks.Event]hooks.Outcome) *listener {
	l := &listener{says: map[hooks.Event]hooks.Outcome{}}
	for _, r := range hooks.Events() {
		l.says[r.Event] = says[r.Event]
	}
	return l
}

// TestHooks: what hooks say about a call, and what comes of it.
func TestHooks(t *testing.T) {
	out := "what the hook wrote"
	pre := func(o hooks.Outcome) map[hooks.Event]hooks.Outcome {
		o.By = "here"
		return map[hooks.Event]hooks.Outcome{hooks.PreToolUse: o}
	}
	asked := func(o hooks.Outcome) map[hooks.Event]hooks.Outcome {
		o.By = "here"
		return map[hooks.Event]hooks.Outcome{hooks.PermissionRequest: o}
	}
	for _, c := range []struct {
		name, mode, tool, args string
		says                   map[hooks.Event]hooks.Outcome
		heard                  string
		ok                     bool
		rule                   string
		content                string
		asks                   int
		ran                    int
	}{
		{"nothing", "cautious", "look", `{"path":"a.txt"}`, nil, "PreToolUse PostToolUse", true, "mode.cautious.reads", "one", 0, 1},
		{"denied", "autonomous", "sh", `{"line":"x"}`, pre(hooks.Outcome{Decision: hooks.Deny, Reason: "no."}), "PreToolUse PermissionDenied", false, "hook.deny", "a hook of the user's (here) denies this: no", 0, 0},
		{"asked about, and allowed", "autonomous", "sh", `{"line":"x"}`, pre(hooks.Outcome{Decision: hooks.Ask}), "PreToolUse PermissionRequest PostToolUse", true, "hook.ask", "ran x", 1, 1},
		{"allowed", "cautious", "sh", `{"line":"x"}`, pre(hooks.Outcome{Decision: hooks.Allow}), "PreToolUse PostToolUse", true, "hook.allow", "ran x", 0, 1},
		{"allowed, an edit", "cautious", "put", `{"path":"a.txt","text":"x"}`, pre(hooks.Outcome{Decision: hooks.Allow}), "PreToolUse PostToolUse", true, "hook.allow", "put a.txt", 0, 1},
		{"allowed, what can't be undone", "cautious", "sh", `{"line":"destroy"}`, pre(hooks.Outcome{Decision: hooks.Allow}), "PreToolUse PermissionRequest PostToolUse", true, "irrecoverable", "ran destroy", 1, 1},
		{"allowed, what always asks", "autonomous", "always", `{}`, pre(hooks.Outcome{Decision: hooks.Allow}), "PreToolUse PermissionRequest PostToolUse", true, "always-ask", "did", 1, 0},
		{"allowed, what the mode denies", "plan", "sh", `{"line":"x"}`, pre(hooks.Outcome{Decision: hooks.Allow}), "PreToolUse PermissionDenied", false, "mode.deny", "only reads", 0, 0},
		{"other arguments", "autonomous", "sh", `{"line":"x"}`, pre(hooks.Outcome{Input: json.RawMessage(`{"line":"y"}`)}), "PreToolUse PostToolUse", true, "mode.autonomous.execs", "ran y", 0, 1},
		{"other arguments, judged as they are", "plan", "sh", `{"line":"list"}`, pre(hooks.Outcome{Decision: hooks.Allow, Input: json.RawMessage(`{"line":"x"}`)}), "PreToolUse PermissionDenied", false, "mode.deny", "only reads", 0, 0},
		{"other arguments, asked about as they are", "cautious", "sh", `{"line":"x"}`, pre(hooks.Outcome{Decision: hooks.Allow, Input: json.RawMessage(`{"line":"destroy"}`)}), "PreToolUse PermissionRequest PostToolUse", true, "irrecoverable", "ran destroy", 1, 1},
		{"arguments that are none", "autonomous", "sh", `{"line":"x"}`, pre(hooks.Outcome{Input: json.RawMessage(`{"line":7}`)}), "PreToolUse PermissionDenied", false, "denied", "changed the arguments to what sh does not take", 0, 0},
		{"arguments with a secret that it was not shown", "autonomous", "sh", `{"line":"hunter2"}`, pre(hooks.Outcome{Input: json.RawMessage(`{"line":"[REDACTED:known] x"}`)}), "PreToolUse PermissionDenied", false, "denied", "which it is not shown", 0, 0},
		{"stop", "autonomous", "sh", `{"line":"x"}`, pre(hooks.Outcome{Halt: "enough"}), "PreToolUse PermissionDenied", false, "hook.deny", "enough; stop here", 0, 0},
		{"context", "cautious", "look", `{"path":"a.txt"}`, pre(hooks.Outcome{Context: []string{"mind the gap"}}), "PreToolUse PostToolUse", true, "mode.cautious.reads", "A hook of the user's says: mind the gap", 0, 1},
		{"the question is answered", "cautious", "sh", `{"line":"x"}`, asked(hooks.Outcome{Decision: hooks.Allow}), "PreToolUse PermissionRequest PostToolUse", true, "hook.allow", "ran x", 0, 1},
		{"the question is denied", "cautious", "sh", `{"line":"x"}`, asked(hooks.Outcome{Decision: hooks.Deny, Reason: "no"}), "PreToolUse PermissionRequest PermissionDenied", false, "hook.deny", "denies this: no", 0, 0},
		{"the question is a person's", "cautious", "sh", `{"line":"destroy"}`, asked(hooks.Outcome{Decision: hooks.Allow}), "PreToolUse PermissionRequest PostToolUse", true, "irrecoverable", "ran destroy", 1, 1},
		{"another result", "cautious", "look", `{"path":"a.txt"}`, map[hooks.Event]hooks.Outcome{hooks.PostToolUse: {Output: &out}}, "PreToolUse PostToolUse", true, "mode.cautious.reads", "what the hook wrote\n\n[A hook of the user's wrote this result.]", 0, 1},
		{"an objection", "cautious", "look", `{"path":"a.txt"}`, map[hooks.Event]hooks.Outcome{hooks.PostToolUse: {Decision: hooks.Deny, Reason: "look again"}}, "PreToolUse PostToolUse", true, "mode.cautious.reads", "A hook of the user's objects: look again", 0, 1},
		{"a failure", "cautious", "look", `{"path":"b.txt"}`, map[hooks.Event]hooks.Outcome{hooks.PostToolUseFailure: {Context: []string{"elsewhere"}}}, "PreToolUse PostToolUseFailure", false, "mode.cautious.reads", "A hook of the user's says: elsewhere", 0, 1},
		{"arguments that are wrong", "cautious", "look", `{}`, pre(hooks.Outcome{Decision: hooks.Deny}), "PostToolUseFailure", false, "invalid_arguments", "path", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, l := newRig(t, c.mode), all(c.says)
			r.o.Hooks, r.person.answer = l, says(Answer{Allow: true, Typed: confirmWord})
			res := must(r.Call(t.Context(), Request{Name: c.tool, Arguments: json.RawMessage(c.args)}))
			if res.OK != c.ok || res.Decision.Rule != c.rule || !strings.Contains(res.Content, c.content) {
				t.Errorf("ok %v, %+v, %q; want %v, %s, %q", res.OK, res.Decision, res.Content, c.ok, c.rule, c.content)
			}
			if l.heard() != c.heard {
				t.Errorf("heard %s, want %s", l.heard(), c.heard)
			}
			if len(r.person.asked) != c.asks || int(r.ran.Load()) != c.ran {
				t.Errorf("asked %d times, ran %d times; want %d and %d", len(r.person.asked), r.ran.Load(), c.asks, c.ran)
			}
			for _, in := range l.told {
				if data := must(json.Marshal(in)); strings.Contains(string(data), "hunter2") {
					t.Errorf("a hook is told a secret: %s", data)
				}
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestHooksHear: which calls hooks hear of, and what they are told.
func TestHooksHear(t *testing.T) {
	r, l := newRig(t, "cautious"), all(nil)
	r.o.Hooks = l
	must(r.Call(t.Context(), Request{Name: "look", Arguments: json.RawMessage(`{"path":"secret"}`), CallID: "c1"}))
	in := l.told[len(l.told)-1]
	if in.Call != "c1" || in.Session != "default" || in.Mode != "default" || in.OurMode != "cautious" || in.ToolName != "look" || in.Response == nil || in.Response.Content != "password [REDACTED:known]\n" ||
		string(in.Response.Structured) != `{"text":"password [REDACTED:known]\n"}` {
		t.Errorf("told %+v, %+v", in, in.Response)
	}

	l.told = nil
	r.settings.Enabled = false
	must(r.Call(t.Context(), Request{Name: "look", Arguments: json.RawMessage(`{"path":"a.txt"}`)}))
	if l.heard() != "ToolsDisabled" || l.told[0].Dir == "" || l.told[0].Dir != in.Dir {
		t.Errorf("switched off: %s, in %q", l.heard(), l.told[0].Dir)
	}
	r.settings.Enabled = true

	l.told = nil
	must(r.Call(t.Context(), Request{Name: "look", Session: "nobody", Arguments: json.RawMessage(`{"path":"a.txt"}`)}))
	if l.heard() != "PostToolUseFailure" || l.told[0].Dir != in.Dir {
		t.Errorf("without a session: %s, in %q", l.heard(), l.told[0].Dir)
	}

	l.told = nil
	must(r.CallOver(t.Context(), Request{Name: "look", Arguments: json.RawMessage(`{"path":"a.txt"}`)}, r.live))
	own := tools.NewReadEdit(def("own"), func(context.Context, *tools.Call, struct{}) (tools.Result, []workspace.Change, error) {
		return tools.Result{}, nil, nil
	})
	must(r.CallOwn(t.Context(), own, "default", "line"))
	if l.heard() != "" {
		t.Errorf("what a person has run is told: %s", l.heard())
	}

	l.told = nil
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = r.Call(gone, Request{Name: "look", Arguments: json.RawMessage(`{"path":"a.txt"}`)})
	if strings.Contains(l.heard(), "Post") {
		t.Errorf("a call that was given up: %s", l.heard())
	}
	for mode, want := range map[string]string{"cautious": "default", "manual": "default", "audit": "acceptEdits", "plan": "plan", "autonomous": "bypassPermissions"} {
		if m, _ := policy.Lookup(mode); hooks.Mode(m) != want {
			t.Errorf("%s is %s, want %s", mode, hooks.Mode(m), want)
		}
	}
}

// TestHookVerdicts: the events of a call tell what was decided, once, whoever decided.
func TestHookVerdicts(t *testing.T) {
	for _, decision := range []string{hooks.Allow, hooks.Deny} {
		r := newRig(t, "cautious")
		r.o.Hooks = all(map[hooks.Event]hooks.Outcome{hooks.PermissionRequest: {Decision: decision, By: "here"}})
		var got []string
		r.bus.Subscribe(func(e events.Event) {
			if e.Permission != nil {
				got = append(got, fmt.Sprint(e.Type, " ", e.Outcome, " ", e.Rule))
			}
		})
		must(r.Call(t.Context(), Request{Name: "sh", Arguments: json.RawMessage(`{"line":"x"}`)}))
		if err := r.bus.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		rule := "hook." + decision
		if want := []string{"permissionRequested " + decision + " " + rule, "permissionResolved " + decision + " " + rule}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
