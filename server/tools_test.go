package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// callParams are those of a call with a progress token, whose id is named.
func callParams(token string, id ...string) lsp.ExecuteCommandParams {
	return lsp.ExecuteCommandParams{
		Command: "sidecar.tools.call", WorkDoneToken: lsp.ProgressToken(token),
		Arguments: []json.RawMessage{[]byte(`{"name":"run_command","arguments":{"command":"make"},"session":"s1","callId":"` + strings.Join(append(id, "c1")[:1], "") + `"}`)},
	}
}

func TestCallTool(t *testing.T) {
	w := newWorld(t, setup{})
	w.tools.call = func(_ context.Context, r dispatch.Request) (*dispatch.Result, error) {
		if r.Name != "run_command" || string(r.Arguments) != `{"command":"make"}` || r.Session != "s1" || r.CallID != "c1" {
			t.Errorf("request %+v", r)
		}
		return &dispatch.Result{CallID: r.CallID, Tool: r.Name, Error: &dispatch.Failure{Code: tools.NotFound, Message: "no"}}, nil
	}
	var got map[string]any
	w.must(w.Call(w.ctx, "workspace/executeCommand", callParams(""), &got))
	want := object{
		"callId": "c1", "tool": "run_command", "ok": false, "content": "", "error": object{"code": "not_found", "message": "no"},
		"decision": object{"outcome": "", "by": ""}, "durationMs": 0.0, "approvalMs": 0.0, "attempts": 0.0,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := w.Call(w.ctx, "workspace/executeCommand", callParams(""), nil); code(err) != lsp.InvalidParams || !strings.Contains(err.Error(), `had "c1"`) {
		t.Errorf("a second call of the same id: %v", err)
	}
	if n := len(w.Record().Progress); n != 0 {
		t.Errorf("%d progresses for a short call", n)
	}
	if got := run[dispatch.Explanation](w, "sidecar.policy.explain", object{"name": "grep", "arguments": object{}}); got.Decision != "ask" || got.Rule != "grep" {
		t.Errorf("explained %+v", got)
	}
	if got := run[commands.MetricsResult](w, "sidecar.tools.metrics", nil); got.Tools["grep"].OK != 1 {
		t.Errorf("metrics %+v", got)
	}
	if got := run[object](w, "sidecar.tools.list", nil); cmp.Diff(object{"tools": []any{}}, got) != "" {
		t.Errorf("tools %+v", got)
	}
	err := w.ExecuteCommand(w.ctx, "sidecar.tools.read", object{"cursor": "x.1"}, nil)
	if code(err) != lsp.RequestFailed || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired cursor: %v", err)
	}
}

func TestProgress(t *testing.T) {
	for _, token := range []string{`"t1"`, `7`} {
		w := newWorld(t, setup{})
		step := make(chan bool)
		w.tools.call = func(_ context.Context, r dispatch.Request) (*dispatch.Result, error) {
			r.Emit("compiling\n")
			<-step
			r.Emit("linking 😀\n")
			return &dispatch.Result{OK: true}, nil
		}
		call, err := w.Start(w.ctx, "workspace/executeCommand", callParams(token))
		w.must(err)
		var got []lsp.WorkDoneProgress
		w.await("output", func(r *fakeeditor.Record) bool { return len(r.Progress[lsp.ProgressToken(token)]) == 2 })
		close(step)
		w.must(call.Wait(w.ctx, nil))
		got = w.Record().Progress[lsp.ProgressToken(token)]
		want := []lsp.WorkDoneProgress{
			{Kind: "begin", Title: "run_command", Cancellable: true}, {Kind: "report", Message: "compiling\n"},
			{Kind: "report", Message: "linking 😀\n"}, {Kind: "end"},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", token, d)
		}
		if w.server.progress.Running() != 0 {
			t.Error("the token is kept")
		}
	}
}

// A call that takes long is shown also when the client did not ask for it.
func TestOwnProgress(t *testing.T) {
	w := newWorld(t, setup{})
	w.tools.call = func(ctx context.Context, r dispatch.Request) (*dispatch.Result, error) {
		<-ctx.Done()
		return &dispatch.Result{}, ctx.Err()
	}
	call, err := w.Start(w.ctx, "workspace/executeCommand", callParams(""))
	w.must(err)
	var token lsp.ProgressToken
	w.await("progress", func(r *fakeeditor.Record) bool {
		for token = range r.Progress {
			return true
		}
		return false
	})
	w.must(w.Notify(w.ctx, "window/workDoneProgress/cancel", lsp.WorkDoneProgressCancelParams{Token: token}))
	if err := call.Wait(w.ctx, nil); code(err) != lsp.RequestCancelled {
		t.Errorf("got %v", err)
	}
	if p := w.Record().Progress[token]; len(p) != 2 || p[1].Kind != lsp.ProgressEnd {
		t.Errorf("progress %+v", p)
	}
}

func TestCancel(t *testing.T) {
	w := newWorld(t, setup{})
	started, ended := make(chan bool), make(chan bool, 1)
	w.tools.call = func(ctx context.Context, r dispatch.Request) (*dispatch.Result, error) {
		started <- true
		<-ctx.Done()
		ended <- true
		return &dispatch.Result{}, ctx.Err()
	}
	for _, c := range []struct {
		name   string
		token  string
		cancel func(*lsp.Pending) error
	}{
		{"the request", "", func(p *lsp.Pending) error { return p.Cancel() }},
		{"the progress", `"t1"`, func(*lsp.Pending) error {
			return w.Notify(w.ctx, "window/workDoneProgress/cancel", lsp.WorkDoneProgressCancelParams{Token: `"t1"`})
		}},
	} {
		call, err := w.Start(w.ctx, "workspace/executeCommand", callParams(c.token, c.name))
		w.must(err)
		take(w, started)
		w.must(w.Notify(w.ctx, "window/workDoneProgress/cancel", object{"token": "another"}))
		w.must(w.Notify(w.ctx, "window/workDoneProgress/cancel", object{"token": object{}}))
		w.must(c.cancel(call))
		take(w, ended)
		if err := call.Wait(w.ctx, nil); code(err) != lsp.RequestCancelled {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	call, err := w.Start(w.ctx, "workspace/executeCommand", callParams("", "the last"))
	w.must(err)
	take(w, started)
	w.Hangup()
	take(w, ended)
	if err := call.Wait(w.ctx, nil); err == nil {
		t.Error("a call of a client that is gone was answered")
	}
}

// A crash in a handler costs its request only.
func TestCrash(t *testing.T) {
	w := newWorld(t, setup{})
	w.tools.call = func(context.Context, dispatch.Request) (*dispatch.Result, error) { panic("boom") }
	err := w.Call(w.ctx, "workspace/executeCommand", callParams(""), nil)
	if code(err) != lsp.InternalError || strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
	w.sync()
}
