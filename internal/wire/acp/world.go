package acp

import (
	"context"
	"encoding/json"
)

// World is what an agent reaches through its host. What is nil is not offered
// to the agent, and refused when it asks all the same.
type World struct {
	Host      Host // required
	Files     Files
	Terminals Terminals
	Elicitor  Elicitor
}

// Host hears what an agent tells and answers whether it may do something.
type Host interface {
	// Update is called in the order of the wire, one at a time, and before the
	// prompt returns that the updates belong to. While it works the agent is not
	// read, so it must not wait for the agent.
	Update(ctx context.Context, u Update)
	// Permission returns the id of one of the options. ctx ends when the prompt
	// is cancelled, which answers the request: what is returned then is not used.
	// An error, or an id that is not among the options, is a cancelled request,
	// never a permission.
	Permission(ctx context.Context, r PermissionRequest) (string, error)
}

// Files are the text files of a session. Paths are absolute.
type Files interface {
	ReadFile(ctx context.Context, session, path string) (string, error)
	WriteFile(ctx context.Context, session, path, text string) error
}

// Terminals start commands.
type Terminals interface {
	Create(ctx context.Context, r TerminalRequest) (Terminal, error)
}

// Terminal is a command that runs, or has run. Its methods may be called beside
// each other.
type Terminal interface {
	Output() (text string, truncated bool, exit *Exit)
	Wait(ctx context.Context) (Exit, error)
	Kill() error
	Release() // kills it if it runs, and forgets it
}

// Elicitor asks a person for what a form describes, or to visit a page.
type Elicitor interface {
	Elicit(ctx context.Context, r ElicitRequest) (Elicited, error)
}

// PermissionRequest asks whether a tool call may be made.
type PermissionRequest struct {
	Session string             `json:"sessionId"`
	Tool    ToolCall           `json:"toolCall"`
	Options []PermissionOption `json:"options"`
	Raw     json.RawMessage    `json:"-"`
}

// PermissionOption is an answer. Kind is allow_once, allow_always, reject_once or
// reject_always.
type PermissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// TerminalRequest is a command to be run.
type TerminalRequest struct {
	Session     string     `json:"sessionId"`
	Command     string     `json:"command"`
	Args        []string   `json:"args"`
	Env         []Variable `json:"env"`
	Dir         string     `json:"cwd"`             // absolute, or "" for the session's
	OutputLimit *int64     `json:"outputByteLimit"` // bytes to keep, from the end
}

// Exit is how a command ended: with a code, or by a signal.
type Exit struct {
	Code   *int    `json:"exitCode"`
	Signal *string `json:"signal"`
}

// ElicitRequest asks a person for input. Session is "" when the request belongs
// to another request, as signing in does.
type ElicitRequest struct {
	Session string          `json:"sessionId"`
	Request json.RawMessage `json:"requestId"`
	Tool    string          `json:"toolCallId"`
	Mode    string          `json:"mode"` // form or url
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
	ID      string          `json:"elicitationId"`
	URL     string          `json:"url"`
	Raw     json.RawMessage `json:"-"`
}

// Elicited is a person's answer: accept with Content, decline or cancel.
type Elicited struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}
