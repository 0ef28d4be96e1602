package acp

import (
	"cmp"
	"encoding/json"
	"errors"
)

// version2 is the draft of version 2. In it the agent's files and terminals are its
// own, sessions have settings and no modes, and an answer to a prompt is not its end.
type version2 struct{}

func (version2) hello(c *Conn) map[string]any {
	p := version1{}.hello(c)
	capabilities := map[string]any{}
	if c.world.Elicitor != nil {
		capabilities["elicitation"] = map[string]any{"form": struct{}{}, "url": struct{}{}}
	}
	p["protocolVersion"], p["capabilities"] = Version2, capabilities
	p["info"] = Implementation{Name: cmp.Or(c.opts.Client.Name, "client"), Title: c.opts.Client.Title, Version: cmp.Or(c.opts.Client.Version, "0")}
	return p
}

// offered is a capability: an object, whatever is in it, or not offered.
type offered struct{ on bool }

func (o *offered) UnmarshalJSON(p []byte) error {
	o.on = len(p) > 0 && p[0] == '{'
	return nil
}

// lenient is a value that is read if it can be, and otherwise as if it were not there.
type lenient[T any] struct{ value T }

func (l *lenient[T]) UnmarshalJSON(p []byte) error {
	var v T
	if json.Unmarshal(p, &v) == nil {
		l.value = v
	}
	return nil
}

// each are the members of a list that can be read.
func each[T any](raw json.RawMessage) []T {
	got := []T{}
	for _, item := range items(raw) {
		var v T
		if json.Unmarshal(item, &v) == nil {
			got = append(got, v)
		}
	}
	return got
}

func (version2) initialized(raw json.RawMessage) (Initialized, error) {
	var p struct {
		Info         *Implementation
		Capabilities lenient[struct {
			Session lenient[*struct {
				Prompt                              lenient[struct{ Image, Audio, EmbeddedContext offered }]
				MCP                                 lenient[struct{ Stdio, HTTP offered }]
				Delete, AdditionalDirectories, Fork offered
			}]
		}]
		AuthMethods json.RawMessage
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return Initialized{}, err
	}
	can := p.Capabilities.value.Session.value
	if can == nil {
		return Initialized{}, errors.New("it offers no sessions, which are capabilities.session")
	}
	yes := &struct{}{}
	is := func(o offered) *struct{} {
		if o.on {
			return yes
		}
		return nil
	}
	agent := Initialized{Agent: p.Info}
	c := &agent.Capabilities
	c.LoadSession = true
	prompt := can.Prompt.value
	c.Prompt = PromptCapabilities{Image: prompt.Image.on, Audio: prompt.Audio.on, EmbeddedContext: prompt.EmbeddedContext.on}
	c.MCP.Stdio, c.MCP.HTTP = can.MCP.value.Stdio.on, can.MCP.value.HTTP.on
	c.Session.List, c.Session.Resume, c.Session.Close = yes, yes, yes
	c.Session.Delete, c.Session.Fork, c.Session.AdditionalDirectories = is(can.Delete), is(can.Fork), is(can.AdditionalDirectories)
	for _, m := range each[authMethod2](p.AuthMethods) {
		if m.MethodID != "" {
			agent.AuthMethods = append(agent.AuthMethods, m.neutral())
		}
	}
	if len(agent.AuthMethods) > 0 {
		c.Auth.Logout = yes
	}
	return agent, nil
}

type authMethod2 struct {
	MethodID, Name, Type, Description string
	Args                              lenient[[]string]
	Env                               lenient[[]Variable]
}

func (m authMethod2) neutral() AuthMethod {
	env := map[string]string{}
	for _, v := range m.Env.value {
		env[v.Name] = v.Value
	}
	return AuthMethod{ID: m.MethodID, Name: m.Name, Type: m.Type, Description: m.Description, Args: m.Args.value, Env: env}
}

func (version2) reaches(w World) World {
	w.Files, w.Terminals = nil, nil
	return w
}

func (version2) signing() (in, out string) { return "auth/login", "auth/logout" }

// server2 is a server of tools, which has a type in each case.
type server2 struct{ MCPServer }

func (s server2) MarshalJSON() ([]byte, error) {
	if s.Type != "" {
		return s.MCPServer.MarshalJSON()
	}
	return json.Marshal(struct {
		Type    string     `json:"type"`
		Name    string     `json:"name"`
		Command string     `json:"command"`
		Args    []string   `json:"args"`
		Env     []Variable `json:"env"`
	}{"stdio", s.Name, s.Command, list(s.Args), list(s.Env)})
}

func (version2) session(p SessionParams) map[string]any {
	m := version1{}.session(p)
	servers := []server2{}
	for _, s := range p.MCPServers {
		servers = append(servers, server2{s})
	}
	m["mcpServers"] = servers
	return m
}

func (version2) loading(p map[string]any) string {
	p["replayFrom"] = map[string]string{"type": "start"}
	return "session/resume"
}

func (version2) setMode() string { return "" }

func (version2) setting(id string, value any) map[string]any {
	kind := "id"
	if _, ok := value.(bool); ok {
		kind = "boolean"
	}
	return map[string]any{"configId": id, "type": kind, "value": value}
}

// option2 is a setting, whose id has another name than in version 1. That of a group
// is not needed.
type option2 struct{ ConfigOption }

func (o *option2) UnmarshalJSON(p []byte) error {
	var wire struct{ ConfigID string }
	if err := json.Unmarshal(p, &wire); err != nil {
		return err
	}
	if wire.ConfigID == "" {
		return errors.New("a setting has no configId")
	}
	err := o.ConfigOption.UnmarshalJSON(p)
	o.ID = wire.ConfigID
	return err
}

func (version2) options(raw json.RawMessage) ([]ConfigOption, error) {
	if isNull(raw) {
		return nil, nil
	}
	var p struct{ ConfigOptions json.RawMessage }
	err := json.Unmarshal(raw, &p)
	var all []ConfigOption
	for _, o := range each[option2](p.ConfigOptions) {
		all = append(all, o.ConfigOption)
	}
	return all, err
}

func (version2) permission(raw json.RawMessage) (PermissionRequest, error) {
	var p struct {
		SessionID, Title string
		Description      lenient[string]
		Subject          struct {
			Type         string
			ToolCall     json.RawMessage
			Command, Cwd string
			ToolCallID   string
		}
		Options []PermissionOption
	}
	r := PermissionRequest{Raw: raw}
	if err := json.Unmarshal(raw, &p); err != nil {
		return r, err
	}
	r.Session, r.Title, r.Detail, r.Options = p.SessionID, p.Title, p.Description.value, p.Options
	switch subject := p.Subject; subject.Type {
	case "tool_call":
		t, err := tool2(subject.ToolCall)
		if err != nil {
			return r, Errorf(CodeInvalidParams, "the permission is for a tool call that can't be read: %s", err)
		}
		r.Tool = *t
	case "command":
		if subject.Command == "" {
			return r, Errorf(CodeInvalidParams, "the permission is for a command and names none: subject.command is empty")
		}
		input, err := json.Marshal(map[string]string{"command": subject.Command, "cwd": subject.Cwd})
		if err != nil {
			return r, err
		}
		r.Tool = ToolCall{ID: subject.ToolCallID, Title: subject.Command, Kind: "execute", RawInput: input}
	}
	return r, nil
}

func (version2) talk(s *Session) talk { return newTalk2(s) }
