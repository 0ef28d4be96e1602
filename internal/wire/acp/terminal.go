package acp

import (
	"fmt"
	"strconv"
)

// maxTerminals bounds the terminals of a session that are not released.
const maxTerminals = 64

func createTerminal(h *host, r *request) (any, error) {
	p, err := params[TerminalRequest](r)
	if err != nil {
		return nil, err
	}
	if p.Command == "" {
		return nil, Errorf(CodeInvalidParams, "there is no command")
	}
	if p.Dir != "" {
		if err := absolute(p.Dir); err != nil {
			return nil, err
		}
	}
	s := r.session
	id, ok := s.reserve()
	if !ok {
		return nil, Errorf(CodeInternal, "%d terminals are open: release some", maxTerminals)
	}
	t, err := h.Terminals.Create(r.ctx, p)
	if err != nil {
		s.takeTerminal(id)
		return nil, fmt.Errorf("starting %.200q: %w", p.Command, err)
	}
	if !s.setTerminal(id, t) {
		t.Release()
		return nil, errSessionClosed
	}
	return map[string]string{"terminalId": id}, nil
}

// terminal returns the one that a request names.
func terminalOf(r *request, release bool) (Terminal, error) {
	p, err := params[struct{ TerminalID string }](r)
	if err != nil {
		return nil, err
	}
	var t Terminal
	if release {
		t = r.session.takeTerminal(p.TerminalID)
	} else {
		t = r.session.Terminal(p.TerminalID)
	}
	if t == nil {
		return nil, Errorf(CodeNotFound, "the session has no terminal %.100q: it was released, or never created", p.TerminalID)
	}
	return t, nil
}

func terminalOutput(h *host, r *request) (any, error) {
	t, err := terminalOf(r, false)
	if err != nil {
		return nil, err
	}
	text, truncated, exit := t.Output()
	return struct {
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
		Exit      *Exit  `json:"exitStatus,omitempty"`
	}{text, truncated, exit}, nil
}

func waitTerminal(h *host, r *request) (any, error) {
	t, err := terminalOf(r, false)
	if err != nil {
		return nil, err
	}
	return t.Wait(r.ctx)
}

func killTerminal(h *host, r *request) (any, error) {
	t, err := terminalOf(r, false)
	if err != nil {
		return nil, err
	}
	return struct{}{}, t.Kill()
}

func releaseTerminal(h *host, r *request) (any, error) {
	t, err := terminalOf(r, true)
	if err != nil {
		return nil, err
	}
	t.Release()
	return struct{}{}, nil
}

// reserve takes a place for a terminal that is being started.
func (s *Session) reserve() (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.terminals) >= maxTerminals {
		return "", false
	}
	s.lastTerminal++
	id = "term-" + strconv.Itoa(s.lastTerminal)
	s.terminals[id] = nil
	return id, true
}

func (s *Session) setTerminal(id string, t Terminal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.terminals[id] = t
	}
	return !s.closed
}

// Terminal is the one of an id that is not released; nil for another.
func (s *Session) Terminal(id string) Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terminals[id]
}

func (s *Session) takeTerminal(id string) Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.terminals[id]
	delete(s.terminals, id)
	return t
}
