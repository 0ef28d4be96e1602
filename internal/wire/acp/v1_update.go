package acp

import "encoding/json"

// maxID bounds the id of a call.
const maxID = 1000

// parentOf is the call of the sub-agent whose update this is. The protocol has no member
// for it: Claude Code's is read.
func parentOf(raw json.RawMessage) string {
	var p struct {
		Meta struct {
			ClaudeCode struct{ ParentToolUseID string }
		} `json:"_meta"`
		ToolCallID string
	}
	if json.Unmarshal(raw, &p) != nil {
		return ""
	}
	parent := p.Meta.ClaudeCode.ParentToolUseID
	if len(parent) > maxID || parent == p.ToolCallID {
		return ""
	}
	return parent
}

// parseUpdate reads the update of a session. One that can't be read is an Update
// all the same.
func parseUpdate(session string, raw json.RawMessage) Update {
	u := Update{Session: session, Raw: raw}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if u.Err = json.Unmarshal(raw, &kind); u.Err != nil {
		return u
	}
	u.Kind = kind.Kind
	u.Parent = parentOf(raw)
	switch u.Kind {
	case UserMessageChunk, AgentMessageChunk, AgentThoughtChunk:
		u.Chunk, u.Err = decode[Chunk](raw)
	case ToolCallStarted, ToolCallChanged:
		u.Tool, u.Err = decode[ToolCall](raw)
		if u.Err == nil && u.Tool.ID == "" {
			u.Tool, u.Err = nil, Errorf(CodeInvalidParams, "a tool call has no toolCallId")
		}
	case PlanChanged:
		plan, err := decode[struct{ Entries []PlanEntry }](raw)
		if u.Err = err; err == nil {
			u.Plan = plan.Entries
		}
	case CommandsChanged:
		commands, err := decode[struct{ AvailableCommands []Command }](raw)
		if u.Err = err; err == nil {
			u.Commands = commands.AvailableCommands
		}
	case ModeChanged:
		mode, err := decode[struct{ CurrentModeID string }](raw)
		if u.Err = err; err == nil {
			u.Mode = mode.CurrentModeID
		}
	case ConfigChanged:
		config, err := decode[struct{ ConfigOptions []ConfigOption }](raw)
		if u.Err = err; err == nil {
			u.Config = config.ConfigOptions
		}
	case InfoChanged:
		u.Info, u.Err = decode[InfoUpdate](raw)
	case UsageChanged:
		u.Usage, u.Err = decode[Usage](raw)
	case NoticeGiven:
		u.Notice, u.Err = decode[Notice](raw)
	case CompactionChanged, CompactionChunk:
		u.Compaction, u.Err = decode[Compaction](raw)
	}
	return u
}

func decode[T any](raw json.RawMessage) (*T, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return &v, nil
}
