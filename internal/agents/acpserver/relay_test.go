package acpserver

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// relayed is a client behind a relay, which finds who serves by dialed.
func relayed(t *testing.T, dial func() net.Conn) (p *peer, ended chan error, leave func()) {
	t.Helper()
	fromClient, toRelay := io.Pipe()
	fromRelay, toClient := io.Pipe()
	r := &Relay{Version: "1", Dial: func(context.Context, string, []string) (io.ReadWriteCloser, error) { return dial(), nil }}
	ended = make(chan error, 1)
	go func() {
		ended <- r.Serve(context.Background(), fromClient, toClient)
		_ = toClient.Close()
	}()
	leave = func() { _ = toRelay.Close() }
	t.Cleanup(leave)
	return newPeer(t, fromRelay, toRelay), ended, leave
}

// TestRelay: when who serves ends, what is open is told so, and the next prompt goes on
// where another one serves.
func TestRelay(t *testing.T) {
	h := newHost(t)
	var conns []net.Conn
	p, ended, leave := relayed(t, func() net.Conn {
		conns = append(conns, h.serve())
		return conns[len(conns)-1]
	})
	id := p.open(h.dir, object{})
	if len(conns) != 1 {
		t.Fatalf("%d were dialed", len(conns))
	}
	begun := make(chan bool)
	h.do <- func(ctx context.Context, _ *conversation.Run, _ []conversation.Item) (string, error) {
		close(begun)
		<-ctx.Done()
		return "", ctx.Err()
	}
	p.send(1, "session/prompt", prompt(id, "work"))
	<-begun
	_ = conns[0].Close()
	if m := p.next(); m["id"] != 1.0 || m["error"] == nil || !strings.Contains(m["error"].(object)["message"].(string), "prompt again") {
		t.Errorf("the prompt ended with %v", m)
	}
	h.do <- func(_ context.Context, r *conversation.Run, items []conversation.Item) (string, error) {
		return "", r.Emit(conversation.Event{Kind: conversation.Text, Role: "assistant", Message: "a", Text: "heard " + items[0].Text})
	}
	if got := p.ask("session/prompt", prompt(id, "more"))["stopReason"]; got != "end_turn" {
		t.Errorf("it stopped for %v", got)
	}
	if told := inShort(t, p.raw); len(conns) != 2 || !strings.Contains(told, "heard more") {
		t.Errorf("%d were dialed, and told\n%s", len(conns), told)
	}

	// A session that was deleted meanwhile is not open any more.
	run, err := h.store.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	_ = conns[1].Close()
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	for {
		p.send(2, "session/prompt", prompt(id, "more"))
		m := p.next()
		why := m["error"].(object)["message"].(string)
		if strings.Contains(why, "has ended") { // its end was not seen yet
			continue
		}
		if !strings.Contains(why, "no session") {
			t.Errorf("it says %q", why)
		}
		break
	}
	leave()
	if err := gone(t, ended); err != nil {
		t.Error(err)
	}
}

// TestQuestionFromElsewhere: an answer that comes from elsewhere takes the client's
// permission back.
func TestQuestionFromElsewhere(t *testing.T) {
	h := newHost(t)
	conn := h.serve()
	p := newPeer(t, conn, conn)
	id := p.open(h.dir, object{})
	got := make(chan string, 1)
	h.do <- func(ctx context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
		answer, by, err := r.Ask(ctx, conversation.Question{Text: "May I?", Options: []conversation.Option{{ID: "yes", Label: "Yes", Kind: "allow_once"}}})
		got <- answer + " by " + by
		return "", err
	}
	p.send(1, "session/prompt", prompt(id, "go"))
	q := p.next()
	if q["method"] != "session/request_permission" {
		t.Fatalf("it asks %v", q)
	}
	run, err := h.store.Get(id)
	if err == nil {
		err = run.Answer(run.Open()[0].Question, "yes", "editor")
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for range 2 { // in no particular order
		m := p.next()
		seen[m["method"]] = true
		if m["method"] == "$/cancel_request" && m["params"].(object)["requestId"] != q["id"] {
			t.Errorf("it takes back %v, not %v", m, q["id"])
		}
	}
	if !seen["$/cancel_request"] || !seen[nil] {
		t.Errorf("it says %v", seen)
	}
	if a := <-got; a != "yes by editor" {
		t.Errorf("the answer is %s", a)
	}
	p.line(object{"jsonrpc": "2.0", "id": q["id"], "result": object{"outcome": object{"outcome": "selected", "optionId": "yes"}}}) // too late, and harmless

	// A client that can't ask is told in words, and the next prompt answers.
	h.do <- func(ctx context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
		answer, by, err := r.Ask(ctx, conversation.Question{Text: "May I?", Options: []conversation.Option{{ID: "yes", Label: "Yes", Kind: "allow_once"}}})
		got <- answer + " by " + by
		return "", err
	}
	p.send(2, "session/prompt", prompt(id, "go"))
	q = p.next()
	p.line(object{"jsonrpc": "2.0", "id": q["id"], "error": object{"code": -32601, "message": "no"}})
	if m := p.next(); m["id"] != 2.0 || m["error"] != nil {
		t.Errorf("the turn ends with %v", m)
	}
	p.send(3, "session/prompt", prompt(id, "maybe"))
	if m := p.next(); m["error"] == nil {
		t.Errorf("it takes %v", m)
	}
	if end := p.ask("session/prompt", prompt(id, "yes")); end["stopReason"] != "end_turn" {
		t.Errorf("the turn ends with %v", end)
	}
	if a := <-got; a != "yes by acp" {
		t.Errorf("the answer is %s", a)
	}
}

// TestClientThatDoesNotRead: one that goes away while it is told something holds nothing up.
func TestClientThatDoesNotRead(t *testing.T) {
	h := newHost(t)
	ours, theirs := net.Pipe()
	over := make(chan error, 1)
	go func() { over <- Serve(context.Background(), ours, Options{Agents: h, Workspace: h, Version: "1"}) }()
	p := newPeer(t, theirs, theirs)
	id := p.open(h.dir, object{})
	told := make(chan bool)
	h.do <- func(ctx context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
		for range 1000 {
			if err := r.Emit(conversation.Event{Kind: conversation.Text, Role: "assistant", Message: "a", Delta: "more "}); err != nil {
				return "", err
			}
		}
		close(told)
		<-ctx.Done()
		return "", ctx.Err()
	}
	p.send(1, "session/prompt", prompt(id, "go"))
	<-told
	_ = theirs.Close()
	_ = gone(t, over)
	run, err := h.store.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	if i := run.Info(); i.State != conversation.Idle {
		t.Errorf("the run is %s", i.State)
	}
}

// TestQuestionOfSubAgent: what a sub-agent asks is asked in the session of its caller.
func TestQuestionOfSubAgent(t *testing.T) {
	h := newHost(t)
	conn := h.serve()
	p := newPeer(t, conn, conn)
	id := p.open(h.dir, object{})
	got := make(chan string, 1)
	h.do <- func(ctx context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
		child, err := h.store.Start(conversation.Spec{Agent: "builtin", Session: "s2", Parent: r.ID()})
		if err != nil {
			return "", err
		}
		child.Attach(&driver{do: h.do, run: child})
		if err := r.Emit(conversation.Event{Kind: conversation.Child, Child: child.ID()}); err != nil {
			return "", err
		}
		h.do <- func(ctx context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
			answer, _, err := r.Ask(ctx, conversation.Question{Text: "May I?", Call: &conversation.Call{ID: "c1"}, Options: []conversation.Option{{ID: "yes", Label: "Yes", Kind: "allow_once"}}})
			got <- answer
			return "", err
		}
		_, err = child.Prompt(conversation.Item{Text: "help"}, conversation.Queue)
		<-ctx.Done()
		return "", err
	}
	p.send(1, "session/prompt", prompt(id, "go"))
	q := p.next()
	params, _ := q["params"].(object)
	if q["method"] != "session/request_permission" || params["sessionId"] != id || params["toolCall"].(object)["toolCallId"] == "c1" {
		t.Fatalf("it asks %v", q)
	}
	p.line(object{"jsonrpc": "2.0", "id": q["id"], "result": object{"outcome": object{"outcome": "selected", "optionId": "yes"}}})
	if a := <-got; a != "yes" {
		t.Errorf("the answer is %s", a)
	}
	p.send(nil, "session/cancel", object{"sessionId": id})
	if m := p.next(); m["error"] != nil || m["result"].(object)["stopReason"] != "cancelled" {
		t.Errorf("the prompt ended with %v", m)
	}
}

// TestClientLeavesWhileAsked: a client that goes away is none that can't be asked. Its
// prompt is over, and the log has no more of it.
func TestClientLeavesWhileAsked(t *testing.T) {
	h := newHost(t)
	ours, theirs := net.Pipe()
	var log bytes.Buffer
	over := make(chan error, 1)
	go func() {
		over <- Serve(context.Background(), ours, Options{Agents: h, Workspace: h, Version: "1", Log: slog.New(slog.NewTextHandler(&log, nil))})
	}()
	p := newPeer(t, theirs, theirs)
	id := p.open(h.dir, object{})
	asked := make(chan error, 1)
	h.do <- func(ctx context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
		_, _, err := r.Ask(ctx, conversation.Question{Text: "May I?", Options: []conversation.Option{{ID: "yes", Label: "Yes", Kind: "allow_once"}}})
		asked <- err
		return "", err
	}
	p.send(1, "session/prompt", prompt(id, "go"))
	if q := p.next(); q["method"] != "session/request_permission" {
		t.Fatalf("it asks %v", q)
	}
	_ = theirs.Close()
	_ = gone(t, over)
	if err := gone(t, asked); err == nil {
		t.Error("somebody has answered")
	}
	if strings.Contains(log.String(), "does not ask") {
		t.Errorf("the log says %s", log.String())
	}
}
