package editor

import (
	"context"
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed lsp_hover.md
var lspHoverText string

type hoverData struct {
	Markdown string `json:"markdown" jsonschema:"what the server says; empty if it knows nothing"`
}

func lspHover(d Deps) *tools.Tool {
	return tools.NewRead(lspDef("lsp_hover", "Type and documentation", lspHoverText, `{"path": "main.go", "line": 12, "symbol": "newServer"}`, hoverData{}), func(ctx context.Context, c *tools.Call, in positionArgs) (tools.Result, error) {
		at, err := in.position(c.Files)
		if err != nil {
			return tools.Result{}, err
		}
		text, err := d.Servers.Hover(ctx, c.Files, at)
		if err != nil {
			return tools.Result{}, failed(err, "read_file")
		}
		data := hoverData{text}
		if text == "" {
			text = "nothing is known about this position"
		}
		return tools.Result{Text: text + "\n", Structured: data}, nil
	})
}
