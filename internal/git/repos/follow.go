package repos

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
)

// follower tells a repository that is a root of the disk what changes in it. It
// asks for changes from the second question on: a single one would not pay for
// the watching.
type follower struct {
	watch *watch.Lazy
	root  string // of the disk, "." when it is the only one

	mu    sync.Mutex
	asked bool
	feed  *watch.Feed
}

// follow makes a repository remember its status if its top is one of the folders
// of the disk that is watched.
func follow(w *watch.Lazy, r *gitrepo.Repo) {
	folders := w.Disk().Folders()
	for _, f := range folders {
		real, err := filepath.EvalSymlinks(f.Dir)
		if err != nil || real != r.Dir {
			continue
		}
		root := f.Name
		if len(folders) == 1 {
			root = "."
		}
		r.Follow(&follower{watch: w, root: root})
	}
}

// Since implements gitrepo.Changes.
func (f *follower) Since(ctx context.Context) (gitrepo.ChangeSet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.asked {
		f.asked = true
		return gitrepo.ChangeSet{All: true}, nil
	}
	first := f.feed == nil
	if first {
		if f.feed = f.watch.Subscribe(); f.feed == nil {
			return gitrepo.ChangeSet{All: true}, nil
		}
	}
	b, err := f.feed.Sync(ctx)
	if err != nil {
		return gitrepo.ChangeSet{}, err
	}
	return gitrepo.ChangeSet{Names: f.names(b.Names), Below: f.names(b.Dirs), All: b.Lost || first}, nil
}

// names turns names of the view into paths in the repository.
func (f *follower) names(list []string) []string {
	if f.root == "." {
		return list
	}
	var out []string
	for _, name := range list {
		switch rest, below := strings.CutPrefix(name, f.root+"/"); {
		case below:
			out = append(out, rest)
		case name == f.root, name == ".":
			out = append(out, ".")
		}
	}
	return out
}

// Watched implements gitrepo.Changes.
func (f *follower) Watched(dir string) bool {
	return f.watch.Watches(path.Join(f.root, dir))
}
