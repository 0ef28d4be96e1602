package textindex

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Having lists files that have a text in them, and a name that fits. x may be
// nil: all files are read then.
func (x *Index) Having(ctx context.Context, files workspace.Files, text string, like func(string) bool, limit int) []string {
	options := workspace.WalkOptions{Keep: func(name string, dir bool) bool { return dir || like(name) }}
	if disk, _ := files.Base(); x != nil && disk == x.disk {
		names, err := x.Containing(ctx, files, []string{text}, func(string) bool { return false })
		if err != nil {
			return nil
		}
		if names != nil {
			options.Names = slices.DeleteFunc(names, func(name string) bool { return !like(name) })
		}
	}
	var mu sync.Mutex
	var found []string
	want := []byte(text)
	_ = files.Walk(ctx, options, func(e *workspace.Entry) error {
		data, err := e.Read(nil)
		if err != nil || !bytes.Contains(data, want) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if found = append(found, strings.Clone(e.Path)); len(found) >= limit {
			return fs.SkipAll
		}
		return nil
	})
	slices.Sort(found)
	return found
}
