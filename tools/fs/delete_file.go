package fs

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed delete_file.md
var deleteFileDoc string

// DeleteFileArgs are the arguments of delete_file.
type DeleteFileArgs struct {
	Path string `json:"path" jsonschema:"file, relative to the workspace"`
}

// Deleted is the structured result of delete_file.
type Deleted struct {
	Path string `json:"path" jsonschema:"file"`
}

func newDeleteFile() *tools.Tool {
	return tools.NewEdit(tools.Def{
		Name:        "delete_file",
		Example:     `{"path": "src/old.go"}`,
		Description: deleteFileDoc,
		Category:    category,
		Core:        true,
		Output:      Deleted{},
	}, deleteFile)
}

func deleteFile(ctx context.Context, c *tools.Call, in DeleteFileArgs) (tools.Result, []workspace.Change, error) {
	name, err := c.Files.Resolve(in.Path)
	if err != nil {
		return tools.Result{}, nil, err
	}
	if target, ok := linkAt(c, name); ok {
		return tools.Result{Text: fmt.Sprintf("deleted %s (only the link, which led to %s)", name, target), Structured: Deleted{name}},
			[]workspace.Change{{Path: name, Before: []byte(target), BeforeLink: true}}, nil
	}
	if info, err := c.Files.Stat(name); err == nil && info.IsDir() {
		return tools.Result{}, nil, tools.Errorf(tools.InvalidArguments, "%s is a directory; delete its files one by one", name)
	}
	data, err := read(ctx, c, name)
	if err != nil {
		return tools.Result{}, nil, err
	}
	return tools.Result{Text: "deleted " + name, Structured: Deleted{name}},
		[]workspace.Change{{Path: name, Before: data}}, nil
}
