package lsp

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// TextEdit replaces Range by NewText.
type TextEdit struct {
	Range        Range  `json:"range"`
	NewText      string `json:"newText"`
	AnnotationID string `json:"annotationId,omitempty"`
}

// WorkspaceEdit changes many documents. One of Changes and DocumentChanges is set.
type WorkspaceEdit struct {
	Changes           map[URI][]TextEdit          `json:"changes,omitempty"`
	DocumentChanges   []DocumentChange            `json:"documentChanges,omitempty"`
	ChangeAnnotations map[string]ChangeAnnotation `json:"changeAnnotations,omitempty"`
}

// ChangeAnnotation describes a group of changes to a person.
type ChangeAnnotation struct {
	Label             string `json:"label"`
	NeedsConfirmation bool   `json:"needsConfirmation,omitzero"`
	Description       string `json:"description,omitempty"`
}

// DocumentChange is one step of a WorkspaceEdit: exactly one field is set.
type DocumentChange struct {
	TextDocumentEdit *TextDocumentEdit
	CreateFile       *CreateFile
	RenameFile       *RenameFile
	DeleteFile       *DeleteFile
}

// TextDocumentEdit changes one document.
type TextDocumentEdit struct {
	TextDocument OptionalVersionedTextDocumentIdentifier `json:"textDocument"`
	Edits        []TextEdit                              `json:"edits"`
}

// OptionalVersionedTextDocumentIdentifier names the version that an edit was
// made for; nil, sent as null, means the text on disk.
type OptionalVersionedTextDocumentIdentifier struct {
	URI     URI    `json:"uri"`
	Version *int32 `json:"version"`
}

// FileOptions says what happens when the target is, or isn't, there.
type FileOptions struct {
	Overwrite         bool `json:"overwrite,omitzero"`
	IgnoreIfExists    bool `json:"ignoreIfExists,omitzero"`
	Recursive         bool `json:"recursive,omitzero"`
	IgnoreIfNotExists bool `json:"ignoreIfNotExists,omitzero"`
}

// CreateFile creates an empty file.
type CreateFile struct {
	URI          URI          `json:"uri"`
	Options      *FileOptions `json:"options,omitempty"`
	AnnotationID string       `json:"annotationId,omitempty"`
}

// RenameFile moves a file or folder.
type RenameFile struct {
	OldURI       URI          `json:"oldUri"`
	NewURI       URI          `json:"newUri"`
	Options      *FileOptions `json:"options,omitempty"`
	AnnotationID string       `json:"annotationId,omitempty"`
}

// DeleteFile deletes a file or folder.
type DeleteFile struct {
	URI          URI          `json:"uri"`
	Options      *FileOptions `json:"options,omitempty"`
	AnnotationID string       `json:"annotationId,omitempty"`
}

// The resource operations as they are on the wire.
type (
	wireCreate struct {
		Kind string `json:"kind"`
		CreateFile
	}
	wireRename struct {
		Kind string `json:"kind"`
		RenameFile
	}
	wireDelete struct {
		Kind string `json:"kind"`
		DeleteFile
	}
)

// MarshalJSON writes the field that is set, with its kind.
func (c DocumentChange) MarshalJSON() ([]byte, error) {
	switch {
	case c.TextDocumentEdit != nil:
		return rpc.Marshal(c.TextDocumentEdit)
	case c.CreateFile != nil:
		return rpc.Marshal(wireCreate{"create", *c.CreateFile})
	case c.RenameFile != nil:
		return rpc.Marshal(wireRename{"rename", *c.RenameFile})
	case c.DeleteFile != nil:
		return rpc.Marshal(wireDelete{"delete", *c.DeleteFile})
	}
	return nil, errors.New("empty document change")
}

// UnmarshalJSON sets the field that the kind names.
func (c *DocumentChange) UnmarshalJSON(data []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := Unmarshal(data, &head); err != nil {
		return err
	}
	*c = DocumentChange{}
	switch head.Kind {
	case "":
		c.TextDocumentEdit = new(TextDocumentEdit)
		return Unmarshal(data, c.TextDocumentEdit)
	case "create":
		c.CreateFile = new(CreateFile)
		return Unmarshal(data, c.CreateFile)
	case "rename":
		c.RenameFile = new(RenameFile)
		return Unmarshal(data, c.RenameFile)
	case "delete":
		c.DeleteFile = new(DeleteFile)
		return Unmarshal(data, c.DeleteFile)
	}
	return fmt.Errorf("unknown kind of document change %q", head.Kind)
}

// ApplyWorkspaceEditParams belongs to workspace/applyEdit.
type ApplyWorkspaceEditParams struct {
	Label string        `json:"label,omitempty"`
	Edit  WorkspaceEdit `json:"edit"`
}

// ApplyWorkspaceEditResult answers workspace/applyEdit.
type ApplyWorkspaceEditResult struct {
	Applied       bool    `json:"applied"`
	FailureReason string  `json:"failureReason,omitempty"`
	FailedChange  *uint32 `json:"failedChange,omitempty"`
}

// DidChangeWatchedFilesParams belongs to workspace/didChangeWatchedFiles.
type DidChangeWatchedFilesParams struct {
	Changes []FileEvent `json:"changes"`
}

// FileEvent is one change on disk.
type FileEvent struct {
	URI  URI            `json:"uri"`
	Type FileChangeType `json:"type"`
}

// FileSystemWatcher asks for changes of files that match a glob.
type FileSystemWatcher struct {
	GlobPattern string `json:"globPattern"`
	Kind        uint32 `json:"kind,omitzero"` // create 1, change 2, delete 4; 0 means all
}

// DidChangeWatchedFilesRegistrationOptions registers watchers.
type DidChangeWatchedFilesRegistrationOptions struct {
	Watchers []FileSystemWatcher `json:"watchers"`
}

// RenameFilesParams belongs to workspace/didRenameFiles.
type RenameFilesParams struct {
	Files []FileRename `json:"files"`
}

// FileRename is one rename.
type FileRename struct {
	OldURI URI `json:"oldUri"`
	NewURI URI `json:"newUri"`
}

// DidChangeWorkspaceFoldersParams belongs to workspace/didChangeWorkspaceFolders.
type DidChangeWorkspaceFoldersParams struct {
	Event struct {
		Added   []WorkspaceFolder `json:"added"`
		Removed []WorkspaceFolder `json:"removed"`
	} `json:"event"`
}

// ConfigurationParams belongs to workspace/configuration; the answer is one
// value per item.
type ConfigurationParams struct {
	Items []ConfigurationItem `json:"items"`
}

// ConfigurationItem is one section that is asked for.
type ConfigurationItem struct {
	ScopeURI URI    `json:"scopeUri,omitempty"`
	Section  string `json:"section,omitempty"`
}

// DidChangeConfigurationParams belongs to workspace/didChangeConfiguration.
// Settings is null for clients that want to be asked.
type DidChangeConfigurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

// RegistrationParams belongs to client/registerCapability.
type RegistrationParams struct {
	Registrations []Registration `json:"registrations"`
}

// Registration is one capability registered after initialize.
type Registration struct {
	ID              string `json:"id"`
	Method          string `json:"method"`
	RegisterOptions any    `json:"registerOptions,omitzero"`
}
