package editor

import (
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed lsp_references.md
var lspReferencesText string

func lspReferences(d Deps) *tools.Tool {
	return locationsTool(lspDef("lsp_references", "Find uses", lspReferencesText, `{"path": "main.go", "line": 12, "symbol": "newServer"}`, locationsData{}), "find_references", d.Servers.References)
}
