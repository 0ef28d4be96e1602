// Package hooks runs programs of the user's that hear of what agents do, and may hold
// it back, in the format of Claude Code's hooks: a table of events, what is written
// to a program's standard input, and how its answer is read. A hook can make things
// stricter; it can answer a question for the user, and never loosen what is denied.
//
//	parse.go   a source of hooks, as people have it        wire.go   Input and its answer
//	names.go   our tools by the names that hooks know      run.go    all hooks of an event, merged
//	keeper.go  one hook: started ahead, bounded, given up for a while when it fails
//
// Who starts them, and how they are confined, is not known here.
package hooks

import (
	"encoding/json"
	"time"
)

// Event is a moment at which hooks are run.
type Event string

// The events.
const (
	SessionStart       Event = "SessionStart"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PreToolUse         Event = "PreToolUse"
	PermissionRequest  Event = "PermissionRequest"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	PermissionDenied   Event = "PermissionDenied"
	BudgetExceeded     Event = "BudgetExceeded"
	ToolsDisabled      Event = "ToolsDisabled"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	PreCompact         Event = "PreCompact"
	Stop               Event = "Stop"
)

// Row says of an event what its hooks get and can do; docs/hooks.md is made of it.
type Row struct {
	Event   Event
	When    string
	Matcher string   // what a matcher is compared with; "": there is none
	Fields  []string // members of Input besides those of every event
	Can     string   // what an answer can do
	Blocks  bool     // exit code 2, and decision "block", hold something back
}

// Events returns the table of events.
func Events() []Row {
	tool := []string{"tool_name", "tool_input", "tool_use_id", "sidecar_tool", "sidecar_input"}
	with := func(more ...string) []string { return append(append([]string{}, tool...), more...) }
	return []Row{
		{SessionStart, "a conversation with the agent of sidecar-ls begins or goes on", "`source`: `startup` or `resume`", []string{"source"}, "context", false},
		{UserPromptSubmit, "a prompt is about to reach that agent", "", []string{"prompt"}, "context; block: the prompt is not heard", true},
		{PreToolUse, "a call's arguments are valid, and nothing is decided yet", "tool", tool, "allow, ask, deny, changed input, context", true},
		{PermissionRequest, "a person is about to be asked about a call", "tool", tool, "allow or deny in the person's place", true},
		{PostToolUse, "a call has succeeded", "tool", with("tool_response"), "context; another output; block: the reason is told to the agent", true},
		{PostToolUseFailure, "a call has failed", "tool", with("error", "error_code"), "context", false},
		{PermissionDenied, "the policy or a person has denied a call", "tool", with("reason"), "context", false},
		{BudgetExceeded, "a call is refused because the budget of its session is spent", "tool", []string{"tool_name", "sidecar_tool", "tool_use_id", "reason"}, "nothing", false},
		{ToolsDisabled, "a call is refused because tools are switched off", "tool", []string{"tool_name", "sidecar_tool", "tool_use_id", "reason"}, "nothing", false},
		{SubagentStart, "a sub-agent is about to begin", "`agent_type`", []string{"agent_id", "agent_type", "prompt"}, "context for the sub-agent; block: it does not begin", true},
		{SubagentStop, "a sub-agent has ended", "`agent_type`", []string{"agent_id", "agent_type", "last_assistant_message"}, "nothing", false},
		{PreCompact, "a conversation is about to be shortened", "`trigger`: `manual` or `auto`", []string{"trigger"}, "block: it is not shortened", true},
		{Stop, "the agent has come to the end of a turn", "", []string{"stop_hook_active", "last_assistant_message"}, "block: the agent goes on with the reason, three times at most", true},
	}
}

// RowOf returns the row of an event; ok is false if there is no such event.
func RowOf(e Event) (row Row, ok bool) {
	for _, r := range Events() {
		if r.Event == e {
			return r, true
		}
	}
	return Row{}, false
}

// Hook is one program that is run at an event.
type Hook struct {
	Event      Event
	Matcher    string
	Command    string        // a line for the shell
	Timeout    time.Duration // 0: DefaultTimeout
	FailClosed bool          // what it can hold back is held back when it fails
	Origin     string        // where it is named, for people
	Project    bool          // by the project's files
	Trusted    bool          // the user has said that it may run
	Dir        string        // the directory of the plugin that brings it; "": no plugin

	// Stricter says that the project no longer names it: it can hold back, and allows
	// nothing.
	Stricter bool
	// Changed says in words what of its program, in a root, is not as the user trusted
	// it; "" is nothing, and nil never is.
	Changed func(root string) string

	matches func(string) bool
}

// Same reports whether two hooks are one and the same, as a source names them.
func (h *Hook) Same(o *Hook) bool {
	return h.key("") == o.key("") && h.Timeout == o.Timeout && h.FailClosed == o.FailClosed
}

// DefaultTimeout bounds a hook that names no time of its own, MaxTimeout one that does.
const (
	DefaultTimeout = 15 * time.Second
	MaxTimeout     = 10 * time.Minute
)

// Input is what a hook is told: the JSON object on its standard input. Members that
// are empty do not belong to the event.
type Input struct {
	Session string `json:"session_id"`
	Dir     string `json:"cwd"`             // the root of the session
	Mode    string `json:"permission_mode"` // default, acceptEdits, plan or bypassPermissions
	Event   Event  `json:"hook_event_name"`
	OurMode string `json:"sidecar_mode,omitempty"`

	ToolName string          `json:"tool_name,omitempty"`  // as hooks know it
	Tool     json.RawMessage `json:"tool_input,omitempty"` // likewise, without secrets
	Call     string          `json:"tool_use_id,omitempty"`
	OurTool  string          `json:"sidecar_tool,omitempty"`
	OurInput json.RawMessage `json:"sidecar_input,omitempty"`
	Response *Response       `json:"tool_response,omitempty"`

	Error     string `json:"error,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`
	Reason    string `json:"reason,omitempty"`

	Source     string `json:"source,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	AgentID    string `json:"agent_id,omitempty"`
	AgentType  string `json:"agent_type,omitempty"`
	Last       string `json:"last_assistant_message,omitempty"`
	Trigger    string `json:"trigger,omitempty"`
	StopActive bool   `json:"stop_hook_active,omitempty"`
}

// Behaviour is what a mode does with edits and commands: allow, ask or deny.
type Behaviour interface {
	Does() (edits, commands string, waits bool)
}

// Mode is what a mode does, in the words that hooks know; waits: edits wait for review.
func Mode(m Behaviour) string {
	switch edits, commands, waits := m.Does(); {
	case edits == Deny:
		return "plan"
	case edits == Allow && commands == Allow:
		return "bypassPermissions"
	case edits == Allow || waits:
		return "acceptEdits"
	}
	return "default"
}

// Response is the result of a call, as a hook is told of it.
type Response struct {
	Content    string          `json:"content"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Changes    []string        `json:"changes,omitempty"` // paths
}

// Outcomes of a decision, strictest last.
const (
	Allow = "allow"
	Ask   = "ask"
	Deny  = "deny"
)

// Outcome is what the hooks of an event say together. The zero value says nothing.
type Outcome struct {
	Decision string `json:"decision,omitempty"` // "", Allow, Ask or Deny
	Reason   string `json:"reason,omitempty"`   // of the decision, for people and models
	By       string `json:"by,omitempty"`       // the origin of the hook that decided

	Input   json.RawMessage `json:"input,omitempty"`   // the arguments that a call is to have, as our tool takes them; nil: unchanged
	Output  *string         `json:"output,omitempty"`  // what the model is to read in place of a call's text
	Context []string        `json:"context,omitempty"` // what the model is told besides
	Halt    string          `json:"halt,omitempty"`    // why the agent is to stop after this; ""

	said string // what the user is told
}

// Ran tells of one hook that was run.
type Ran struct {
	Hook     *Hook
	Event    Event
	Session  string
	Call     string
	Tool     string
	Decision string // what it said; "": nothing
	Failure  string // why it does not count, or why it held something back by failing
	Said     string // what the user is told; "": nothing
	Took     time.Duration
}
