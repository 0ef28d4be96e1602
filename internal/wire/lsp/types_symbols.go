package lsp

// DocumentSymbolParams belongs to textDocument/documentSymbol.
type DocumentSymbolParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
}

// WorkspaceSymbolParams belongs to workspace/symbol.
type WorkspaceSymbolParams struct {
	Query string `json:"query"`
}

// SymbolKind says what a symbol is.
type SymbolKind int

// The symbol kinds that we use.
const (
	SymbolModule     SymbolKind = 2
	SymbolNamespace  SymbolKind = 3
	SymbolClass      SymbolKind = 5
	SymbolMethod     SymbolKind = 6
	SymbolField      SymbolKind = 8
	SymbolEnum       SymbolKind = 10
	SymbolInterface  SymbolKind = 11
	SymbolFunction   SymbolKind = 12
	SymbolVariable   SymbolKind = 13
	SymbolConstant   SymbolKind = 14
	SymbolString     SymbolKind = 15
	SymbolKey        SymbolKind = 20
	SymbolEnumMember SymbolKind = 22
	SymbolStruct     SymbolKind = 23
)

// DocumentSymbol is a symbol of a document, with those inside of it.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           SymbolKind       `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"` // within Range
	Children       []DocumentSymbol `json:"children,omitempty"`
}

// SymbolInformation is a symbol by itself.
type SymbolInformation struct {
	Name          string     `json:"name"`
	Kind          SymbolKind `json:"kind"`
	Location      Location   `json:"location"`
	ContainerName string     `json:"containerName,omitempty"`
}

// Location is a place in a document.
type Location struct {
	URI   URI   `json:"uri"`
	Range Range `json:"range"`
}
