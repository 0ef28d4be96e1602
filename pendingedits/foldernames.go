package pendingedits

import (
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// FolderNames are what the log of the queue of a workspace's first folder calls
// files: those of that folder by their path in there, others after their
// folder's directory. So they outlive that folders come and go.
type FolderNames struct{ folders []workspace.Folder }

// elsewhere begins the names in the log of files of other folders. No tool
// writes below .sidecar, so no file of the own folder is called like that.
const elsewhere = ".sidecar/folders/"

// NamesOf returns the names for a view of these folders.
func NamesOf(folders []workspace.Folder) *FolderNames {
	return &FolderNames{slices.Clone(folders)}
}

// split is the folder of a file of the view, and its path in there.
func (n *FolderNames) split(name string) (dir, rel string) {
	if len(n.folders) == 1 {
		return n.folders[0].Dir, name
	}
	first, rel, _ := strings.Cut(name, "/")
	for _, f := range n.folders {
		if f.Name == first {
			return f.Dir, rel
		}
	}
	return n.folders[0].Dir, name
}

func (n *FolderNames) inLog(dir, rel string) string {
	if dir == n.folders[0].Dir {
		return rel
	}
	return path.Join(elsewhere+url.PathEscape(dir), rel)
}

// Kept implements Names.
func (n *FolderNames) Kept(name string) string { return n.inLog(n.split(name)) }

// Shown implements Names.
func (n *FolderNames) Shown(kept string) (name string, ok bool) {
	dir, rel := n.folders[0].Dir, kept
	if rest, other := strings.CutPrefix(kept, elsewhere); other {
		escaped, below, _ := strings.Cut(rest, "/")
		d, err := url.PathUnescape(escaped)
		if err != nil {
			return "", false
		}
		dir, rel = d, below
	}
	for _, f := range n.folders {
		switch {
		case f.Dir != dir:
		case len(n.folders) == 1:
			return rel, true
		default:
			return path.Join(f.Name, rel), true
		}
	}
	return "", false
}

// From is the name in the view of n of a file that the view of other calls name.
func (n *FolderNames) From(other *FolderNames, name string) (string, bool) {
	return n.Shown(n.inLog(other.split(name)))
}

// TakeFolders moves the edits of files that are in our folders, too, out of the
// queue of theirs.
func (s *Store) TakeFolders(ctx context.Context, from *Store, ours, theirs []workspace.Folder) error {
	here, there := NamesOf(ours), NamesOf(theirs)
	return s.Take(ctx, from, func(name string) (string, bool) { return here.From(there, name) })
}

// QueueDir is the state directory of a folder: statedir.Dir.
type QueueDir interface {
	Check() error
	Queue() string
}

// TakeBack takes over the edits that dir has kept in a queue of its own since it
// was the first of the folders, and reports whether it has; it does nothing while
// dir is not another one of them.
func (s *Store) TakeBack(ctx context.Context, base workspace.View, folders []workspace.Folder, dir string, state QueueDir) (bool, error) {
	i := slices.IndexFunc(folders, func(f workspace.Folder) bool { return f.Dir == dir })
	if i <= 0 {
		return false, nil
	}
	if err := state.Check(); err != nil {
		return false, err
	}
	theirs := slices.Insert(slices.Delete(slices.Clone(folders), i, i+1), 0, folders[i])
	from, err := Open(state.Queue(), base, Options{Names: NamesOf(theirs)})
	if err != nil {
		return false, err
	}
	err = errors.Join(s.Take(ctx, from, func(name string) (string, bool) { return name, true }), from.Close())
	return err == nil, err
}
