package lsp

import "encoding/json"

// What is read and written when the peer is a language server that we run.

// PeerInitializeParams is initialize as we send it. ProcessID is null: the
// server may live in a namespace in which our number means another process.
type PeerInitializeParams struct {
	ProcessID             *int64            `json:"processId"`
	ClientInfo            Info              `json:"clientInfo"`
	RootURI               URI               `json:"rootUri"`
	InitializationOptions json.RawMessage   `json:"initializationOptions,omitempty"`
	Capabilities          json.RawMessage   `json:"capabilities"`
	WorkspaceFolders      []WorkspaceFolder `json:"workspaceFolders"`
}

// PeerInitializeResult is what a language server answers.
type PeerInitializeResult struct {
	Capabilities PeerCapabilities `json:"capabilities"`
	ServerInfo   Info             `json:"serverInfo"`
}

// PeerCapabilities is what a language server can do. Providers are true, false,
// or an object of options.
type PeerCapabilities struct {
	PositionEncoding        Encoding `json:"positionEncoding"`
	DiagnosticProvider      Provider `json:"diagnosticProvider"`
	DefinitionProvider      Provider `json:"definitionProvider"`
	HoverProvider           Provider `json:"hoverProvider"`
	ReferencesProvider      Provider `json:"referencesProvider"`
	DocumentSymbolProvider  Provider `json:"documentSymbolProvider"`
	WorkspaceSymbolProvider Provider `json:"workspaceSymbolProvider"`
	RenameProvider          Provider `json:"renameProvider"`
}

// Provider reports whether something is offered.
type Provider bool

// UnmarshalJSON takes everything but false and null as an offer.
func (p *Provider) UnmarshalJSON(data []byte) error {
	*p = string(data) != "false" && string(data) != "null"
	return nil
}

// DocumentDiagnosticParams belongs to textDocument/diagnostic.
type DocumentDiagnosticParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
}

// DocumentDiagnosticReport answers textDocument/diagnostic. We never name an
// earlier result, so Kind is "full".
type DocumentDiagnosticReport struct {
	Kind  string       `json:"kind"`
	Items []Diagnostic `json:"items"`
}

// ReferenceParams belongs to textDocument/references.
type ReferenceParams struct {
	TextDocumentPositionParams
	Context ReferenceContext `json:"context"`
}

// ReferenceContext says whether the declaration is wanted too.
type ReferenceContext struct {
	IncludeDeclaration bool `json:"includeDeclaration"`
}

// RenameParams belongs to textDocument/rename.
type RenameParams struct {
	TextDocumentPositionParams
	NewName string `json:"newName"`
}

// Locations is the answer to textDocument/definition: nothing, a Location,
// several, or links to them.
type Locations []Location

// UnmarshalJSON reads any of the forms.
func (l *Locations) UnmarshalJSON(data []byte) error {
	*l = nil
	if string(data) == "null" {
		return nil
	}
	if len(data) > 0 && data[0] == '{' {
		data = append(append([]byte{'['}, data...), ']')
	}
	var list []struct {
		Location
		TargetURI            URI   `json:"targetUri"`
		TargetSelectionRange Range `json:"targetSelectionRange"`
	}
	if err := Unmarshal(data, &list); err != nil {
		return err
	}
	for _, at := range list {
		if at.TargetURI != "" {
			at.Location = Location{URI: at.TargetURI, Range: at.TargetSelectionRange}
		}
		*l = append(*l, at.Location)
	}
	return nil
}

// Hover answers textDocument/hover. Contents is a text, a marked text, or a
// list of either.
type Hover struct {
	Contents MarkedText `json:"contents"`
}

// MarkedText is Markdown, whichever of the forms it came in.
type MarkedText string

// UnmarshalJSON reads a string, an object with a value, or a list of both. One
// with a language becomes a fenced block.
func (m *MarkedText) UnmarshalJSON(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	switch data[0] {
	case '"':
		return Unmarshal(data, (*string)(m))
	case '{':
		var marked struct {
			Language string `json:"language"`
			Value    string `json:"value"`
		}
		if err := Unmarshal(data, &marked); err != nil {
			return err
		}
		*m = MarkedText(marked.Value)
		if marked.Language != "" {
			*m = MarkedText("```" + marked.Language + "\n" + marked.Value + "\n```")
		}
	case '[':
		var list []MarkedText
		if err := Unmarshal(data, &list); err != nil {
			return err
		}
		for _, part := range list {
			if *m != "" && part != "" {
				*m += "\n\n"
			}
			*m += part
		}
	}
	return nil
}

// Symbols is the answer to textDocument/documentSymbol and workspace/symbol:
// a tree, or a flat list.
type Symbols []PeerSymbol

// PeerSymbol is a symbol in either form: one of a tree has a SelectionRange and
// no Location.
type PeerSymbol struct {
	Name           string       `json:"name"`
	Detail         string       `json:"detail"`
	Kind           SymbolKind   `json:"kind"`
	Range          Range        `json:"range"`
	SelectionRange Range        `json:"selectionRange"`
	Children       []PeerSymbol `json:"children"`
	Location       *Location    `json:"location"`
	ContainerName  string       `json:"containerName"`
}
