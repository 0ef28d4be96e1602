package acp

import (
	"encoding/json"
	"fmt"
)

// version1 is version 1 of the protocol, whose names the types here have.
type version1 struct{}

func (version1) hello(c *Conn) map[string]any {
	capabilities := map[string]any{
		"fs":       map[string]bool{"readTextFile": c.world.Files != nil, "writeTextFile": c.world.Files != nil},
		"terminal": c.world.Terminals != nil,
		"session": map[string]any{
			"configOptions": map[string]any{"boolean": struct{}{}},
			"compaction":    struct{}{},
			"notices":       struct{}{},
		},
	}
	if c.world.Elicitor != nil {
		capabilities["elicitation"] = map[string]any{"form": struct{}{}, "url": struct{}{}}
	}
	p := map[string]any{"protocolVersion": Version1, "clientCapabilities": capabilities}
	if c.opts.Client.Name != "" {
		p["clientInfo"] = c.opts.Client
	}
	return p
}

func (version1) initialized(raw json.RawMessage) (Initialized, error) {
	var agent Initialized
	err := json.Unmarshal(raw, &agent)
	agent.Capabilities.MCP.Stdio = true
	return agent, err
}

func (version1) reaches(w World) World { return w }

func (version1) signing() (in, out string) { return "authenticate", "logout" }

func (version1) session(p SessionParams) map[string]any {
	m := map[string]any{"cwd": p.Dir, "mcpServers": list(p.MCPServers)}
	if len(p.Directories) > 0 {
		m["additionalDirectories"] = p.Directories
	}
	return m
}

func (version1) loading(map[string]any) string { return "session/load" }

func (version1) setMode() string { return "session/set_mode" }

func (version1) setting(id string, value any) map[string]any {
	p := map[string]any{"configId": id, "value": value}
	if _, ok := value.(bool); ok {
		p["type"] = "boolean"
	}
	return p
}

func (version1) options(raw json.RawMessage) ([]ConfigOption, error) {
	var p struct{ ConfigOptions []ConfigOption }
	if isNull(raw) {
		return nil, nil
	}
	err := json.Unmarshal(raw, &p)
	return p.ConfigOptions, err
}

func (version1) permission(raw json.RawMessage) (PermissionRequest, error) {
	p := PermissionRequest{Raw: raw}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, err
	}
	if p.Tool.ID == "" {
		return p, Errorf(CodeInvalidParams, "the permission is for no tool call: toolCall.toolCallId is empty")
	}
	return p, nil
}

func (version1) talk(s *Session) talk { return &talk1{s} }

// talk1 is a session in version 1, in which a turn ends with the answer to its prompt.
type talk1 struct{ s *Session }

func (k *talk1) began(raw json.RawMessage) ([]Update, error) {
	if isNull(raw) {
		return nil, nil
	}
	var p struct{ Modes *Modes }
	err := json.Unmarshal(raw, &p)
	k.s.Modes = p.Modes
	return nil, err
}

func (k *talk1) heard(_ string, raw json.RawMessage) said {
	return said{updates: []Update{parseUpdate(k.s.ID, raw)}}
}

func (k *talk1) answered(t *turn, raw json.RawMessage, err error) said {
	end := said{over: t, err: err}
	if err != nil {
		return end
	}
	end.stopped.Raw = raw
	if err := json.Unmarshal(raw, &end.stopped); err != nil || end.stopped.Reason == "" {
		end.err = fmt.Errorf("the agent ended its turn without a reason: %.200s", raw)
	}
	return end
}

func (k *talk1) works() bool { return false }
