package editor

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed lsp_rename.md
var lspRenameText string

type renameIn struct {
	Path    string `json:"path" jsonschema:"file" minLength:"1"`
	Line    int    `json:"line" jsonschema:"from one" minimum:"1"`
	Symbol  string `json:"symbol,omitempty" jsonschema:"name on that line"`
	Column  int    `json:"column,omitempty" jsonschema:"from one, in bytes; instead of symbol" minimum:"1"`
	NewName string `json:"new_name" jsonschema:"its new name" minLength:"1" maxLength:"200"`
}

type renamedData struct {
	NewName string   `json:"newName" jsonschema:"as it was given"`
	Paths   []string `json:"paths" jsonschema:"files that change"`
}

func lspRename(d Deps) *tools.Tool {
	return tools.NewEdit(lspDef("lsp_rename", "Rename symbol", lspRenameText, `{"path": "main.go", "line": 12, "symbol": "newServer", "new_name": "openServer"}`, renamedData{}), func(ctx context.Context, c *tools.Call, in renameIn) (tools.Result, []workspace.Change, error) {
		if strings.ContainsFunc(in.NewName, unicode.IsSpace) {
			return tools.Result{}, nil, tools.Errorf(tools.InvalidArguments, "new_name: a name without white space is expected")
		}
		at, err := positionArgs{in.Path, in.Line, in.Symbol, in.Column}.position(c.Files)
		if err != nil {
			return tools.Result{}, nil, err
		}
		changes, err := d.Servers.Rename(ctx, c.Files, at, in.NewName)
		var refused *langserver.AnswerError
		if errors.As(err, &refused) {
			return tools.Result{}, nil, tools.Errorf(tools.InvalidArguments, "%s; nothing was changed", refused)
		}
		if err != nil {
			return tools.Result{}, nil, failed(err, "grep and edit_file")
		}
		var b strings.Builder
		fmt.Fprintf(&b, "renamed to %s in %s:\n", in.NewName, tools.Count(len(changes), "file"))
		paths := []string{}
		for _, ch := range changes {
			paths = append(paths, ch.Path)
			fmt.Fprintf(&b, "%s: %s\n", ch.Path, tools.Count(changedLines(ch), "line"))
		}
		return tools.Result{Text: b.String(), Structured: renamedData{in.NewName, paths}}, changes, nil
	})
}

// changedLines counts the lines that a renaming changed: it moves none.
func changedLines(ch workspace.Change) int {
	before, after := bytes.Split(ch.Before, []byte("\n")), bytes.Split(ch.After, []byte("\n"))
	n := 0
	for i := range min(len(before), len(after)) {
		if !bytes.Equal(before[i], after[i]) {
			n++
		}
	}
	return n
}
