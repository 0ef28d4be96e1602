package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// turn is a prompt and what the agent does about it.
type turn struct {
	cancelled bool
	done      chan struct{}
	stopped   Stopped // this and err may be read after done
	err       error
}

// Prompt sends a message and waits for the end of the turn. While it waits the
// updates come to the host. When ctx ends the turn is cancelled, and what the
// agent still does is not waited for: the next Prompt waits for it.
func (s *Session) Prompt(ctx context.Context, blocks ...Content) (Stopped, error) {
	takes := s.conn.Agent().Capabilities.Prompt
	for _, b := range blocks {
		if err := takes.takes(b); err != nil {
			return Stopped{}, err
		}
	}
	t, err := s.begin(ctx)
	if err != nil {
		return Stopped{}, err
	}
	if err := s.send(t, blocks); err != nil {
		return Stopped{}, wrap("session/prompt", s.conn.own(err))
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		s.Cancel()
		return Stopped{}, ctx.Err()
	}
	if t.err != nil {
		return t.stopped, wrap("session/prompt", s.conn.own(t.err))
	}
	return t.stopped, nil
}

// begin takes the turn. One that was cancelled is waited for.
func (s *Session) begin(ctx context.Context) (*turn, error) {
	late := time.NewTimer(s.conn.opts.CancelTimeout)
	defer late.Stop()
	for {
		s.mu.Lock()
		before := s.turn
		if s.closed {
			s.mu.Unlock()
			return nil, cmp.Or(s.conn.Err(), errSessionClosed)
		}
		if before == nil {
			s.turn = &turn{done: make(chan struct{})}
			t := s.turn
			s.mu.Unlock()
			return t, nil
		}
		cancelled := before.cancelled
		s.mu.Unlock()
		if !cancelled {
			return nil, ErrBusy
		}
		select {
		case <-before.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, fmt.Errorf("%w: it has not ended a prompt that was cancelled", ErrTimeout)
		}
	}
}

// send sends the prompt. A Cancel that comes meanwhile goes out after it, and
// not before, where it would be for nothing.
func (s *Session) send(t *turn, blocks []Content) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.rpc.Start(s.conn.base, "session/prompt", map[string]any{"sessionId": s.ID, "prompt": list(blocks)}, func(raw json.RawMessage, err error) {
		s.answered(t, raw, err)
	})
	if err != nil {
		s.over(t, Stopped{}, err)
		return err
	}
	if t.cancelled {
		_ = s.sendCancel()
	}
	return nil
}

// hear tells the host an update.
func (s *Session) hear(raw json.RawMessage) {
	s.conn.world.Host.Update(s.conn.base, parseUpdate(s.ID, raw))
}

// answered ends the turn, with the answer to its prompt.
func (s *Session) answered(t *turn, raw json.RawMessage, err error) {
	var stopped Stopped
	if err == nil {
		stopped.Raw = raw
		if json.Unmarshal(raw, &stopped) != nil || stopped.Reason == "" {
			err = fmt.Errorf("the agent ended its turn without a reason: %.200s", raw)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over(t, stopped, err)
}

// over ends a turn, once. Session.mu is held.
func (s *Session) over(t *turn, stopped Stopped, err error) {
	if s.turn == t {
		s.turn, t.stopped, t.err = nil, stopped, err
		close(t.done)
	}
}

func (s *Session) sendCancel() error {
	return s.conn.Notify("session/cancel", map[string]string{"sessionId": s.ID})
}

// Cancel tells the agent to stop and answers all that it asks as cancelled. It
// doesn't wait: the prompt that is under way returns when the agent has stopped.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.asks {
		r.Cancel(errTurnCancelled)
	}
	if s.turn != nil && !s.turn.cancelled {
		s.turn.cancelled = true
		_ = s.sendCancel()
	}
}

// ask says whether there is anybody to be asked. A turn that was cancelled asks
// nothing more.
func (s *Session) ask(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.turn != nil && s.turn.cancelled {
		return false
	}
	s.asks[r] = true
	return true
}

func (s *Session) asked(r *request) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asks, r)
}
