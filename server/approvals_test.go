package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

type outcome struct {
	answer dispatch.Answer
	err    error
}

func question(id string) dispatch.Ask {
	return dispatch.Ask{
		ID: id, CallID: "c1", Session: "default", Tool: "run_command", Title: "Run a command: make", Detail: "make -j2\nin .",
		Arguments: json.RawMessage(`{"command":"make"}`), Hash: "h", Expires: time.Now().Add(time.Hour),
	}
}

// ask puts a question as the dispatcher does, and returns when it is open.
func (w *world) ask(ctx context.Context, q dispatch.Ask) <-chan outcome {
	w.t.Helper()
	done := make(chan outcome, 1)
	questions := func(r *fakeeditor.Record) (n int) {
		for _, m := range r.Requests {
			if m.Method == "window/showMessageRequest" || m.Method == "sidecar/approve" {
				n++
			}
		}
		return n
	}
	record := w.Record()
	asked := questions(&record)
	go func() {
		answer, err := w.approver.Approve(ctx, q)
		done <- outcome{answer, err}
	}()
	w.await("the question", func(r *fakeeditor.Record) bool { return questions(r) > asked })
	return done
}

// hold makes the editor leave questions open, as a person who thinks.
func (w *world) hold(method string) {
	w.Answer(method, func(ctx context.Context, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, lsp.Errorf(lsp.RequestCancelled, "cancelled")
	})
}

func TestApproveByMessage(t *testing.T) {
	for _, c := range []struct {
		name          string
		irrecoverable bool
		once          bool // the answer can't hold for the session
		choose        string
		buttons       []string
		want          dispatch.Answer
	}{
		{"allow", false, false, "Allow", []string{"Allow", "Allow for session", "Deny"}, dispatch.Answer{Allow: true, Scope: dispatch.Once}},
		{"session", false, false, "Allow for session", []string{"Allow", "Allow for session", "Deny"}, dispatch.Answer{Allow: true, Scope: dispatch.ForSession}},
		{"deny", false, false, "Deny", []string{"Allow", "Allow for session", "Deny"}, dispatch.Answer{Scope: dispatch.Once}},
		{"dismissed", false, false, "", []string{"Allow", "Allow for session", "Deny"}, dispatch.Answer{Reason: client.ErrDismissed.Error()}},
		{"irrecoverable", true, true, "Run irrecoverable command", []string{"Run irrecoverable command", "Deny"}, dispatch.Answer{Allow: true, Scope: dispatch.Once, Typed: "CONFIRM"}},
		{"irrecoverable denied", true, true, "Deny", []string{"Run irrecoverable command", "Deny"}, dispatch.Answer{Scope: dispatch.Once}},
		{"asked every time", false, true, "Allow for session", []string{"Allow", "Allow for session", "Deny"}, dispatch.Answer{Allow: true, Scope: dispatch.ForSession}},
	} {
		w := newWorld(t, setup{})
		w.Choose(c.choose)
		q := question("q1")
		q.Irrecoverable, q.Rememberable = c.irrecoverable, !c.once
		got := take(w, w.ask(w.ctx, q))
		if d := cmp.Diff(c.want, got.answer); d != "" || got.err != nil {
			t.Errorf("%s: %v %s", c.name, got.err, d)
		}
		for _, m := range w.Record().Requests {
			var p lsp.ShowMessageRequestParams
			if m.Method != "window/showMessageRequest" || json.Unmarshal(m.Params, &p) != nil {
				continue
			}
			var buttons []string
			for _, a := range p.Actions {
				buttons = append(buttons, a.Title)
			}
			message := "Run a command: make\nmake -j2\nin ."
			if c.once && !c.irrecoverable {
				message += "\n(This is asked every time: Allow for session allows it once.)"
			}
			if d := cmp.Diff(c.buttons, buttons); d != "" || p.Message != message {
				t.Errorf("%s: %q %s", c.name, p.Message, d)
			}
		}
		if n := len(run[commands.ApprovalList](w, "sidecar.approval.list", nil).Approvals); n != 0 {
			t.Errorf("%s: %d approvals are still open", c.name, n)
		}
	}
}

// A pattern is shown and offered by each way to ask, where there is one.
func TestApprovePattern(t *testing.T) {
	own := fakeeditor.Usual()
	own.Experimental.Sidecar.Approve = true
	for name, c := range map[string]struct {
		capabilities *lsp.ClientCapabilities
		method       string
		pattern      string
		reply        any
		shown        string // in what the editor is sent, if there is a pattern
		want         dispatch.Scope
	}{
		"by message":                 {fakeeditor.Usual(), "window/showMessageRequest", "go test *", object{"title": "Allow `go test *` for this session"}, "Allow `go test *` for this session", dispatch.Pattern},
		"by message, once":           {fakeeditor.Usual(), "window/showMessageRequest", "go test *", object{"title": "Allow"}, "Allow `go test *` for this session", dispatch.Once},
		"by message, without":        {fakeeditor.Usual(), "window/showMessageRequest", "", object{"title": "Allow"}, "this session", dispatch.Once},
		"by a dialog of its own":     {own, "sidecar/approve", "go test *", object{"outcome": "allow", "scope": "pattern"}, `"pattern":"go test *"`, dispatch.Pattern},
		"by its own dialog, without": {own, "sidecar/approve", "", object{"outcome": "allow"}, `"pattern"`, dispatch.Once},
	} {
		w := newWorld(t, setup{capabilities: c.capabilities})
		w.Answer(c.method, func(_ context.Context, params json.RawMessage) (any, error) {
			if got := strings.Contains(string(params), c.shown); got != (c.pattern != "") {
				t.Errorf("%s: the editor is sent %s", name, params)
			}
			return c.reply, nil
		})
		q := question("q1")
		q.Rememberable = true
		q.Pattern = c.pattern
		got, err := w.approver.Approve(w.ctx, q)
		if err != nil || !got.Allow || got.Scope != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	w := newWorld(t, setup{})
	w.hold("window/showMessageRequest")
	done := make(chan outcome, 1)
	go func() {
		q := question("q1")
		q.Pattern = "go test *"
		answer, err := w.approver.Approve(w.ctx, q)
		done <- outcome{answer, err}
	}()
	w.await("the question", func(r *fakeeditor.Record) bool {
		return slices.ContainsFunc(r.Requests, func(m fakeeditor.Message) bool { return m.Method == "window/showMessageRequest" })
	})
	if list := run[commands.ApprovalList](w, "sidecar.approval.list", nil).Approvals; len(list) != 1 || list[0].Pattern != "go test *" {
		t.Errorf("by command: %+v", list)
	}
	run[object](w, "sidecar.approval.answer", object{"id": "q1", "outcome": "allow", "scope": "pattern"})
	if got := take(w, done); !got.answer.Allow || got.answer.Scope != dispatch.Pattern {
		t.Errorf("by command: %+v", got)
	}

	w = newWorld(t, setup{})
	w.Answer("window/showMessageRequest", func(context.Context, json.RawMessage) (any, error) {
		return object{"title": "Allow `` for this session"}, nil
	})
	if got := take(w, w.ask(w.ctx, question("q1"))); got.answer.Allow {
		t.Errorf("an empty pattern: %+v", got)
	}
}

// An editor that answers what it was not asked does not allow anything.
func TestApproveStrangeAnswers(t *testing.T) {
	for _, answer := range []any{object{"title": "Sure"}, object{}, true, "Allow", []any{}} {
		w := newWorld(t, setup{})
		w.Answer("window/showMessageRequest", func(context.Context, json.RawMessage) (any, error) { return answer, nil })
		if got := take(w, w.ask(w.ctx, question("q1"))); got.answer.Allow {
			t.Errorf("%v: %+v", answer, got)
		}
	}
	w := newWorld(t, setup{})
	w.Answer("window/showMessageRequest", func(context.Context, json.RawMessage) (any, error) {
		return nil, lsp.Errorf(lsp.InternalError, "the dialog crashed")
	})
	if got := take(w, w.ask(w.ctx, question("q1"))); got.answer.Allow || got.err == nil || !strings.Contains(got.err.Error(), "the dialog crashed") {
		t.Errorf("an error: %+v", got)
	}
}

func TestApproveByDialog(t *testing.T) {
	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar.Approve = true
	for _, c := range []struct {
		name          string
		irrecoverable bool
		reply         any
		want          dispatch.Answer
	}{
		{"allow", false, object{"outcome": "allow"}, dispatch.Answer{Allow: true, Scope: dispatch.Once}},
		{"pattern", false, object{"outcome": "allow", "scope": "pattern", "reason": "fine"}, dispatch.Answer{Allow: true, Scope: dispatch.Pattern, Reason: "fine"}},
		{"deny", false, object{"outcome": "deny", "reason": "use make"}, dispatch.Answer{Scope: dispatch.Once, Reason: "use make"}},
		{"null", false, nil, dispatch.Answer{Reason: client.ErrDismissed.Error()}},
		{"typed", true, object{"outcome": "allow", "typed": "CONFIRM", "scope": "session"}, dispatch.Answer{Allow: true, Scope: dispatch.Once, Typed: "CONFIRM"}},
		{"not typed", true, object{"outcome": "allow"}, dispatch.Answer{Reason: "typed: this can't be undone; the word CONFIRM is expected"}},
		{"typed wrongly", true, object{"outcome": "allow", "typed": "confirm"}, dispatch.Answer{Reason: "typed: this can't be undone; the word CONFIRM is expected"}},
		{"unheard of", false, object{"outcome": "maybe"}, dispatch.Answer{Reason: "outcome: allow or deny is expected"}},
		{"empty", false, object{}, dispatch.Answer{Reason: "outcome: allow or deny is expected"}},
	} {
		w := newWorld(t, setup{capabilities: caps})
		w.Answer("sidecar/approve", func(_ context.Context, params json.RawMessage) (any, error) {
			var p struct {
				Detail                      string
				Arguments                   json.RawMessage
				Irrecoverable, Rememberable bool
			}
			if err := json.Unmarshal(params, &p); err != nil || p.Detail != "make -j2\nin ." || string(p.Arguments) != `{"command":"make"}` || p.Irrecoverable != c.irrecoverable || p.Rememberable == c.irrecoverable {
				t.Errorf("%s: asked %s", c.name, params)
			}
			return c.reply, nil
		})
		q := question("q1")
		q.Irrecoverable, q.Rememberable = c.irrecoverable, !c.irrecoverable
		got := take(w, w.ask(w.ctx, q))
		if d := cmp.Diff(c.want, got.answer); d != "" || got.err != nil {
			t.Errorf("%s: %v %s", c.name, got.err, d)
		}
	}
}

// Helix has no window/showMessageRequest, and says so only when asked.
func TestApproveByHand(t *testing.T) {
	w := newWorld(t, setup{})
	w.Lacks("window/showMessageRequest")
	told := func(n int) {
		w.await("the message", func(r *fakeeditor.Record) bool { return r.Count("window/showMessage") == n })
	}
	done := w.ask(w.ctx, question("q1"))
	told(1)
	list := run[commands.ApprovalList](w, "sidecar.approval.list", nil).Approvals
	if len(list) != 1 || list[0].ID != "q1" || list[0].Tool != "run_command" || list[0].ExpiresAt.IsZero() {
		t.Fatalf("approvals %+v", list)
	}
	run[object](w, "sidecar.approval.answer", object{"id": "q1", "outcome": "allow", "scope": "session"})
	if got := take(w, done); got.err != nil || !got.answer.Allow || got.answer.Scope != dispatch.ForSession {
		t.Errorf("got %+v", got)
	}
	if err := w.ExecuteCommand(w.ctx, "sidecar.approval.answer", object{"id": "q1", "outcome": "allow"}, nil); code(err) != lsp.InvalidParams {
		t.Errorf("answered twice: %v", err)
	}

	done = w.ask(w.ctx, question("q2"))
	told(2)
	w.choose(w.actions("file:///x", span(0, 0, 0, 0)), "Deny: Run a command: make")
	if got := take(w, done); got.err != nil || got.answer.Allow {
		t.Errorf("got %+v", got)
	}

	dangerous := question("q3")
	dangerous.Irrecoverable = true
	done = w.ask(w.ctx, dangerous)
	told(3)
	other := w.ask(w.ctx, question("q4"))
	told(4)
	if err := w.ExecuteCommand(w.ctx, "sidecar.approval.allowOldest", nil, nil); code(err) != lsp.InvalidParams || !strings.Contains(err.Error(), "CONFIRM") {
		t.Errorf("allowed without the word: %v", err)
	}
	if err := w.ExecuteCommand(w.ctx, "sidecar.approval.answer", object{"id": "q3", "outcome": "allow", "typed": "yes"}, nil); code(err) != lsp.InvalidParams {
		t.Errorf("allowed with another word: %v", err)
	}
	w.choose(w.actions("file:///x", span(0, 0, 0, 0)), "Run irrecoverable command: Run a command: make")
	if got := take(w, done); !got.answer.Allow || got.answer.Typed != "CONFIRM" {
		t.Errorf("got %+v", got)
	}
	run[object](w, "sidecar.approval.denyOldest", nil)
	if got := take(w, other); got.err != nil || got.answer.Allow {
		t.Errorf("got %+v", got)
	}
	if a := w.actions("file:///x", span(0, 0, 0, 0)); len(a) != 0 {
		t.Errorf("still on offer: %+v", a)
	}
}

// The first answer wins, wherever it comes from; the other way is closed.
func TestApproveFirstAnswerWins(t *testing.T) {
	w := newWorld(t, setup{})
	closed := make(chan bool, 1)
	w.Answer("window/showMessageRequest", func(ctx context.Context, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		closed <- true
		return lsp.MessageActionItem{Title: "Allow"}, nil // too late
	})
	done := w.ask(w.ctx, question("q1"))
	run[object](w, "sidecar.approval.denyOldest", nil)
	if got := take(w, done); got.err != nil || got.answer.Allow {
		t.Errorf("got %+v", got)
	}
	take(w, closed)
}

func TestApproveEnds(t *testing.T) {
	w := newWorld(t, setup{})
	w.hold("window/showMessageRequest")
	ctx, cancel := context.WithCancel(w.ctx)
	done := w.ask(ctx, question("q1"))
	cancel()
	if got := take(w, done); !errors.Is(got.err, context.Canceled) {
		t.Errorf("cancelled: %+v", got)
	}
	late := question("q2")
	late.Expires = time.Now().Add(-time.Second)
	if answer, err := w.approver.Approve(w.ctx, late); err == nil || answer.Allow {
		t.Errorf("expired: %+v %v", answer, err)
	}
	if n := len(run[commands.ApprovalList](w, "sidecar.approval.list", nil).Approvals); n != 0 {
		t.Errorf("%d approvals are still open", n)
	}
	done = w.ask(w.ctx, question("q3"))
	w.Hangup()
	if got := take(w, done); got.err == nil || got.answer.Allow {
		t.Errorf("client gone: %+v", got)
	}
}

func TestPeople(t *testing.T) {
	options := []string{"red", "blue"}
	w := newWorld(t, setup{})
	w.Choose("blue", "")
	if answer, ok, err := w.people.Ask(w.ctx, "Which?", options, true); answer != "blue" || !ok || err != nil {
		t.Errorf("chosen: %q %v %v", answer, ok, err)
	}
	if _, ok, err := w.people.Ask(w.ctx, "Which?", options, true); ok || err != nil {
		t.Errorf("dismissed: %v %v", ok, err)
	}
	if _, _, err := w.people.Ask(w.ctx, "What?", nil, true); !errors.Is(err, client.ErrNobody) {
		t.Errorf("nothing to choose: %v", err)
	}
	w.Lacks("window/showMessageRequest")
	if _, _, err := w.people.Ask(w.ctx, "Which?", options, true); !errors.Is(err, client.ErrNobody) {
		t.Errorf("no such request: %v", err)
	}

	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar.Ask = true
	w = newWorld(t, setup{capabilities: caps})
	for _, c := range []struct {
		reply  any
		custom bool
		want   string
		ok     bool
	}{
		{object{"answer": "red"}, false, "red", true},
		{object{"answer": "green"}, true, "green", true},
		{object{"answer": "green"}, false, "", false},
		{nil, true, "", false},
	} {
		w.Answer("sidecar/ask", func(context.Context, json.RawMessage) (any, error) { return c.reply, nil })
		if answer, ok, err := w.people.Ask(w.ctx, "Which?", options, c.custom); answer != c.want || ok != c.ok || err != nil {
			t.Errorf("%v: %q %v %v", c.reply, answer, ok, err)
		}
	}
}
