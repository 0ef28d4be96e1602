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

	UserMessage     = "user_message"
	AgentMessage    = "agent_message"
	AgentThought    = "agent_thought"
	TerminalChanged = "terminal_update"
	TerminalChunk   = "terminal_output_chunk"
	WorkChanged     = "state_update"
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
	Message    *Message
	Tool       *ToolCall
	Terminal   *TerminalOutput
	Work       *Work
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

// Message is a message as a whole, which takes the place of what was told of it.
type Message struct {
	ID      string
	Content []Content // nil: it has not changed; empty: nothing is left of it
}

// TerminalOutput is what a terminal of the agent's own shows.
type TerminalOutput struct {
	ID    string
	Text  string
	Whole bool // Text takes the place of what was shown; else it is added to that
}

// Work tells that an agent works with no prompt that waits for it, or has stopped.
type Work struct{ On bool }

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

	Untitled bool          `json:"-"` // it has no title any more
	More     []ToolContent `json:"-"` // is added to the content
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
	From     string   `json:"-"`       // where the file was before that is moved or copied
	OldText  *string  `json:"oldText"` // nil for a new file
	NewText  string   `json:"newText"`
	Terminal string   `json:"terminalId"`
}

// Types of what a tool call shows.
const (
	ShowsContent  = "content"
	ShowsDiff     = "diff"     // of Path; with several parts of a file there are several
	ShowsTerminal = "terminal" // one of ours
	ShowsTheirs   = "theirs"   // a terminal of the agent's own, whose output comes as updates
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
