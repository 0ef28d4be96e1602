package fs

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed move_file.md
var moveFileDoc string

// MoveFileArgs are the arguments of move_file.
type MoveFileArgs struct {
	From string `json:"from" jsonschema:"file, relative to the workspace"`
	To   string `json:"to" jsonschema:"its new path, file name included"`
}

// Moved is the structured result of move_file.
type Moved struct {
	From string `json:"from" jsonschema:"where it was"`
	Path string `json:"path" jsonschema:"where it is"`
}

func newMoveFile() *tools.Tool {
	return tools.NewEdit(tools.Def{
		Name:        "move_file",
		Example:     `{"from": "src/limit.go", "to": "src/bounds.go"}`,
		Description: moveFileDoc,
		Category:    category,
		Core:        true,
		Output:      Moved{},
	}, moveFile)
}

func moveFile(ctx context.Context, c *tools.Call, in MoveFileArgs) (tools.Result, []workspace.Change, error) {
	to, err := c.Files.Resolve(in.To)
	if err != nil {
		return tools.Result{}, nil, err
	}
	from, err := c.Files.Resolve(in.From)
	if err != nil {
		return tools.Result{}, nil, err
	}
	if target, ok := linkAt(c, from); ok {
		return moveLink(c, from, to, target, in)
	}
	data, err := read(ctx, c, from)
	if err != nil {
		return tools.Result{}, nil, err
	}
	other, respelled := workspace.Respelled(c.Files, from, in.To)
	switch {
	case from == to && respelled:
		to, err = other, namesFile(in.To)
	case from == to:
		err = tools.Errorf(tools.InvalidArguments, "from and to are the same file, %s; give another path as to", from)
	default:
		err = errors.Join(free(c, to), namesFile(in.To))
	}
	if err != nil {
		return tools.Result{}, nil, first(err)
	}
	return tools.Result{
		Text:       fmt.Sprintf("moved %s to %s", from, to),
		Structured: Moved{from, to},
	}, []workspace.Change{{Path: to, From: from, Before: data, After: data}}, nil
}

// moveLink moves a link; the file that it leads to stays.
func moveLink(c *tools.Call, from, to, target string, in MoveFileArgs) (tools.Result, []workspace.Change, error) {
	err := errors.Join(free(c, to), namesFile(in.To), mayLead(from, to, target))
	if _, respelled := workspace.Respelled(c.Files, from, in.To); from == to || respelled {
		err = tools.Errorf(tools.InvalidArguments, "from and to are the same link, %s; give another path as to", from)
	}
	if err != nil {
		return tools.Result{}, nil, first(err)
	}
	note := ""
	if there, err := workspace.LinkTo(to, target); err == nil {
		if _, err := c.Files.Stat(there); err != nil {
			note = "; from there it leads to no file"
		}
	}
	return tools.Result{
		Text:       fmt.Sprintf("moved %s to %s (only the link, which leads to %s%s)", from, to, target, note),
		Structured: Moved{from, to},
	}, movedLink(from, to, target), nil
}

// namesFile fails when the path of a file to be made is written as one of a
// directory, which is where the file was meant to go.
func namesFile(given string) error {
	if strings.HasSuffix(given, "/") {
		return tools.Errorf(tools.InvalidArguments, "%s is the name of a directory; give the whole path with the file's name", given)
	}
	return nil
}

// free is vacant, and fails for a link that leads nowhere, too.
func free(c *tools.Call, name string) error {
	if target, ok := linkAt(c, name); ok {
		return tools.Errorf(tools.AlreadyExists, "%s exists already, a link to %s; choose another path, or delete it first", name, target)
	}
	return vacant(c, name)
}

// vacant fails when something is at name or nothing can be.
func vacant(c *tools.Call, name string) error {
	info, err := c.Files.Stat(name)
	switch {
	case err == nil && info.IsDir() && vacated(c.Files, name, nil):
		return nil
	case err == nil && info.IsDir():
		return tools.Errorf(tools.AlreadyExists, "%s is a directory; give the whole path with the file's name", name)
	case err == nil:
		return tools.Errorf(tools.AlreadyExists, "%s exists already; choose another path, or delete it first", name)
	}
	if below := creatable(c, name); below != nil {
		return below
	}
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	return err
}
