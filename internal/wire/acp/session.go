package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// Session is a conversation with an agent.
type Session struct {
	ID     string
	Modes  *Modes         // as it began; later changes are updates
	Config []ConfigOption // as it began
	Raw    json.RawMessage

	conn         *Conn
	mu           sync.Mutex
	turn         *turn // nil when there is none
	asks         map[*request]bool
	terminals    map[string]Terminal // nil while one is started
	lastTerminal int
	closed       bool
}

func newSession(c *Conn, id string) *Session {
	return &Session{ID: id, conn: c, asks: map[*request]bool{}, terminals: map[string]Terminal{}}
}

// began reads what the agent says of a session that begins.
func (s *Session) began(raw json.RawMessage) {
	s.Raw = raw
	if isNull(raw) {
		return
	}
	var p struct{ Modes *Modes }
	err := json.Unmarshal(raw, &p)
	if s.Modes = p.Modes; err == nil {
		s.Config, err = options(raw)
	}
	if err != nil {
		s.conn.opts.Log.Warn("the modes or options of a session can't be read", "error", err)
	}
}

// options are the settings in what an agent answers, which may be null.
func options(raw json.RawMessage) ([]ConfigOption, error) {
	if isNull(raw) {
		return nil, nil
	}
	var p struct{ ConfigOptions []ConfigOption }
	err := json.Unmarshal(raw, &p)
	return p.ConfigOptions, err
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
	const method = "session/set_config_option"
	var got json.RawMessage
	if err := s.conn.Call(ctx, method, p, &got); err != nil {
		return nil, err
	}
	all, err := options(got)
	if err != nil {
		return nil, fmt.Errorf("the agent's answer to %s can't be read: %w", method, err)
	}
	return all, nil
}

// Close ends the session here, and at the agent if it offers that.
func (s *Session) Close(ctx context.Context) error {
	s.Cancel()
	var err error
	if s.conn.Agent().Capabilities.Session.Close != nil {
		err = s.conn.Call(ctx, "session/close", map[string]string{"sessionId": s.ID}, nil)
	}
	var e *Error
	if errors.As(err, &e) && e.Code == CodeNotFound { // it is closed already
		err = nil
	}
	s.conn.sessions.remove(s)
	return err
}

// release gives back what the session holds.
func (s *Session) release() {
	s.mu.Lock()
	s.closed = true
	terminals := maps.Clone(s.terminals)
	clear(s.terminals)
	for r := range s.asks {
		r.Cancel(errSessionClosed)
	}
	s.mu.Unlock()
	for _, t := range terminals {
		if t != nil {
			t.Release()
		}
	}
}
