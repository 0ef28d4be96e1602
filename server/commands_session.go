package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

var errNoSessions = errors.New("sessions are not available: no folder is open in the editor")

// sessions returns the open sessions.
func (s *Server) sessions() (*session.Store, error) {
	if st := s.current().Sessions; st != nil {
		return st, nil
	}
	return nil, errNoSessions
}

func (s *Server) session(id string) (*session.Session, error) {
	st, err := s.sessions()
	if err != nil {
		return nil, err
	}
	found, err := st.Get(id)
	return found, sessionError(err)
}

type budgetArgs struct {
	Tokens *int64 `json:"tokens,omitempty"`
	Calls  *int64 `json:"calls,omitempty"`
}

type openSessionArgs struct {
	ID       string           `json:"id,omitempty"`
	Mode     string           `json:"mode,omitempty"`
	Shadow   string           `json:"shadow,omitempty"`
	Allow    []string         `json:"allow,omitempty"`
	Registry session.Registry `json:"registry,omitempty"`
	Budget   budgetArgs       `json:"budget,omitempty"`
	Model    string           `json:"model,omitempty"`
}

type sessionResult struct {
	Session  string   `json:"session"`
	Warnings []string `json:"warnings,omitempty"` // about allow
}

func (s *Server) openSession(_ context.Context, a openSessionArgs) (sessionResult, error) {
	st, err := s.sessions()
	if err != nil {
		return sessionResult{}, err
	}
	if d := s.current().Dispatch; d != nil {
		a.Allow = d.WithoutKits(a.Allow)
	}
	warnings, err := s.checkAllow(a.Allow)
	if err != nil {
		return sessionResult{}, err
	}
	opened, err := st.Open(session.OpenRequest{
		ID: a.ID, Mode: a.Mode, Shadow: a.Shadow, Allow: a.Allow, Registry: a.Registry, Tokens: a.Budget.Tokens, Calls: a.Budget.Calls,
	})
	if err != nil {
		return sessionResult{}, sessionError(err)
	}
	opened.UseModel(a.Model)
	return sessionResult{opened.ID, warnings}, nil
}

// checkAllow says which selectors fit no tool. A session that would have none at
// all by mistake is refused; one for tools that an MCP server may still bring is
// not.
func (s *Server) checkAllow(allow []string) (warnings []string, err error) {
	d := s.current().Dispatch
	if len(allow) == 0 || d == nil {
		return nil, nil
	}
	unmatched := d.Unmatched(allow)
	coming := 0
	for _, selector := range unmatched {
		if why := s.mayCome(strings.TrimPrefix(selector, "!")); why != "" {
			coming++
			warnings = append(warnings, fmt.Sprintf("allow: %q fits no tool yet: %s", selector, why))
			continue
		}
		warnings = append(warnings, fmt.Sprintf("allow: %q fits no tool; it may be %s", selector, tools.Selectors))
	}
	if coming == 0 && len(unmatched) == len(allow) {
		return nil, invalidParams("allow: nothing in it fits a tool (%s); a selector is %s", strings.Join(allow, ", "), tools.Selectors)
	}
	return warnings, nil
}

// mayCome says why a selector that fits no tool may fit one of an MCP server
// later; "" if it can't.
func (s *Server) mayCome(selector string) (why string) {
	m := s.current().MCP
	if m == nil {
		return ""
	}
	named, isServer := strings.CutPrefix(selector, "mcp:")
	named, _, _ = strings.Cut(named, "/")
	if !isServer && selector != string(tools.SourceMCP) && !strings.HasPrefix(selector, "mcp_") && !strings.ContainsAny(selector, "*?[") {
		return ""
	}
	var waiting []string
	for _, st := range m.List() {
		switch {
		case isServer && st.Name == named:
			return "the server has none"
		case st.State != "connected" && st.State != "disabled":
			waiting = append(waiting, fmt.Sprintf("%s (%s)", st.Name, st.State))
		}
	}
	if isServer || len(waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("MCP servers are not connected: %s; the names of their tools begin with mcp_<server>_", strings.Join(waiting, ", "))
}

type closeSessionArgs struct {
	Session string `json:"session"`
}

func (s *Server) closeSession(_ context.Context, a closeSessionArgs) (none, error) {
	st, err := s.sessions()
	if err != nil {
		return none{}, err
	}
	return none{}, sessionError(st.Close(a.Session))
}

type sessionInfo struct {
	Session  string    `json:"session"`
	Mode     string    `json:"mode"`
	Root     string    `json:"root"`
	Shadow   string    `json:"shadow,omitempty"`
	Calls    int64     `json:"calls"`
	Tokens   int64     `json:"tokens"`
	OpenedAt time.Time `json:"openedAt"`
}

type sessionList struct {
	Sessions []sessionInfo `json:"sessions"`
}

func (s *Server) listSessions(context.Context, none) (sessionList, error) {
	st, err := s.sessions()
	if err != nil {
		return sessionList{}, err
	}
	out := sessionList{Sessions: []sessionInfo{}}
	for _, i := range st.List() {
		out.Sessions = append(out.Sessions, sessionInfo{i.ID, i.Mode, i.Root, i.Shadow, i.Calls, i.Tokens, i.OpenedAt})
	}
	return out, nil
}

type getModeArgs struct {
	Session string `json:"session,omitempty"`
}

type setModeArgs struct {
	Session string `json:"session,omitempty"`
	Mode    string `json:"mode"`
}

type modeResult struct {
	Mode string `json:"mode"`
}

func (s *Server) getMode(_ context.Context, a getModeArgs) (modeResult, error) {
	found, err := s.session(a.Session)
	if err != nil {
		return modeResult{}, err
	}
	return modeResult{found.Mode()}, nil
}

type modeList struct {
	Modes []Mode `json:"modes"`
}

func (s *Server) listModes(context.Context, none) (modeList, error) {
	modes := s.current().Modes
	if modes == nil {
		return modeList{}, errNoSessions
	}
	return modeList{modes()}, nil
}

func (s *Server) setMode(_ context.Context, a setModeArgs) (modeResult, error) {
	found, err := s.session(a.Session)
	if err != nil {
		return modeResult{}, err
	}
	if err := found.SetMode(a.Mode); err != nil {
		return modeResult{}, sessionError(err)
	}
	if agents := s.current().Agents; agents != nil {
		agents.ModeSet(found.ID, found.Mode())
	}
	return modeResult{found.Mode()}, nil
}

// sessionError names the argument that is to blame.
func sessionError(err error) error {
	switch {
	case errors.Is(err, session.ErrMode), errors.Is(err, session.ErrLooser):
		return invalidParams("mode: %v", err)
	case errors.Is(err, session.ErrUnknown):
		return invalidParams("session: %v", err)
	case errors.Is(err, session.ErrExists), errors.Is(err, session.ErrInvalid):
		return invalidParams("%v", err)
	}
	return err
}
