package fs

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed append_file.md
var appendFileDoc string

// AppendFileArgs are the arguments of append_file.
type AppendFileArgs struct {
	Path    string `json:"path" jsonschema:"file, relative to the workspace"`
	Content string `json:"content" jsonschema:"text to add at the end" minLength:"1"`
}

func newAppendFile() *tools.Tool {
	return tools.NewEdit(tools.Def{
		Name:        "append_file",
		Example:     `{"path": "CHANGELOG.md", "content": "- A limit of 20.\n"}`,
		Description: appendFileDoc,
		Category:    category,
		Tags:        []string{"add", "end"},
		Output:      Written{},
	}, appendFile)
}

func appendFile(ctx context.Context, c *tools.Call, in AppendFileArgs) (tools.Result, []workspace.Change, error) {
	name, data, err := open(ctx, c, in.Path)
	if name != "" && err != nil && tools.AsError(err).Code == tools.NotFound {
		return writeFile(ctx, c, WriteFileArgs{Path: in.Path, Content: in.Content})
	}
	if err != nil {
		return tools.Result{}, nil, err
	}
	text, err := decode(name, data)
	if err != nil {
		return tools.Result{}, nil, err
	}
	if err := writable("content", in.Content, text); err != nil {
		return tools.Result{}, nil, err
	}
	added := in.Content
	if text.EOL == workspace.CRLF && !strings.Contains(added, "\r") {
		added = strings.ReplaceAll(added, "\n", "\r\n")
	}
	note := ""
	if text.Body != "" && !strings.HasSuffix(text.Body, "\n") {
		added = lineEnd(text.EOL) + added
		note = "; its last line had no end, and has one now"
	}
	after, err := encode(name, text, text.Body+added)
	if err != nil {
		return tools.Result{}, nil, err
	}
	total := diff.CountLines(text.Body + added)
	return tools.Result{
		Text:       fmt.Sprintf("added %s to %s, which has %d now%s", tools.Count(diff.CountLines(in.Content), "line"), name, total, note),
		Structured: Written{name, hash(after), false, true, total},
	}, []workspace.Change{{Path: name, Before: data, After: after}}, nil
}

func lineEnd(eol workspace.EOL) string {
	if eol == workspace.CRLF {
		return "\r\n"
	}
	return "\n"
}
