package editor

import (
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed lsp_definition.md
var lspDefinitionText string

func lspDefinition(d Deps) *tools.Tool {
	return locationsTool(lspDef("lsp_definition", "Go to definition", lspDefinitionText, `{"path": "main.go", "line": 12, "symbol": "newServer"}`, locationsData{}), "find_references", d.Servers.Definition)
}
