package client

import (
	"context"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Shown says whether a document is open in the editor now.
type Shown struct {
	URI   string `json:"uri"`
	Shown bool   `json:"shown"` // false: the editor can't; uri is a file to open
}

// ShowFile has the editor open a file, if it can, at a place in it.
func (c *Client) ShowFile(ctx context.Context, path string, at *lsp.Range) (Shown, error) {
	res := Shown{URI: workspace.FileURI(path)}
	if c.Can.ShowDocument {
		var answer lsp.ShowDocumentResult
		err := c.Call(ctx, "window/showDocument", lsp.ShowDocumentParams{URI: res.URI, Selection: at}, &answer)
		if err != nil && !Unsupported(err) {
			return Shown{}, err
		}
		res.Shown = answer.Success
	}
	return res, nil
}

// ShowPage has the editor open a page in a browser, and reports whether it did.
func (c *Client) ShowPage(ctx context.Context, address string) bool {
	if !c.Can.ShowDocument {
		return false
	}
	var answer lsp.ShowDocumentResult
	err := c.Call(ctx, "window/showDocument", lsp.ShowDocumentParams{URI: address, External: true, TakeFocus: true}, &answer)
	return err == nil && answer.Success
}

// Visible is a program's text without what would hide some of it from a person:
// control characters, and those that turn its direction or show as nothing.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return '\uFFFD'
		}
		return r
	}, text)
}
