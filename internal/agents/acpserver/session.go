package acpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// session is a run that the client has open.
type session struct {
	server *server
	run    *conversation.Run
	can    clientCan
	teller *teller
	base   context.Context // ends when the client has it open no more
	end    context.CancelFunc
	over   sync.WaitGroup // following

	mu    sync.Mutex
	turn  *turn                         // nil: no prompt is to be answered
	asks  map[string]context.CancelFunc // questions that the client is asked, by their keys
	asked *question                     // that the next prompt answers
	mine  map[string]bool               // prompts of the client, which it shows itself
}

// turn is a prompt, until it is answered.
type turn struct {
	item  string // of the run's queue
	heard bool   // the agent works on it
	ended chan ended
}

// ended is how a turn ended.
type ended struct {
	stop string
	err  error
}

func newSession(s *server, run *conversation.Run, can clientCan) *session {
	t := &session{server: s, run: run, can: can, asks: map[string]context.CancelFunc{}, mine: map[string]bool{}}
	t.base, t.end = context.WithCancel(s.base)
	t.teller = newTeller(can, s.o.Workspace, t.state)
	return t
}

// begin tells the client what happens from here on.
func (t *session) begin(since int64, p sessionParams) {
	if len(p.MCPServers) > 0 {
		var names []string
		for _, m := range p.MCPServers {
			names = append(names, m.Name)
		}
		t.tell(t.teller.note("mcp", "info", "The MCP servers of this client are not used here: "+strings.Join(names, ", ")+". Those of the settings are (sidecar.mcp.servers).")...)
	}
	for _, q := range t.run.Open() {
		t.ask(question{t.run, q})
	}
	if events, _, err := t.run.History(0, since+1, 0); err == nil {
		var commands []any // as they were told last
		for _, e := range events {
			t.attend(e)
			if e.Reason == acp.CommandsChanged && e.Raw != nil {
				commands = []any{e.Raw}
			}
		}
		t.tell(commands...)
	}
	t.over.Go(func() { t.follow(since) })
}

func (t *session) tell(updates ...any) {
	for _, u := range updates {
		_ = t.server.conn.Notify(t.base, "session/update", map[string]any{"sessionId": t.run.ID(), "update": u}) // who has gone needs none
	}
}

// replay tells what was said before the client came.
func (t *session) replay(events []conversation.Event) {
	for _, e := range events {
		t.tell(t.teller.updates(e, true)...)
	}
	t.teller.forget()
}

func (t *session) follow(since int64) {
	events := t.run.Subscribe(since)
	for {
		e, err := events.Next(t.base)
		if err != nil {
			t.lost(err)
			return
		}
		if !t.shown(e) {
			t.tell(t.teller.updates(e, false)...)
		}
		t.heed(e)
	}
}

// shown reports whether an event is a prompt that the client shows already.
func (t *session) shown(e conversation.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return (e.Kind == conversation.Text && e.Role == "user" || e.Kind == conversation.Steered) && t.mine[e.Message]
}

// heed does what follows from an event.
func (t *session) heed(e conversation.Event) {
	switch e.Kind {
	case conversation.Asked, conversation.Answered:
		t.question(question{t.run, e})
		return
	case conversation.Child:
		t.attend(e)
		return
	}
	if t.ofTurn(e) {
		t.run.Resume()
	}
}

// ofTurn finds out what an event means for the turn of the client, and reports whether
// its prompt would wait for ever: that of another client, which has gone, was stopped
// while this one waited behind it.
func (t *session) ofTurn(e conversation.Event) (waits bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn == nil {
		return false
	}
	switch e.Kind {
	case conversation.Text, conversation.Steered:
		t.turn.heard = t.turn.heard || e.Message == t.turn.item
	case conversation.QueueNow:
		waits := slices.ContainsFunc(e.Items, func(i conversation.Item) bool { return i.ID == t.turn.item })
		if !waits && !t.turn.heard { // somebody has withdrawn it
			t.finish(ended{stop: acp.StopCancelled})
		}
	case conversation.RunEnd:
		if !t.turn.heard {
			return e.Reason == conversation.Interrupted
		}
		t.finish(endOf(e))
	}
	return false
}

// endOf is the end of a turn.
func endOf(e conversation.Event) ended {
	switch e.Reason {
	case conversation.Interrupted:
		return ended{stop: acp.StopCancelled}
	case conversation.Refused:
		return ended{stop: acp.StopRefusal}
	case conversation.Budget:
		return ended{stop: acp.StopMaxTurnRequests}
	case conversation.Failed:
		return ended{err: acp.Errorf(acp.CodeInternal, "%s", e.Text)}
	}
	return ended{stop: acp.StopEndTurn} // a note has said why, if it is not that all is done
}

// finish ends the turn. t.mu is held.
func (t *session) finish(e ended) {
	if t.turn != nil {
		t.turn.ended <- e
		t.turn = nil
	}
}

// lost ends the turn of a run of which no more is heard.
func (t *session) lost(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, conversation.ErrEnded), errors.Is(err, context.Canceled): // it was deleted, or closed
		t.finish(ended{stop: acp.StopCancelled})
	default:
		t.finish(ended{err: fmt.Errorf("the conversation was cut off (%w); what was said is kept: load the session again", err)})
	}
}

func (t *session) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.turn != nil
}

// prompt has the agent hear a prompt, and returns what waits for the end of its turn.
func (s *server) prompt(ctx context.Context, params json.RawMessage) (func() (any, error), error) {
	t, err := s.session(params)
	if err != nil {
		return nil, err
	}
	p, err := read[struct{ Prompt []acp.Content }](params)
	if err != nil {
		return nil, err
	}
	item, err := itemOf(p.Prompt)
	if err != nil {
		return nil, err
	}
	now, err := t.start(item)
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		var e ended
		select {
		case e = <-now.ended:
		case <-ctx.Done():
			t.cancel()
			e = <-now.ended
		}
		if e.err != nil {
			return nil, e.err
		}
		return map[string]string{"stopReason": e.stop}, nil
	}, nil
}

// start begins a turn. What follows is told in events, which wait meanwhile.
func (t *session) start(item conversation.Item) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn != nil {
		return nil, acp.Errorf(acp.CodeInvalidRequest, "a prompt of this session is not over: wait for it or cancel it; %s tells the agent something meanwhile", steerMethod)
	}
	now := &turn{ended: make(chan ended, 1)}
	if q := t.asked; q != nil {
		if answer, ok := answerTo(&q.Event, item.Text); ok {
			t.asked = nil
			if err := q.run.Answer(q.Question, answer, byClient); err != nil {
				return nil, acp.Errorf(acp.CodeInvalidParams, "%s", err)
			}
			now.heard = true
			t.turn = now
			return now, nil
		}
		return nil, acp.Errorf(acp.CodeInvalidParams, "that is no answer to the question; use one of %s, or cancel", strings.Join(labels(&q.Event), ", "))
	}
	paused := t.run.Info().State == conversation.Paused
	id, err := t.run.Prompt(item, conversation.Queue)
	if err != nil {
		return nil, acp.Errorf(acp.CodeInvalidParams, "%s", err)
	}
	now.item, t.mine[id], t.turn = id, true, now
	if paused {
		t.run.Resume()
	}
	return now, nil
}

// cancel stops what the agent does, or takes back a prompt that waits.
func (t *session) cancel() {
	t.mu.Lock()
	if now := t.turn; now != nil && !now.heard && t.run.Withdraw(now.item) == nil {
		t.finish(ended{stop: acp.StopCancelled})
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	t.run.Cancel()
}

// leave ends what the client has of the session: its prompt is cancelled, the run stays.
func (t *session) leave() {
	if t.busy() {
		t.cancel()
	}
	t.end()
	t.over.Wait()
}

// steer tells an agent something that works.
func (s *server) steer(_ context.Context, params json.RawMessage) (any, error) {
	t, err := s.session(params)
	if err != nil {
		return nil, err
	}
	p, err := read[struct {
		Text   string
		Prompt []acp.Content
	}](params)
	if err != nil {
		return nil, err
	}
	if p.Text != "" {
		p.Prompt = append(p.Prompt, acp.Text(p.Text))
	}
	item, err := itemOf(p.Prompt)
	if err != nil {
		return nil, err
	}
	t.mu.Lock() // what is told of it waits
	defer t.mu.Unlock()
	if t.turn == nil {
		return nil, acp.Errorf(acp.CodeInvalidRequest, "no prompt of this session is under way: send session/prompt")
	}
	id, err := t.run.Prompt(item, conversation.Steer)
	if err != nil {
		return nil, acp.Errorf(acp.CodeInvalidParams, "%s", err)
	}
	t.mine[id] = true
	return map[string]string{"item": id}, nil
}
