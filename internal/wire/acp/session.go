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
	talk         talk
	turn         *turn // nil when there is none
	asks         map[*request]bool
	terminals    map[string]Terminal // nil while one is started
	lastTerminal int
	closed       bool
}

func (c *Conn) newSession(id string) *Session {
	s := &Session{ID: id, conn: c, asks: map[*request]bool{}, terminals: map[string]Terminal{}}
	s.talk = c.speaks().talk(s)
	return s
}

// began reads what the agent says of a session that begins, and tells the host.
func (s *Session) began(raw json.RawMessage) {
	updates, err := s.talk.began(raw)
	if err == nil {
		s.Config, err = s.conn.speaks().options(raw)
	}
	if err != nil {
		s.conn.log.Warn("the modes or options of a session can't be read", "error", err)
	}
	s.Raw = raw
	s.hear(said{updates: updates})
}

// SetMode changes the mode of the session.
func (s *Session) SetMode(ctx context.Context, id string) error {
	method := s.conn.speaks().setMode()
	if method == "" {
		return fmt.Errorf("%w: modes beside its settings", ErrUnsupported)
	}
	return s.conn.Call(ctx, method, map[string]string{"sessionId": s.ID, "modeId": id}, nil)
}

// SetConfig changes a setting of the session to a string, or to a bool for a
// switch, and returns all of them.
func (s *Session) SetConfig(ctx context.Context, id string, value any) ([]ConfigOption, error) {
	p := s.conn.speaks().setting(id, value)
	p["sessionId"] = s.ID
	const method = "session/set_config_option"
	var got json.RawMessage
	if err := s.conn.Call(ctx, method, p, &got); err != nil {
		return nil, err
	}
	options, err := s.conn.speaks().options(got)
	if err != nil {
		return nil, fmt.Errorf("the agent's answer to %s can't be read: %w", method, err)
	}
	return options, nil
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
	s.conn.mu.Lock()
	if s.conn.sessions[s.ID] == s {
		delete(s.conn.sessions, s.ID)
		maps.DeleteFunc(s.conn.children, func(_ string, of *Session) bool { return of == s })
	}
	s.conn.mu.Unlock()
	s.abandon(errSessionClosed)
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
