package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"
)

// What decodes and encodes as it should is go.lsp.dev/protocol's. Unions,
// optional strings as pointers, and URIs that are rewritten while they are
// decoded are reasons to have an own struct instead.
type (
	// Position is a place between two characters of a text.
	Position = protocol.Position
	// Range is the text between two positions.
	Range = protocol.Range
	// DiagnosticSeverity says how bad a finding is.
	DiagnosticSeverity = protocol.DiagnosticSeverity
	// MessageType says how a message is shown.
	MessageType = protocol.MessageType
	// FileChangeType says what happened to a watched file.
	FileChangeType = protocol.FileChangeType
	// SyncKind says how the changes of a document are sent.
	SyncKind = protocol.TextDocumentSyncKind
)

// Values of the enumerations above.
const (
	SeverityError       = protocol.DiagnosticSeverityError
	SeverityWarning     = protocol.DiagnosticSeverityWarning
	SeverityInformation = protocol.DiagnosticSeverityInformation
	SeverityHint        = protocol.DiagnosticSeverityHint

	MessageError   = protocol.MessageTypeError
	MessageWarning = protocol.MessageTypeWarning
	MessageInfo    = protocol.MessageTypeInfo
	MessageLog     = protocol.MessageTypeLog

	FileCreated = protocol.FileChangeTypeCreated
	FileChanged = protocol.FileChangeTypeChanged
	FileDeleted = protocol.FileChangeTypeDeleted

	SyncNone        = protocol.TextDocumentSyncKindNone
	SyncFull        = protocol.TextDocumentSyncKindFull
	SyncIncremental = protocol.TextDocumentSyncKindIncremental
)

// URI is a document URI exactly as the client wrote it.
type URI = string

// TextDocumentIdentifier names a document.
type TextDocumentIdentifier struct {
	URI URI `json:"uri"`
}

// VersionedTextDocumentIdentifier names a version of a document.
type VersionedTextDocumentIdentifier struct {
	URI     URI   `json:"uri"`
	Version int32 `json:"version"`
}

// TextDocumentItem is a document that is handed over whole.
type TextDocumentItem struct {
	URI        URI    `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int32  `json:"version"`
	Text       string `json:"text"`
}

// TextDocumentPositionParams is a place in a document.
type TextDocumentPositionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Position     Position               `json:"position"`
}

// DidOpenTextDocumentParams belongs to textDocument/didOpen.
type DidOpenTextDocumentParams struct {
	TextDocument TextDocumentItem `json:"textDocument"`
}

// DidChangeTextDocumentParams belongs to textDocument/didChange.
type DidChangeTextDocumentParams struct {
	TextDocument   VersionedTextDocumentIdentifier `json:"textDocument"`
	ContentChanges []ContentChange                 `json:"contentChanges"`
}

// ContentChange replaces Range by Text, or the whole document when Range is nil.
type ContentChange struct {
	Range *Range `json:"range,omitempty"`
	Text  string `json:"text"`
}

// DidSaveTextDocumentParams belongs to textDocument/didSave. Text is nil when
// the client doesn't include it.
type DidSaveTextDocumentParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Text         *string                `json:"text,omitempty"`
}

// DidCloseTextDocumentParams belongs to textDocument/didClose.
type DidCloseTextDocumentParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
}

// Command is a command that a client may run.
type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

// ExecuteCommandParams belongs to workspace/executeCommand.
type ExecuteCommandParams struct {
	Command       string            `json:"command"`
	Arguments     []json.RawMessage `json:"arguments,omitempty"`
	WorkDoneToken ProgressToken     `json:"workDoneToken,omitzero"`
}

// Diagnostic is a message about a range.
type Diagnostic struct {
	Range    Range              `json:"range"`
	Severity DiagnosticSeverity `json:"severity,omitzero"`
	Code     any                `json:"code,omitzero"` // string or number
	Source   string             `json:"source,omitempty"`
	Message  string             `json:"message"`
	Data     json.RawMessage    `json:"data,omitempty"`
}

// PublishDiagnosticsParams belongs to textDocument/publishDiagnostics. Nil
// Diagnostics go out as an empty list, which takes earlier ones back.
type PublishDiagnosticsParams struct {
	URI         URI          `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// CodeActionParams belongs to textDocument/codeAction.
type CodeActionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        Range                  `json:"range"`
	Context      CodeActionContext      `json:"context"`
}

// CodeActionContext narrows down which actions are wanted.
type CodeActionContext struct {
	Diagnostics []Diagnostic `json:"diagnostics"`
	Only        []string     `json:"only,omitempty"`
	TriggerKind int          `json:"triggerKind,omitzero"`
}

// CodeAction is a change or a command on offer.
type CodeAction struct {
	Title       string              `json:"title"`
	Kind        string              `json:"kind,omitempty"`
	Diagnostics []Diagnostic        `json:"diagnostics,omitempty"`
	IsPreferred bool                `json:"isPreferred,omitzero"`
	Disabled    *CodeActionDisabled `json:"disabled,omitempty"`
	Edit        *WorkspaceEdit      `json:"edit,omitempty"`
	Command     *Command            `json:"command,omitempty"`
	Data        json.RawMessage     `json:"data,omitempty"`
}

// CodeActionDisabled says why an action can't be used now.
type CodeActionDisabled struct {
	Reason string `json:"reason"`
}

// CodeLensParams belongs to textDocument/codeLens.
type CodeLensParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
}

// CodeLens is a command shown above a line.
type CodeLens struct {
	Range   Range           `json:"range"`
	Command *Command        `json:"command,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}
