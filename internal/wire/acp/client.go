package acp

import (
	"context"
	"encoding/json"
	"fmt"
)

// Initialize is the first call: it says who we are and what there is, and
// returns what the agent offers.
func (c *Conn) Initialize(ctx context.Context) (Initialized, error) {
	var agent Initialized
	var bad error
	err := c.call(ctx, c.opts.CallTimeout, "initialize", hello(c.world, c.opts.Client), nil, func(raw json.RawMessage, err error) {
		if err == nil {
			if agent, bad = initialized(raw); bad == nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.agent = agent
			}
		}
	})
	if err != nil {
		return Initialized{}, refused(err)
	}
	return agent, bad
}

// hello are the parameters of initialize.
func hello(w World, client Implementation) map[string]any {
	capabilities := map[string]any{
		"fs":       map[string]bool{"readTextFile": w.Files != nil, "writeTextFile": w.Files != nil},
		"terminal": w.Terminals != nil,
		"session": map[string]any{
			"configOptions": map[string]any{"boolean": struct{}{}},
			"compaction":    struct{}{},
			"notices":       struct{}{},
		},
	}
	if w.Elicitor != nil {
		capabilities["elicitation"] = map[string]any{"form": struct{}{}, "url": struct{}{}}
	}
	p := map[string]any{"protocolVersion": version, "clientCapabilities": capabilities}
	if client.Name != "" {
		p["clientInfo"] = client
	}
	return p
}

// initialized reads what an agent answers to initialize.
func initialized(raw json.RawMessage) (Initialized, error) {
	if err := agreed(raw); err != nil {
		return Initialized{}, err
	}
	var agent Initialized
	if err := json.Unmarshal(raw, &agent); err != nil {
		return Initialized{}, fmt.Errorf("the agent's answer to initialize can't be read: %w", err)
	}
	agent.Raw = raw
	return agent, nil
}

// Agent is what Initialize has returned.
func (c *Conn) Agent() Initialized {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.agent
}

// Authenticate signs in by one of the agent's methods. It may take as long as a
// person does; ctx is its only bound.
func (c *Conn) Authenticate(ctx context.Context, method string) error {
	return c.call(ctx, forever, "authenticate", map[string]string{"methodId": method}, nil, nil)
}

const forever = 1<<63 - 1

// Logout signs out.
func (c *Conn) Logout(ctx context.Context) error {
	if c.Agent().Capabilities.Auth.Logout == nil {
		return fmt.Errorf("%w: signing out", ErrUnsupported)
	}
	return c.Call(ctx, "logout", struct{}{}, nil)
}

// params are those of a request that begins a session, or goes on with one.
func (p SessionParams) params(id string) map[string]any {
	m := map[string]any{"cwd": p.Dir, "mcpServers": list(p.MCPServers)}
	if len(p.Directories) > 0 {
		m["additionalDirectories"] = p.Directories
	}
	if id != "" {
		m["sessionId"] = id
	}
	return m
}

// NewSession begins a conversation. Updates of it may come to the host before
// this returns.
func (c *Conn) NewSession(ctx context.Context, p SessionParams) (*Session, error) {
	return c.begin(ctx, "session/new", "", p)
}

// ForkSession begins a conversation that knows what was said in another one of the
// agent's, by its id. The other stays as it is.
func (c *Conn) ForkSession(ctx context.Context, id string, p SessionParams) (*Session, error) {
	if c.Agent().Capabilities.Session.Fork == nil {
		return nil, fmt.Errorf("%w: forking a session; begin a new one", ErrUnsupported)
	}
	return c.begin(ctx, "session/fork", id, p)
}

// begin begins a session that gets its id from the agent.
func (c *Conn) begin(ctx context.Context, method, from string, p SessionParams) (*Session, error) {
	if err := may(c.Agent().Capabilities, p); err != nil {
		return nil, err
	}
	c.sessions.expect()
	var s *Session
	var bad error
	err := c.call(ctx, c.opts.CallTimeout, method, p.params(from), nil, func(raw json.RawMessage, err error) {
		if err == nil {
			s, bad = opened(c, method, raw)
		}
		for _, update := range c.sessions.opened(s) {
			s.hear(update)
		}
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// opened makes the session that the agent has opened.
func opened(c *Conn, method string, raw json.RawMessage) (*Session, error) {
	var p struct{ SessionID string }
	if err := json.Unmarshal(raw, &p); err != nil || p.SessionID == "" {
		return nil, fmt.Errorf("%s: the agent has answered without a session id", method)
	}
	s := newSession(c, p.SessionID)
	s.began(raw)
	if err := c.sessions.add(s); err != nil {
		return nil, err
	}
	return s, nil
}

// LoadSession goes on with a conversation; the agent sends its history as
// updates before this returns.
func (c *Conn) LoadSession(ctx context.Context, id string, p SessionParams) (*Session, error) {
	if !c.Agent().Capabilities.LoadSession {
		return nil, fmt.Errorf("%w: loading a session; begin a new one", ErrUnsupported)
	}
	return c.reopen(ctx, "session/load", id, p)
}

// ResumeSession goes on with a conversation without its history.
func (c *Conn) ResumeSession(ctx context.Context, id string, p SessionParams) (*Session, error) {
	if c.Agent().Capabilities.Session.Resume == nil {
		return nil, fmt.Errorf("%w: resuming a session; load it or begin a new one", ErrUnsupported)
	}
	return c.reopen(ctx, "session/resume", id, p)
}

func (c *Conn) reopen(ctx context.Context, method, id string, p SessionParams) (*Session, error) {
	if err := may(c.Agent().Capabilities, p); err != nil {
		return nil, err
	}
	s := newSession(c, id)
	if err := c.sessions.add(s); err != nil {
		return nil, err
	}
	err := c.call(ctx, c.opts.LoadTimeout, method, p.params(id), nil, func(raw json.RawMessage, err error) {
		if err == nil {
			s.began(raw)
		}
	})
	if err != nil {
		c.sessions.remove(s)
		return nil, err
	}
	return s, nil
}

// may says whether an agent can begin a session with these parameters.
func may(a Capabilities, p SessionParams) error {
	for _, dir := range append([]string{p.Dir}, p.Directories...) {
		if err := absolute(dir); err != nil {
			return fmt.Errorf("the directory of a session: %w", err)
		}
	}
	if len(p.Directories) > 0 && a.Session.AdditionalDirectories == nil {
		return fmt.Errorf("%w: more than one directory", ErrUnsupported)
	}
	for _, m := range p.MCPServers {
		if m.Type == "http" && !a.MCP.HTTP || m.Type == "sse" && !a.MCP.SSE {
			return fmt.Errorf("%w: MCP over %s; give it %q as a command", ErrUnsupported, m.Type, m.Name)
		}
	}
	return nil
}

// ListSessions returns a page of the agent's sessions, of one directory unless
// that is "", and the cursor of the next page or "".
func (c *Conn) ListSessions(ctx context.Context, dir, cursor string) ([]SessionInfo, string, error) {
	if c.Agent().Capabilities.Session.List == nil {
		return nil, "", fmt.Errorf("%w: a list of sessions", ErrUnsupported)
	}
	p := map[string]string{}
	if dir != "" {
		p["cwd"] = dir
	}
	if cursor != "" {
		p["cursor"] = cursor
	}
	var got struct {
		Sessions   []SessionInfo
		NextCursor string
	}
	err := c.Call(ctx, "session/list", p, &got)
	return got.Sessions, got.NextCursor, err
}

// DeleteSession has the agent forget a session.
func (c *Conn) DeleteSession(ctx context.Context, id string) error {
	if c.Agent().Capabilities.Session.Delete == nil {
		return fmt.Errorf("%w: deleting a session", ErrUnsupported)
	}
	return c.Call(ctx, "session/delete", map[string]string{"sessionId": id}, nil)
}
