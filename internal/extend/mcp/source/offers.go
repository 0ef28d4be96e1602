package source

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// maxOffers bounds how many resources, templates and prompts are taken of a server,
// each, and maxOfferLine a line about one, in bytes.
const (
	maxOffers    = 256
	maxOfferLine = 400
)

// offers are what a server has besides tools.
type offers struct {
	resources []*sdk.Resource
	templates []*sdk.ResourceTemplate
	prompts   []*sdk.Prompt
	more      bool // there are others
}

// offered asks for them. What can't be listed is not there: its tools are what a
// server is used for.
func (c *conn) offered(ctx context.Context) (o offers) {
	init := c.session.InitializeResult()
	if init == nil || init.Capabilities == nil {
		return o
	}
	if init.Capabilities.Resources != nil {
		o.more = pages(&o.resources, func(cursor string) ([]*sdk.Resource, string, error) {
			res, err := c.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Resources, res.NextCursor, nil
		})
		o.more = pages(&o.templates, func(cursor string) ([]*sdk.ResourceTemplate, string, error) {
			res, err := c.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.ResourceTemplates, res.NextCursor, nil
		}) || o.more
	}
	if init.Capabilities.Prompts != nil {
		o.more = pages(&o.prompts, func(cursor string) ([]*sdk.Prompt, string, error) {
			res, err := c.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Prompts, res.NextCursor, nil
		}) || o.more
	}
	return o
}

// pages collects a list that comes in pages; more says that there is more of it.
func pages[T any](all *[]*T, next func(cursor string) ([]*T, string, error)) (more bool) {
	cursor := ""
	for range maxPages {
		list, after, err := next(cursor)
		if err != nil {
			return false
		}
		for _, item := range list {
			if item == nil {
				continue
			}
			if len(*all) == maxOffers {
				return true
			}
			*all = append(*all, item)
		}
		if after == "" {
			return false
		}
		cursor = after
	}
	return true
}

// withOffers are the servers that offer something now, by name.
func (m *Manager) withOffers() map[string]*server {
	m.mu.Lock()
	servers := maps.Clone(m.servers)
	m.mu.Unlock()
	maps.DeleteFunc(servers, func(_ string, s *server) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.conn == nil || len(s.offers.resources)+len(s.offers.templates)+len(s.offers.prompts) == 0
	})
	return servers
}

//go:embed mcp_resources.md
var resourcesDoc string

//go:embed mcp_read_resource.md
var readResourceDoc string

//go:embed mcp_prompt.md
var promptDoc string

// The names of the tools for what servers offer besides tools.
const (
	resourcesTool    = "mcp_resources"
	readResourceTool = "mcp_read_resource"
	promptTool       = "mcp_prompt"
)

// offer registers the tools for what the servers offer, as far as any offers it.
func (m *Manager) offer() error {
	m.registering.Lock()
	defer m.registering.Unlock()
	var resources, prompts bool
	for _, s := range m.withOffers() {
		s.mu.Lock()
		resources = resources || len(s.offers.resources)+len(s.offers.templates) > 0
		prompts = prompts || len(s.offers.prompts) > 0
		s.mu.Unlock()
	}
	if want := fmt.Sprint(resources, prompts); want == m.offering {
		return nil
	} else {
		m.offering = want
	}
	var list []*tools.Tool
	add := func(t *tools.Tool) {
		t.Source = tools.Source{Kind: tools.SourceMCP, Tool: t.Name}
		list = append(list, t)
	}
	if resources || prompts {
		add(m.newResources())
	}
	if resources {
		add(m.newReadResource())
	}
	if prompts {
		add(m.newPrompt())
	}
	return m.o.Registry.Replace(tools.User, func(t *tools.Tool) bool { return t.Source.Kind == tools.SourceMCP && t.Source.Server == "" }, list...)
}

type resourcesArgs struct {
	Server string `json:"server,omitempty" jsonschema:"only those of this MCP server"`
}

func (m *Manager) newResources() *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: resourcesTool, Category: "mcp", Description: resourcesDoc, Untrusted: true, Example: `{}`,
	}, func(_ context.Context, _ *tools.Call, in resourcesArgs) (tools.Result, error) {
		servers := m.withOffers()
		names := slices.Sorted(maps.Keys(servers))
		if in.Server != "" {
			if servers[in.Server] == nil {
				return tools.Result{}, tools.Errorf(tools.NotFound, "the MCP server %q is not connected, or offers no resources and prompts; those that do are %s", clip(in.Server), strings.Join(names, ", "))
			}
			names = []string{in.Server}
		}
		var b strings.Builder
		for _, name := range names {
			servers[name].describe(&b)
		}
		return tools.Result{Text: b.String()}, nil
	})
}

// describe writes what the server offers.
func (s *server) describe(b *strings.Builder) {
	s.mu.Lock()
	o := s.offers
	s.mu.Unlock()
	fmt.Fprintf(b, "server %s\n", s.cfg.Name)
	line := func(format string, args ...any) {
		text, signs := s.m.o.Clean(fmt.Sprintf(format, args...))
		if len(signs) > 0 {
			text = "  (one is left out, because what it says seems to instruct the model: " + strings.Join(signs, ", ") + ")"
		}
		b.WriteString(strings.TrimRight("  "+oneLine(text, maxOfferLine), " :") + "\n")
	}
	for _, r := range o.resources {
		line("resource %s (%s): %s", r.URI, r.Name, r.Description)
	}
	for _, r := range o.templates {
		line("resources %s (%s): %s", r.URITemplate, r.Name, r.Description)
	}
	for _, p := range o.prompts {
		var args []string
		for _, a := range p.Arguments {
			if a == nil {
				continue
			}
			name := a.Name
			if a.Required {
				name += "*"
			}
			args = append(args, name)
		}
		line("prompt %s {%s}: %s", p.Name, strings.Join(args, ", "), p.Description)
	}
	if o.more {
		fmt.Fprintf(b, "  (and more: of each kind %d are listed)\n", maxOffers)
	}
}

type readResourceArgs struct {
	Server string `json:"server" jsonschema:"the MCP server that has it"`
	URI    string `json:"uri" jsonschema:"of the resource"`
}

func (m *Manager) newReadResource() *tools.Tool {
	return tools.NewExec(tools.Def{
		Name: readResourceTool, Category: "mcp", Description: readResourceDoc, Untrusted: true, Idempotent: true, Timeout: mostCallTime,
		Example: `{"server": "docs", "uri": "docs://start"}`,
	}, func(ctx context.Context, _ *tools.Call, in readResourceArgs) (tools.Result, error) {
		return m.ask(ctx, in.Server, "the resource "+clip(in.URI), func(ctx context.Context, c *conn, said *content) error {
			res, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: in.URI})
			if err != nil {
				return err
			}
			for _, r := range res.Contents {
				said.resource(r)
			}
			return nil
		})
	})
}

type promptArgs struct {
	Server    string            `json:"server" jsonschema:"the MCP server that has it"`
	Name      string            `json:"name" jsonschema:"of the prompt"`
	Arguments map[string]string `json:"arguments,omitempty" jsonschema:"of the prompt, by their names"`
}

func (m *Manager) newPrompt() *tools.Tool {
	return tools.NewExec(tools.Def{
		Name: promptTool, Category: "mcp", Description: promptDoc, Untrusted: true, Idempotent: true, Timeout: mostCallTime,
		Example: `{"server": "docs", "name": "review", "arguments": {"language": "go"}}`,
	}, func(ctx context.Context, _ *tools.Call, in promptArgs) (tools.Result, error) {
		return m.ask(ctx, in.Server, "the prompt "+clip(in.Name), func(ctx context.Context, c *conn, said *content) error {
			res, err := c.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: in.Name, Arguments: in.Arguments})
			if err != nil {
				return err
			}
			for _, message := range res.Messages {
				if message == nil {
					continue
				}
				said.say("%s:", oneLine(string(message.Role), 20))
				said.add(message.Content)
			}
			return nil
		})
	})
}

// ask asks a server for something that it offers.
func (m *Manager) ask(ctx context.Context, name, what string, do func(context.Context, *conn, *content) error) (tools.Result, error) {
	s, err := m.find(name)
	if err != nil {
		return tools.Result{}, err
	}
	c, err := s.now()
	if err != nil {
		return tools.Result{}, err
	}
	ctx, cancel := context.WithTimeout(noting(ctx), s.cfg.callTime())
	defer cancel()
	var said content
	if err := callFailed(ctx, s.cfg, c, what, do(ctx, c, &said)); err != nil {
		return tools.Result{}, err
	}
	return said.result(s), nil
}

// callFailed says what an error of a request means, and ends the connection if it can't
// go on; nil for none.
func callFailed(ctx context.Context, cfg Server, c *conn, what string, err error) error {
	var refusal *jsonrpc.Error
	answered := errors.As(err, &refusal) && (refusal.Code != notSent.Code || refusal.Message != notSent.Message)
	busy := busyOf(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		c.giveUp(fmt.Errorf("%s did not come within %v; timeoutSeconds in its entry says how long it may take", what, cfg.callTime()))
		return context.DeadlineExceeded
	case ctx.Err() != nil:
		return ctx.Err()
	case answered:
		return &tools.Error{Code: tools.CommandFailed, Message: fmt.Sprintf("the MCP server %s refused %s", cfg.Name, what), Detail: refusal.Message}
	}
	if refusal != nil && busy != nil { // the connection holds
		e := tools.Errorf(tools.Unavailable, "the MCP server %s takes no more calls for now (HTTP status %d), so %s was not called; try again later, or go on without it", cfg.Name, busy.status, what)
		e.Transient, e.RetryAfter = true, busy.after
		return e
	}
	c.giveUp(err)
	e := tools.Errorf(tools.Unavailable, "the MCP server %s was lost during the call, so it is not known whether it took effect; tell the user", cfg.Name)
	e.Transient = true
	return e
}

// notSent is what the SDK says of a request that the server has not answered, as a
// server would say it: the transport gave it up.
var notSent = &jsonrpc.Error{Code: -32005, Message: "rejected by transport"}
