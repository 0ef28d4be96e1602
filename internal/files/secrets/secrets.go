// Package secrets finds the files of a workspace that may hold secrets, by their
// names. One walker (internal/files/inventory) decides for both uses: which files are
// hidden from commands, and whose values are masked in what goes out.
package secrets

import (
	"context"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
)

// Apart are directories of a workspace that are looked through by themselves, or
// hidden as a whole: shadow workspaces, and the home and caches of commands.
var Apart = []string{".sidecar/shadows", ".sidecar/cache"}

// Finder looks through directory trees. It remembers them, so that looking again
// costs a stat per directory. The zero value is ready, and safe for concurrent
// use.
type Finder struct {
	mu    sync.Mutex
	trees map[string]*inventory.Tree
}

// maxTrees bounds them: a workspace has a few folders, and shadows.
const maxTrees = 64

// Look returns all that matters in dir now, except below the directories of
// apart. It is complete or fails.
func (f *Finder) Look(ctx context.Context, dir string, apart ...string) ([]inventory.Item, error) {
	key := strings.Join(append([]string{dir}, apart...), "\x00")
	f.mu.Lock()
	t := f.trees[key]
	if t == nil {
		if f.trees == nil || len(f.trees) == maxTrees {
			f.trees = map[string]*inventory.Tree{}
		}
		t = inventory.New(dir, apart...)
		f.trees[key] = t
	}
	f.mu.Unlock()
	return t.Look(ctx)
}
