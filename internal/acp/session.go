package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"
)

// Session is a conversation with an agent.
type Session struct {
	ID     string
	Modes  *Modes         // as it began; later changes are updates
	Config []ConfigOption // as it began
	Raw    json.RawMessage

	conn         *Conn
	mu           sync.Mutex
	turn         chan struct{} // closed at the end of the prompt; nil when there is none
	cancelled    bool          // that prompt was
	asks         map[*request]bool
	terminals    map[string]Terminal // nil while one is started
	lastTerminal int
	closed       bool
}

func (c *Conn) newSession(id string) *Session {
	return &Session{ID: id, conn: c, asks: map[*request]bool{}, terminals: map[string]Terminal{}}
}

// began reads what the agent says of a session that begins.
func (s *Session) began(raw json.RawMessage) {
	var p struct {
		Modes         *Modes
		ConfigOptions []ConfigOption
	}
	if err := json.Unmarshal(raw, &p); err != nil && !isNull(raw) {
		s.conn.log.Warn("the modes or options of a session can't be read", "error", err)
	}
	s.Modes, s.Config, s.Raw = p.Modes, p.ConfigOptions, raw
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
	turn, err := s.begin(ctx)
	if err != nil {
		return Stopped{}, err
	}
	p, err := s.send(turn, blocks)
	if err != nil {
		return Stopped{}, wrap("session/prompt", err)
	}
	select {
	case err = <-p.reply:
	case <-ctx.Done():
		s.Cancel()
		return Stopped{}, ctx.Err()
	}
	if err != nil {
		return Stopped{}, wrap("session/prompt", err)
	}
	stopped := Stopped{Raw: p.value}
	if err := json.Unmarshal(p.value, &stopped); err != nil || stopped.Reason == "" {
		return stopped, fmt.Errorf("the agent ended its turn without a reason: %.200s", p.value)
	}
	return stopped, nil
}

// begin takes the turn. One that was cancelled is waited for.
func (s *Session) begin(ctx context.Context) (chan struct{}, error) {
	late := time.NewTimer(s.conn.opts.CancelTimeout)
	defer late.Stop()
	for {
		s.mu.Lock()
		before, cancelled := s.turn, s.cancelled
		if s.closed {
			s.mu.Unlock()
			return nil, cmp.Or(s.conn.Err(), errSessionClosed)
		}
		if before == nil {
			s.turn, s.cancelled = make(chan struct{}), false
			turn := s.turn
			s.mu.Unlock()
			return turn, nil
		}
		s.mu.Unlock()
		if !cancelled {
			return nil, ErrBusy
		}
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, fmt.Errorf("%w: it has not ended a prompt that was cancelled", ErrTimeout)
		}
	}
}

// send sends the prompt. A Cancel that comes meanwhile goes out after it, and
// not before, where it would be for nothing.
func (s *Session) send(turn chan struct{}, blocks []Content) (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := func() {
		s.turn = nil
		close(turn)
	}
	p, err := s.conn.start("session/prompt", map[string]any{"sessionId": s.ID, "prompt": list(blocks)}, func(json.RawMessage, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		over()
	})
	if err != nil {
		over()
		return nil, err
	}
	if s.cancelled {
		_ = s.sendCancel()
	}
	return p, nil
}

func (s *Session) sendCancel() error {
	return s.conn.send(nil, "session/cancel", map[string]string{"sessionId": s.ID})
}

// Cancel tells the agent to stop and answers all that it asks as cancelled. It
// doesn't wait: the prompt that is under way returns when the agent has stopped.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.asks {
		r.cancel(errTurnCancelled)
	}
	if s.turn != nil && !s.cancelled {
		s.cancelled = true
		_ = s.sendCancel()
	}
}

// ask says whether there is anybody to be asked. A turn that was cancelled asks
// nothing more.
func (s *Session) ask(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.turn != nil && s.cancelled {
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

// SetMode changes the mode of the session.
func (s *Session) SetMode(ctx context.Context, id string) error {
	return s.conn.Call(ctx, "session/set_mode", map[string]string{"sessionId": s.ID, "modeId": id}, nil)
}

// SetConfig changes a setting of the session to a string, or to a bool for a
// switch, and returns all of them.
func (s *Session) SetConfig(ctx context.Context, id string, value any) ([]ConfigOption, error) {
	p := map[string]any{"sessionId": s.ID, "configId": id, "value": value}
	if _, ok := value.(bool); ok {
		p["type"] = "boolean"
	}
	var got struct{ ConfigOptions []ConfigOption }
	err := s.conn.Call(ctx, "session/set_config_option", p, &got)
	return got.ConfigOptions, err
}

// Close ends the session here, and at the agent if it offers that.
func (s *Session) Close(ctx context.Context) error {
	s.Cancel()
	var err error
	if s.conn.Agent().Capabilities.Session.Close != nil {
		err = s.conn.Call(ctx, "session/close", map[string]string{"sessionId": s.ID}, nil)
	}
	s.conn.mu.Lock()
	if s.conn.sessions[s.ID] == s {
		delete(s.conn.sessions, s.ID)
	}
	s.conn.mu.Unlock()
	s.release()
	return err
}

// release gives back what the session holds.
func (s *Session) release() {
	s.mu.Lock()
	s.closed = true
	terminals := maps.Clone(s.terminals)
	clear(s.terminals)
	for r := range s.asks {
		r.cancel(errSessionClosed)
	}
	s.mu.Unlock()
	for _, t := range terminals {
		if t != nil {
			t.Release()
		}
	}
}

// releaseAll does so for all sessions, at the end of the connection.
func (c *Conn) releaseAll() {
	c.mu.Lock()
	sessions := maps.Clone(c.sessions)
	clear(c.sessions)
	c.mu.Unlock()
	for _, s := range sessions {
		s.release()
	}
}
