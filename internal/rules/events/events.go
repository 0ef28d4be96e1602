// Package events tells whoever listens what happens to calls, in order, and
// without ever making a call wait for a listener.
package events

import (
	"encoding/json"
	"time"
)

// Type says what happened.
type Type string

// The types of event. Every ToolStarted is followed by exactly one
// ToolCompleted of the same call.
const (
	ToolStarted         Type = "toolStarted"
	PermissionRequested Type = "permissionRequested"
	PermissionResolved  Type = "permissionResolved"
	ToolOutput          Type = "toolOutput"
	ToolCompleted       Type = "toolCompleted"
	Hook                Type = "hook"
	Agent               Type = "agent"
	ToolsChanged        Type = "toolsChanged" // concerns a session, not a call
)

// Event is something that happened to a call: the parameters of the
// notification sidecar/event. The payload that its type calls for is set, and
// its fields stand beside the others in JSON.
type Event struct {
	Type    Type      `json:"type"`
	Time    time.Time `json:"time"` // set by Publish when zero
	Session string    `json:"session"`
	CallID  string    `json:"callId"`
	Tool    string    `json:"tool"`

	*Started    // ToolStarted
	*Permission // PermissionRequested, PermissionResolved
	*Output     // ToolOutput
	*Completed  // ToolCompleted
	*ToolSet    // ToolsChanged
	*HookRun    // Hook
}

// HookRun is the payload of Hook: a hook was run.
type HookRun struct {
	Event      string `json:"hookEvent"`
	Origin     string `json:"origin"`
	Command    string `json:"command"`
	Decision   string `json:"hookDecision,omitempty"` // allow, ask or deny; "": it said nothing
	Failure    string `json:"failure,omitempty"`
	Message    string `json:"hookMessage,omitempty"` // for the user
	DurationMs int64  `json:"hookMs"`
}

// Started is the payload of ToolStarted.
type Started struct {
	Access    string          `json:"access"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // redacted
}

// Permission is the payload of both permission events.
type Permission struct {
	ApprovalID string `json:"approvalId,omitempty"` // when a person is asked
	Outcome    string `json:"outcome"`              // ask when requested; then allow or deny
	By         string `json:"by,omitempty"`         // rule, mode or user
	Rule       string `json:"rule,omitempty"`
	Scope      string `json:"scope,omitempty"` // how far the answer reaches
	Reason     string `json:"reason,omitempty"`
}

// Output is the payload of ToolOutput.
type Output struct {
	Chunk   string `json:"chunk"`             // redacted
	Dropped int    `json:"dropped,omitempty"` // chunks, of any call, that were left out before this one
}

// Completed is the payload of ToolCompleted.
type Completed struct {
	OK         bool     `json:"ok"`
	Code       string   `json:"code,omitempty"`    // of the error, when not OK
	Message    string   `json:"message,omitempty"` // of the error, redacted
	DurationMs int64    `json:"durationMs"`
	ApprovalMs int64    `json:"approvalMs"`
	Bytes      int      `json:"bytes"` // of the content, before it was cut
	Changes    []Change `json:"changes,omitempty"`
}

// Change names a file that a call changed.
type Change struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"`  // create, modify, delete or rename
	State string `json:"state"` // applied or pending
}

// ToolSet is the payload of ToolsChanged.
type ToolSet struct {
	Activated []string `json:"activated"` // tools that are in the session's list besides those that always are
}
