package lsp

import "encoding/json"

// InitializeParams belongs to initialize. Members that nobody here reads are
// left out and ignored.
type InitializeParams struct {
	ProcessID             *int64             `json:"processId"`
	ClientInfo            *Info              `json:"clientInfo,omitempty"`
	Locale                string             `json:"locale,omitempty"`
	RootPath              *string            `json:"rootPath,omitempty"`
	RootURI               *URI               `json:"rootUri"`
	InitializationOptions json.RawMessage    `json:"initializationOptions,omitempty"`
	Capabilities          ClientCapabilities `json:"capabilities"`
	Trace                 string             `json:"trace,omitempty"`
	WorkspaceFolders      []WorkspaceFolder  `json:"workspaceFolders,omitempty"`
}

// Info is the name and version of a program.
type Info struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// WorkspaceFolder is a root folder.
type WorkspaceFolder struct {
	URI  URI    `json:"uri"`
	Name string `json:"name"`
}

// ClientCapabilities is what the client says it can do.
type ClientCapabilities struct {
	Workspace    WorkspaceClientCapabilities    `json:"workspace,omitzero"`
	TextDocument TextDocumentClientCapabilities `json:"textDocument,omitzero"`
	Window       WindowClientCapabilities       `json:"window,omitzero"`
	General      GeneralClientCapabilities      `json:"general,omitzero"`
	Experimental ExperimentalCapabilities       `json:"experimental,omitzero"`
}

// WorkspaceClientCapabilities is the workspace part.
type WorkspaceClientCapabilities struct {
	ApplyEdit             bool                       `json:"applyEdit,omitzero"`
	WorkspaceEdit         WorkspaceEditCapabilities  `json:"workspaceEdit,omitzero"`
	Configuration         bool                       `json:"configuration,omitzero"`
	WorkspaceFolders      bool                       `json:"workspaceFolders,omitzero"`
	DidChangeWatchedFiles DynamicCapability          `json:"didChangeWatchedFiles,omitzero"`
	DidChangeConfig       DynamicCapability          `json:"didChangeConfiguration,omitzero"`
	CodeLens              RefreshCapability          `json:"codeLens,omitzero"`
	Diagnostics           RefreshCapability          `json:"diagnostics,omitzero"`
	FileOperations        FileOperationsCapabilities `json:"fileOperations,omitzero"`
}

// WorkspaceEditCapabilities says which forms of WorkspaceEdit the client takes.
// Neovim takes documentChanges without saying so.
type WorkspaceEditCapabilities struct {
	DocumentChanges         bool               `json:"documentChanges,omitzero"`
	ResourceOperations      []string           `json:"resourceOperations,omitempty"` // create, rename, delete
	FailureHandling         string             `json:"failureHandling,omitempty"`
	ChangeAnnotationSupport *AnnotationSupport `json:"changeAnnotationSupport,omitempty"`
}

// AnnotationSupport says that the client shows change annotations.
type AnnotationSupport struct {
	GroupsOnLabel bool `json:"groupsOnLabel,omitzero"`
}

// DynamicCapability is a capability that can be registered later.
type DynamicCapability struct {
	DynamicRegistration    bool `json:"dynamicRegistration,omitzero"`
	RelativePatternSupport bool `json:"relativePatternSupport,omitzero"`
}

// RefreshCapability is a capability whose results the server may call stale.
type RefreshCapability struct {
	RefreshSupport bool `json:"refreshSupport,omitzero"`
}

// FileOperationsCapabilities says which file operations the client reports.
type FileOperationsCapabilities struct {
	DidRename bool `json:"didRename,omitzero"`
}

// TextDocumentClientCapabilities is the document part.
type TextDocumentClientCapabilities struct {
	CodeAction         CodeActionCapabilities         `json:"codeAction,omitzero"`
	PublishDiagnostics PublishDiagnosticsCapabilities `json:"publishDiagnostics,omitzero"`
	DocumentSymbol     DocumentSymbolCapabilities     `json:"documentSymbol,omitzero"`
}

// DocumentSymbolCapabilities says which form of symbols the client reads.
type DocumentSymbolCapabilities struct {
	Hierarchical bool `json:"hierarchicalDocumentSymbolSupport,omitzero"`
}

// CodeActionCapabilities says how much of a code action may come later.
type CodeActionCapabilities struct {
	DataSupport     bool            `json:"dataSupport,omitzero"`
	DisabledSupport bool            `json:"disabledSupport,omitzero"`
	Literal         json.RawMessage `json:"codeActionLiteralSupport,omitempty"` // absent: only commands are understood
	ResolveSupport  struct {
		Properties []string `json:"properties,omitempty"`
	} `json:"resolveSupport,omitzero"`
}

// PublishDiagnosticsCapabilities is what a diagnostic may carry.
type PublishDiagnosticsCapabilities struct {
	DataSupport    bool `json:"dataSupport,omitzero"`
	VersionSupport bool `json:"versionSupport,omitzero"`
}

// WindowClientCapabilities is the window part. ShowMessage can't tell clients
// that answer window/showMessageRequest from those that don't: try it.
type WindowClientCapabilities struct {
	WorkDoneProgress bool            `json:"workDoneProgress,omitzero"`
	ShowMessage      json.RawMessage `json:"showMessage,omitempty"`
	ShowDocument     struct {
		Support bool `json:"support,omitzero"`
	} `json:"showDocument,omitzero"`
}

// GeneralClientCapabilities is the rest.
type GeneralClientCapabilities struct {
	PositionEncodings []Encoding `json:"positionEncodings,omitempty"`
}

// ExperimentalCapabilities holds our own extensions.
type ExperimentalCapabilities struct {
	Sidecar SidecarCapabilities `json:"sidecar,omitzero"`
}

// SidecarCapabilities says which sidecar/ methods the client answers or wants.
type SidecarCapabilities struct {
	Approve      bool `json:"approve,omitzero"`
	Ask          bool `json:"ask,omitzero"`
	Diagnostics  bool `json:"diagnostics,omitzero"`
	Events       bool `json:"events,omitzero"`
	PendingEdits bool `json:"pendingEdits,omitzero"`
	Knowledge    bool `json:"knowledge,omitzero"`
	Ports        bool `json:"ports,omitzero"`
	Save         bool `json:"save,omitzero"`
}

// InitializeResult answers initialize.
type InitializeResult struct {
	Capabilities ServerCapabilities `json:"capabilities"`
	ServerInfo   Info               `json:"serverInfo"`
}

// ServerCapabilities is what the server offers.
type ServerCapabilities struct {
	PositionEncoding       Encoding                 `json:"positionEncoding,omitempty"`
	TextDocumentSync       *TextDocumentSyncOptions `json:"textDocumentSync,omitempty"`
	CodeActionProvider     *CodeActionOptions       `json:"codeActionProvider,omitempty"`
	CodeLensProvider       *CodeLensOptions         `json:"codeLensProvider,omitempty"`
	ExecuteCommandProvider *ExecuteCommandOptions   `json:"executeCommandProvider,omitempty"`

	DocumentSymbolProvider  bool `json:"documentSymbolProvider,omitzero"`
	WorkspaceSymbolProvider bool `json:"workspaceSymbolProvider,omitzero"`

	Workspace    *WorkspaceServerCapabilities `json:"workspace,omitempty"`
	Experimental ServerExperimental           `json:"experimental,omitzero"`
}

// ServerExperimental holds our own extensions.
type ServerExperimental struct {
	Sidecar SidecarServer `json:"sidecar,omitzero"`
}

// SidecarServer says which sidecar/ notifications the server takes.
type SidecarServer struct {
	Selection bool `json:"selection,omitzero"`
}

// TextDocumentSyncOptions says which document notifications are wanted.
type TextDocumentSyncOptions struct {
	OpenClose bool         `json:"openClose"`
	Change    SyncKind     `json:"change"`
	Save      *SaveOptions `json:"save,omitempty"`
}

// SaveOptions says whether a save shall carry the text.
type SaveOptions struct {
	IncludeText bool `json:"includeText"`
}

// CodeActionOptions describes the code actions on offer.
type CodeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds,omitempty"`
	ResolveProvider bool     `json:"resolveProvider"`
}

// CodeLensOptions describes the lenses on offer.
type CodeLensOptions struct {
	ResolveProvider bool `json:"resolveProvider"`
}

// ExecuteCommandOptions lists the commands on offer.
type ExecuteCommandOptions struct {
	Commands         []string `json:"commands"`
	WorkDoneProgress bool     `json:"workDoneProgress,omitzero"`
}

// WorkspaceServerCapabilities is the server's workspace part.
type WorkspaceServerCapabilities struct {
	WorkspaceFolders *WorkspaceFoldersServerCapabilities `json:"workspaceFolders,omitempty"`
}

// WorkspaceFoldersServerCapabilities asks for folder changes.
type WorkspaceFoldersServerCapabilities struct {
	Supported           bool `json:"supported"`
	ChangeNotifications bool `json:"changeNotifications"`
}
