package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	loop "github.com/sidecar-ls/sidecar-ls/internal/agent"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of instructions.
const (
	maxInstructions = 32 << 10 // bytes of a file
	maxNested       = 16       // files below the folders' own
	maxLooked       = 4096     // directories that were looked at
)

// reading makes a tool that reads for the agent, in no list.
func reading(f func(*tools.Call) string) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "agent_instructions", Title: "Read the instructions", Description: "Reads a project's instructions for an agent.", Example: "{}", Category: "files", Output: tools.NoOutput{},
	}, func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, error) {
		return tools.Result{Text: f(c)}, nil
	})
}

// project reads the names of the folders, and the instructions in each.
func (d *own) project() (folders []string, files []loop.File) {
	read := reading(func(c *tools.Call) string {
		folders = d.m.o.Folders(d.session)
		for _, folder := range folders {
			if name, text, ok := instructionsIn(c.Files, folder); ok {
				files = append(files, loop.File{Name: name, Text: text})
			}
		}
		return ""
	})
	if _, err := d.m.o.Parts().Dispatch.CallOwn(context.Background(), read, d.session.ID, ""); err != nil {
		d.m.log.Warn("the instructions of the project can't be read", "error", err)
	}
	return folders, files
}

// instructionsIn reads the instructions of a directory; ok is false when it has none.
func instructionsIn(files fs.ReadFileFS, dir string) (name, text string, ok bool) {
	for _, name := range skills.Instructions() {
		name = path.Join(dir, name)
		data, err := files.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if text = instructionText(string(data)); err == nil && text != "" {
			return name, text, true
		}
		break
	}
	return "", "", false
}

func instructionText(text string) string {
	if len(text) > maxInstructions {
		text = strings.ToValidUTF8(text[:maxInstructions], "") + "\n(cut)"
	}
	return strings.TrimSpace(text)
}

// nested are the instructions that hold for a part of a folder.
type nested struct {
	looked map[string]bool // paths of calls, or their directories
	files  []loop.File     // of the directories that the agent worked in
}

// worksOn notes the instructions that hold for what a call is about.
func (d *own) worksOn(args json.RawMessage, changed []string) {
	for _, changedFile := range changed {
		if slices.Contains(skills.Instructions(), path.Base(changedFile)) {
			d.mu.Lock()
			d.nested = nested{} // they are others now
			d.mu.Unlock()
		}
	}
	for _, p := range append(pathsOf(args), changed...) {
		at := path.Clean(p)
		if strings.Contains(path.Base(at), ".") { // most likely a file
			at = path.Dir(at)
		}
		d.mu.Lock()
		if d.nested.looked == nil {
			d.nested.looked = map[string]bool{}
		}
		known := d.nested.looked[at] || at == "." || len(d.nested.looked) >= maxLooked || len(d.nested.files) >= maxNested
		d.nested.looked[at] = true
		d.mu.Unlock()
		if !known {
			d.lookAbove(p)
		}
	}
}

// pathsOf are the paths among the arguments of a call.
func pathsOf(args json.RawMessage) (paths []string) {
	var in struct {
		Path, From, To, Cwd string
		Paths               []string
	}
	if json.Unmarshal(args, &in) != nil {
		return nil
	}
	for _, p := range append([]string{in.Path, in.From, in.To, in.Cwd}, in.Paths...) {
		if p != "" && len(p) < 4096 {
			paths = append(paths, p)
		}
	}
	return paths[:min(len(paths), 64)]
}

// lookAbove finds the nearest instructions upwards of a path, but for those of its folder,
// which the agent has from the beginning.
func (d *own) lookAbove(p string) {
	var name string
	read := reading(func(c *tools.Call) (text string) {
		at, err := c.Files.Resolve(p)
		if err != nil {
			return ""
		}
		if info, err := c.Files.Stat(at); err != nil || !info.IsDir() {
			at = path.Dir(at)
		}
		for folders := d.m.o.Folders(d.session); at != "." && at != "/" && !slices.Contains(folders, at); at = path.Dir(at) {
			if found, text, ok := instructionsIn(c.Files, at); ok {
				name = found
				return text
			}
		}
		return ""
	})
	res, err := d.m.o.Parts().Dispatch.CallOwn(context.Background(), read, d.session.ID, "")
	if err != nil || !res.OK || name == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.nested.files, func(f loop.File) bool { return f.Name == name }) {
		d.nested.files = append(d.nested.files, loop.File{Name: name, Text: res.Content})
	}
}

// untold are the instructions that the model has not read, or no longer does since the
// conversation was shortened.
func (d *own) untold() (notes []string) {
	d.mu.Lock()
	files := slices.Clone(d.nested.files)
	d.mu.Unlock()
	for _, f := range files {
		note := fmt.Sprintf("Instructions of the project for what is below %s, from %s:\n%s", path.Dir(f.Name), f.Name, f.Text)
		if !d.Told(note) {
			notes = append(notes, note)
		}
	}
	return notes
}
