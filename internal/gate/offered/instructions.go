package offered

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Instruction is a file with instructions of the project's.
type Instruction struct {
	Folder string // that it is for; "." if there is one alone. "": for a part of a folder
	Name   string
	Text   string
}

// maxInstructions bounds what is told of a file, in bytes.
const maxInstructions = 32 << 10

// Instructions are those of each folder of a session.
func Instructions(ctx context.Context, d Caller, session string) (list []Instruction, err error) {
	var folders []workspace.Folder
	if _, err := read(ctx, d, session, func(_ context.Context, c *tools.Call) (string, error) {
		folders = workspace.FoldersOf(c.Files)
		return "", nil
	}); err != nil {
		return nil, err
	}
	for _, f := range folders {
		one := Instruction{Folder: f.Name}
		one.Text, err = read(ctx, d, session, func(_ context.Context, c *tools.Call) (text string, err error) {
			one.Name, text = in(c.Files, f.Name)
			return text, nil
		})
		if err != nil {
			return nil, err
		}
		if one.Text != "" {
			list = append(list, one)
		}
	}
	return list, nil
}

// Nearest are the instructions nearest upwards of a path, but for those of its folder,
// which Instructions has; without a text: there are none.
func Nearest(ctx context.Context, d Caller, session, name string) (one Instruction, err error) {
	one.Text, err = read(ctx, d, session, func(_ context.Context, c *tools.Call) (text string, err error) {
		at, err := c.Files.Resolve(name)
		if err != nil {
			return "", nil //nolint:nilerr // it is not in the project
		}
		if info, err := c.Files.Stat(at); err != nil || !info.IsDir() {
			at = path.Dir(at)
		}
		top := func(f workspace.Folder) bool { return f.Name == at }
		for folders := workspace.FoldersOf(c.Files); text == "" && at != "." && at != "/" && !slices.ContainsFunc(folders, top); at = path.Dir(at) {
			one.Name, text = in(c.Files, at)
		}
		return text, nil
	})
	return one, err
}

// in reads the instructions of a directory; no text: it has none.
func in(files fs.ReadFileFS, dir string) (name, text string) {
	for _, name := range skills.Instructions() {
		name = path.Join(dir, name)
		data, err := files.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", ""
		}
		text := strings.ToValidUTF8(string(data), "\ufffd")
		if len(text) > maxInstructions {
			text = strings.ToValidUTF8(text[:maxInstructions], "") + "\n(cut)"
		}
		return name, withImports(files, name, strings.TrimSpace(text))
	}
	return "", ""
}
