package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

func sessionOf(st *session.Store, id string) (*session.Session, error) {
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

// SessionResult is a session that was opened.
type SessionResult struct {
	Session  string   `json:"session"`
	Warnings []string `json:"warnings,omitempty"` // about allow
}

func openSession(ctx context.Context, d *Deps, a openSessionArgs) (SessionResult, error) {
	st, err := sessions(d)
	if err != nil {
		return SessionResult{}, err
	}
	if tools := d.Dispatch; tools != nil {
		a.Allow = tools.WithoutKits(a.Allow)
	}
	warnings, err := checkAllow(d.Parts, a.Allow)
	if err != nil {
		return SessionResult{}, err
	}
	renewShadow(ctx, d, a.Shadow)
	opened, err := st.Open(session.OpenRequest{
		ID: a.ID, Mode: a.Mode, Shadow: a.Shadow, Allow: a.Allow, Registry: a.Registry, Tokens: a.Budget.Tokens, Calls: a.Budget.Calls,
	})
	if err != nil {
		return SessionResult{}, sessionError(err)
	}
	opened.UseModel(a.Model)
	return SessionResult{opened.ID, warnings}, nil
}

// without are selectors of all tools but those of a source, of which there may be none.
var without = []string{"!mcp", "!plugin", "!custom"}

// checkAllow says which selectors fit no tool. A session that would have none at
// all by mistake is refused; one for tools that an MCP server may still bring is
// not.
func checkAllow(p *Parts, allow []string) (warnings []string, err error) {
	if len(allow) == 0 || p.Dispatch == nil {
		return nil, nil
	}
	unmatched := p.Dispatch.Unmatched(allow)
	coming := 0
	for _, selector := range unmatched {
		if why := mayCome(p.MCP, strings.TrimPrefix(selector, "!")); why != "" {
			coming++
			warnings = append(warnings, fmt.Sprintf("allow: %q fits no tool yet: %s", selector, why))
			continue
		}
		if slices.Contains(without, selector) {
			continue // that there are none is what is wanted
		}
		warnings = append(warnings, fmt.Sprintf("allow: %q fits no tool; it may be %s", selector, tools.Selectors))
	}
	takes := slices.ContainsFunc(allow, func(selector string) bool { return !slices.Contains(without, selector) })
	if takes && coming == 0 && len(unmatched) == len(allow) {
		return nil, client.InvalidParams("allow: nothing in it fits a tool (%s); a selector is %s", strings.Join(allow, ", "), tools.Selectors)
	}
	return warnings, nil
}

// mayCome says why a selector that fits no tool may fit one of an MCP server
// later; "" if it can't.
func mayCome(m MCP, selector string) (why string) {
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
		case st.State != source.Connected && st.State != source.Disabled:
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

func closeSession(_ context.Context, st *session.Store, a closeSessionArgs) (none, error) {
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

// SessionList are the open sessions.
type SessionList struct {
	Sessions []sessionInfo `json:"sessions"`
}

func listSessions(_ context.Context, st *session.Store, _ none) (SessionList, error) {
	out := SessionList{Sessions: []sessionInfo{}}
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

// ModeResult is the mode of a session.
type ModeResult struct {
	Mode string `json:"mode"`
}

func getMode(_ context.Context, st *session.Store, a getModeArgs) (ModeResult, error) {
	found, err := sessionOf(st, a.Session)
	if err != nil {
		return ModeResult{}, err
	}
	return ModeResult{found.Mode()}, nil
}

type modeList struct {
	Modes []Mode `json:"modes"`
}

func listModes(_ context.Context, s Settings, _ none) (modeList, error) {
	return modeList{s.Modes()}, nil
}

func setMode(_ context.Context, d *Deps, a setModeArgs) (ModeResult, error) {
	st, err := sessions(d)
	if err != nil {
		return ModeResult{}, err
	}
	found, err := sessionOf(st, a.Session)
	if err != nil {
		return ModeResult{}, err
	}
	if err := found.SetMode(a.Mode); err != nil {
		return ModeResult{}, sessionError(err)
	}
	if m := d.opened(); m != nil { // until then no session is that of a run
		m.ModeSet(found.ID, found.Mode())
	}
	return ModeResult{found.Mode()}, nil
}

// sessionError names the argument that is to blame.
func sessionError(err error) error {
	switch {
	case errors.Is(err, session.ErrMode), errors.Is(err, session.ErrLooser):
		return client.InvalidParams("mode: %v", err)
	case errors.Is(err, session.ErrUnknown):
		return client.InvalidParams("session: %v", err)
	case errors.Is(err, session.ErrExists), errors.Is(err, session.ErrInvalid):
		return client.InvalidParams("%v", err)
	}
	return err
}
