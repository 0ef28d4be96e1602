package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of what is taken from a server.
const (
	maxPages       = 64
	maxDescription = 2 << 10  // bytes
	maxSchema      = 64 << 10 // bytes
	maxWarnings    = 20
)

// limit is a limit of an entry, or what holds where it names none.
func limit(named, normal int) int {
	if named > 0 {
		return named
	}
	return normal
}

func (s *Server) callTime() time.Duration {
	return time.Duration(limit(s.Limits.TimeoutSeconds, config.MCPTimeoutSeconds)) * time.Second
}

// mostCallTime is the longest that any server may have for a call.
const mostCallTime = config.MostMCPTimeoutSeconds * time.Second

// asked is what questions to the user may add to the time of a call.
func (m *Manager) asked() time.Duration {
	if m.o.People == nil {
		return 0
	}
	return askedTime
}

func (s *Server) maxTools() int { return limit(s.Limits.MaxTools, config.MCPTools) }

func (s *Server) maxResult() int { return limit(s.Limits.MaxResultBytes, config.MCPResultBytes) }

// list lists the server's tools and registers those that may be used.
func (s *server) list(ctx context.Context, c *conn) error {
	s.listing.Lock()
	defer s.listing.Unlock()
	if c.over {
		return errors.New("the connection has ended")
	}
	all, more, err := c.tools(ctx, s.cfg.maxTools())
	if err != nil {
		return err
	}
	offered := c.offered(ctx)
	k, err := s.m.o.Memory.Load(s.cfg.Root, s.cfg.Name)
	if err != nil {
		return err
	}
	if id := s.cfg.Identity(); k.Seen != id {
		k.Seen, k.Tools = id, nil
	}
	if k.Tools == nil {
		k.Tools = map[string]string{}
	}
	var registered []*tools.Tool
	var warnings []string
	warn := func(format string, args ...any) {
		if len(warnings) < maxWarnings {
			warnings = append(warnings, fmt.Sprintf(format, args...))
		}
	}
	if more {
		warn("it has more than %d tools; the others are left out; maxTools in its entry says how many are taken", s.cfg.maxTools())
	}
	changed := map[string]string{}
	fresh := false
	used := map[string]bool{}
	for _, t := range all {
		if slices.Contains(s.cfg.Without, t.Name) {
			continue
		}
		hash := pin(t)
		name := tools.MCPName(s.cfg.Name, t.Name, func(n string) bool { return used[n] || s.m.nameInUse(s, n) })
		tool, odd, err := s.tool(name, t)
		for _, o := range odd {
			warn("%s: %s", clip(strconv.Quote(t.Name)), o)
		}
		if err != nil {
			warn("%s is left out: %v", clip(strconv.Quote(t.Name)), err)
			continue
		}
		switch known := k.Tools[t.Name]; {
		case known == "":
			k.Tools[t.Name], fresh = hash, true
		case known != hash:
			changed[t.Name] = hash
			continue
		}
		used[name] = true
		registered = append(registered, tool)
	}
	if fresh {
		if err := s.m.o.Memory.Save(s.cfg.Root, s.cfg.Name, k); err != nil {
			return fmt.Errorf("what its tools say can't be kept: %w", err)
		}
	}
	if err := s.register(registered); err != nil {
		return err
	}
	s.mu.Lock()
	before := s.changed
	s.changed, s.warnings, s.offers = changed, warnings, offered
	s.mu.Unlock()
	if err := s.m.offer(); err != nil {
		return err
	}
	for name := range changed {
		if before[name] != changed[name] {
			s.m.o.Warn(fmt.Sprintf("The MCP server %s has changed what its tool %s says of itself. The tool is held back until you trust the server again (sidecar.mcp.trust).", s.cfg.Name, clip(name)))
			break // one question is enough
		}
	}
	return nil
}

// tools lists the tools of the server, up to most of them; more says that there
// are others.
func (c *conn) tools(ctx context.Context, most int) (all []*sdk.Tool, more bool, err error) {
	p := &sdk.ListToolsParams{}
	for range maxPages {
		res, err := c.session.ListTools(ctx, p)
		if err != nil {
			return nil, false, err
		}
		for _, t := range res.Tools {
			if t == nil {
				continue
			}
			if len(all) == most {
				return all, true, nil
			}
			all = append(all, t)
		}
		if res.NextCursor == "" {
			return all, false, nil
		}
		p = &sdk.ListToolsParams{Cursor: res.NextCursor}
	}
	return all, true, nil
}

// pin is a hash of all that a tool says of itself.
func pin(t *sdk.Tool) string {
	data, err := json.Marshal([]any{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations})
	if err != nil {
		data = []byte(t.Name)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// tool makes a tool of the registry, and says what is odd about it.
func (s *server) tool(name string, t *sdk.Tool) (_ *tools.Tool, odd []string, err error) {
	if t.Name == "" || len(t.Name) > 256 {
		return nil, nil, errors.New("its name is empty or too long")
	}
	schema, err := schemaOf(s.m, t.InputSchema)
	if err != nil {
		return nil, nil, err
	}
	text, signs := s.m.o.Clean(t.Description)
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + " …"
		odd = append(odd, fmt.Sprintf("its description of %d bytes is cut", len(t.Description)))
	}
	if len(signs) > 0 {
		text = "(What the server says of this tool is held back, because it seems to instruct the model: " + strings.Join(signs, ", ") + ".)"
		odd = append(odd, "what it says of itself seems to instruct the model: "+strings.Join(signs, ", "))
	}
	title, _ := s.m.o.Clean(t.Title)
	if title == "" && t.Annotations != nil {
		title, _ = s.m.o.Clean(t.Annotations.Title)
	}
	if title == "" { // our name of it is for models
		title, _ = s.m.o.Clean(s.cfg.Name + ": " + strings.ReplaceAll(t.Name, "_", " "))
	}
	d := tools.Def{
		Name: name, Title: oneLine(title, 80), Category: "mcp", Untrusted: true, Wrote: name, Timeout: s.cfg.callTime() + s.m.asked(),
		Description: fmt.Sprintf("Of the MCP server %s. %s", s.cfg.Name, text),
	}
	if a := t.Annotations; a != nil && a.DestructiveHint != nil && *a.DestructiveHint && !a.ReadOnlyHint {
		d.AlwaysAsk = true // hints only make what is allowed stricter
	}
	if a := t.Annotations; a != nil {
		d.Idempotent = a.ReadOnlyHint || a.IdempotentHint // who says so wrongly has its own tool run twice
	}
	tool, err := tools.RawProgram(d, tools.Source{Kind: tools.SourceMCP, Server: s.cfg.Name, Tool: t.Name}, tools.Exec, schema,
		func(json.RawMessage) (tools.Effects, error) { return effectsOf(s.cfg), nil },
		func(ctx context.Context, call *tools.Call, args json.RawMessage) (tools.Result, []workspace.Change, error) {
			return s.call(ctx, call, t.Name, args)
		})
	return tool, odd, err
}

// schemaOf is the schema of a tool's arguments, as far as it can be shown to a
// model.
func schemaOf(m *Manager, v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // what it says is looked at
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	if b.Len() > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes; at most %d are taken", b.Len(), maxSchema)
	}
	text, signs := m.o.Clean(b.String())
	switch {
	case len(signs) > 0:
		return nil, fmt.Errorf("its schema seems to instruct the model: %s", strings.Join(signs, ", "))
	case !json.Valid([]byte(text)):
		return nil, errors.New("its schema has text in it that can't be shown")
	}
	return json.RawMessage(text), nil
}

func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// call calls a tool of the server, and takes over what that changed, also of one that fails.
func (s *server) call(ctx context.Context, call *tools.Call, name string, args json.RawMessage) (out tools.Result, changes []workspace.Change, err error) {
	c, err := s.now()
	if err != nil {
		return tools.Result{}, nil, err
	}
	if err := s.begins(c); err != nil {
		return tools.Result{}, nil, err
	}
	out, err = s.answer(ctx, c, call, name, args)
	changes, remarks := s.ends(c, call)
	switch {
	case remarks == "":
	case err != nil:
		failed := *tools.AsError(err)
		failed.Detail += remarks
		err = &failed
	default:
		out.Text = strings.TrimSuffix(out.Text, "\n") + remarks
	}
	return out, changes, err
}

// answer is what the server says to a call.
func (s *server) answer(ctx context.Context, c *conn, call *tools.Call, name string, args json.RawMessage) (tools.Result, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	ctx, end := c.running.begin(noting(ctx), call, s.cfg.callTime())
	defer end()
	params := &sdk.CallToolParams{Name: name, Arguments: args}
	if call.Emit != nil {
		token, end := c.heard.begin(call.Emit)
		defer end()
		params.SetProgressToken(token)
	}
	connected, cancel := context.WithCancel(ctx) // one that is reached by HTTP tells its calls nothing of its end
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	res, err := c.session.CallTool(connected, params)
	if err := callFailed(ctx, s.cfg, c, "its tool "+clip(name), err); err != nil {
		return tools.Result{}, err
	}
	var said content
	for _, part := range res.Content {
		said.add(part)
	}
	said.structured(res.StructuredContent)
	out := said.result(s)
	if res.IsError {
		return tools.Result{}, &tools.Error{Code: tools.CommandFailed, Message: fmt.Sprintf("%s of the MCP server %s failed", clip(name), s.cfg.Name), Detail: out.Text}
	}
	return out, nil
}

// register makes list the tools that the server has in the registry, in the place of those of
// the one before it.
func (s *server) register(list []*tools.Tool) error {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	s.m.registering.Lock()
	defer s.m.registering.Unlock()
	if s.passed {
		return nil
	}
	err := s.replace(list)
	if s.holds = s.holds || err == nil; err == nil && before != nil {
		before.holds, before.passed = false, true
	}
	return err
}

// unregister takes its tools out of the registry.
func (s *server) unregister() error {
	s.m.registering.Lock()
	defer s.m.registering.Unlock()
	if !s.holds {
		return nil
	}
	s.holds = false
	return s.replace(nil)
}

// replace puts tools into the registry in the place of those of the server's name.
func (s *server) replace(list []*tools.Tool) error {
	names := tools.Names(list)
	err := s.m.o.Registry.Replace(tools.User, func(t *tools.Tool) bool { return t.Source.Kind == tools.SourceMCP && t.Source.Server == s.cfg.Name }, list...)
	if err == nil {
		s.mu.Lock()
		s.names = names
		s.mu.Unlock()
	}
	return err
}

// nameInUse reports whether another server has a tool of that name.
func (m *Manager) nameInUse(s *server, name string) bool {
	t, _, ok := m.o.Registry.Lookup(name)
	return ok && t.Name == name && (t.Source.Kind != tools.SourceMCP || t.Source.Server != s.cfg.Name)
}
