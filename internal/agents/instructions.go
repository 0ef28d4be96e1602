package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/offered"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
)

// Bounds of instructions for parts of folders.
const (
	maxNested = 16   // files
	maxLooked = 4096 // directories that were looked at
)

// project are the names of the folders, and the instructions in each.
func (d *own) project() (folders []string, files []loop.File) {
	said, err := offered.Instructions(context.Background(), d.m.o.Parts().Dispatch, d.session.ID)
	if err != nil {
		d.m.log.Warn("the instructions of the project can't be read", "error", err)
	}
	for _, s := range said {
		files = append(files, loop.File{Name: s.Name, Text: s.Text, Untrusted: !d.m.o.Gate().Trusted()})
	}
	for _, f := range d.m.o.Folders(d.session) {
		folders = append(folders, f.Name)
	}
	return folders, files
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
	found, err := offered.Nearest(context.Background(), d.m.o.Parts().Dispatch, d.session.ID, p)
	if err != nil || found.Text == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.nested.files, func(f loop.File) bool { return f.Name == found.Name }) {
		d.nested.files = append(d.nested.files, loop.File{Name: found.Name, Text: found.Text})
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
		if !d.WasNotified(note) {
			notes = append(notes, note)
		}
	}
	return notes
}
