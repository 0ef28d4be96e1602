package acp

import "encoding/json"

// Kinds of updates that are read. Others keep only Raw.
const (
	UserMessageChunk  = "user_message_chunk"
	AgentMessageChunk = "agent_message_chunk"
	AgentThoughtChunk = "agent_thought_chunk"
	ToolCallStarted   = "tool_call"
	ToolCallChanged   = "tool_call_update"
	PlanChanged       = "plan"
	CommandsChanged   = "available_commands_update"
	ModeChanged       = "current_mode_update"
	ConfigChanged     = "config_option_update"
	InfoChanged       = "session_info_update"
	UsageChanged      = "usage_update"
	NoticeGiven       = "notice"
	CompactionChanged = "compaction_update"
	CompactionChunk   = "compaction_summary_chunk"
)

// Update is what an agent tells of a session. Which member is set follows from
// Kind; Raw is the whole update, also of kinds that are not known.
type Update struct {
	Session string
	Kind    string
	Raw     json.RawMessage
	Parent  string // the call of the sub-agent that does this; "" for the agent itself
	Err     error  // why the members could not be read; Raw is all there is then

	Chunk      *Chunk
	Tool       *ToolCall
	Plan       []PlanEntry
	Commands   []Command
	Mode       string
	Config     []ConfigOption
	Info       *InfoUpdate
	Usage      *Usage
	Notice     *Notice
	Compaction *Compaction
}

// Chunk is a part of a message. MessageID is "" when the agent doesn't say which.
type Chunk struct {
	MessageID string  `json:"messageId"`
	Content   Content `json:"content"`
}

// ToolCall is a call, or what changed of one: members that are nil or empty have
// not changed.
type ToolCall struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Name      string          `json:"name"`
	Kind      string          `json:"kind"`   // read, edit, delete, move, search, execute, think, fetch, switch_mode, other
	Status    string          `json:"status"` // pending, in_progress, completed, failed
	Content   []ToolContent   `json:"content"`
	Locations []Location      `json:"locations"`
	RawInput  json.RawMessage `json:"rawInput"`
	RawOutput json.RawMessage `json:"rawOutput"`
}

// Statuses of a tool call.
const (
	StatusPending    = "pending"
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusFailed     = "failed"
)

// ToolContent is what a tool call shows, by Type.
type ToolContent struct {
	Type     string   `json:"type"`
	Content  *Content `json:"content"`
	Path     string   `json:"path"`
	OldText  *string  `json:"oldText"` // nil for a new file
	NewText  string   `json:"newText"`
	Terminal string   `json:"terminalId"`
}

// Types of what a tool call shows.
const (
	ShowsContent  = "content"
	ShowsDiff     = "diff"     // of Path
	ShowsTerminal = "terminal" // one of ours
)

// Location is a place in a file; lines count from 1.
type Location struct {
	Path string `json:"path"`
	Line *int   `json:"line,omitempty"`
}

// PlanEntry is a step of a plan.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// Command is a slash command of an agent.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       *struct {
		Hint string `json:"hint"`
	} `json:"input"`
}

// InfoUpdate says what changed about a session. A title that is nil has not.
type InfoUpdate struct {
	Title     *string `json:"title"`
	UpdatedAt *string `json:"updatedAt"`
}

// Usage is how full the context is and what the session has cost.
type Usage struct {
	Used int64 `json:"used"`
	Size int64 `json:"size"`
	Cost *Cost `json:"cost"`
}

// Cost is an amount in a currency, or in credits.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// Notice is something that the agent wants people to know.
type Notice struct {
	Severity    string `json:"severity"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// Compaction is a summary that takes the place of the conversation so far, or a
// part of it.
type Compaction struct {
	ID      string    `json:"compactionId"`
	Status  string    `json:"status"`
	Summary []Content `json:"summary"`
	Error   string    `json:"error"`
	Content *Content  `json:"content"` // of a chunk
}

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
