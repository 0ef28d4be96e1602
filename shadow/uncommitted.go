package shadow

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// uncommitted is a file of the main tree that is not as the commit has it.
type uncommitted struct {
	path    string // below the top of the working tree
	deleted bool
	unsaved []byte // what the user sees instead of the file; nil: the file is right
}

// uncommitted finds what the main tree has and the commit has not: the files
// as they are, staged or not.
func (m *Manager) uncommitted(ctx context.Context, repo *gitrepo.Repo, main mainTree, want *index.Index, view workspace.Files) ([]uncommitted, error) {
	index := main.index
	if index == nil {
		index = want // of a kind that is not read here: every file is compared
	}
	found, err := worktree.Scan(ctx, repo, repo.Dir, index, worktree.ScanOptions{Racy: main.racy, Skip: m.ownFiles(repo)})
	if err != nil {
		return nil, err
	}
	type state struct {
		mode filemode.FileMode
		hash plumbing.Hash
	}
	commit := make(map[string]state, len(want.Entries))
	for i := range want.Entries {
		e := want.Entries[i]
		commit[e.Name] = state{e.Mode, e.Hash}
	}
	now := make(map[string]state, len(index.Entries))
	for i := range index.Entries {
		e := index.Entries[i]
		now[e.Name] = state{e.Mode, e.Hash}
	}
	for _, f := range found {
		if f.Mode == 0 {
			delete(now, f.Path)
		} else {
			now[f.Path] = state{f.Mode, f.Hash}
		}
	}
	changed := map[string]*uncommitted{}
	for name, s := range now {
		if commit[name] != s && s.mode != filemode.Submodule {
			changed[name] = &uncommitted{path: name}
		}
	}
	for name, s := range commit {
		if _, ok := now[name]; !ok && s.mode != filemode.Submodule {
			changed[name] = &uncommitted{path: name, deleted: true}
		}
	}
	if view != nil {
		ignore, skip := worktree.NewIgnore(repo, repo.Dir), m.ownFiles(repo)
		for _, name := range workspace.Overlaid(view) {
			at, err := filepath.Rel(repo.Dir, m.real(view.Abs(name)))
			if at = filepath.ToSlash(at); err != nil || !fs.ValidPath(at) || !gitfile.ValidName(at) {
				continue // of another folder
			}
			was, tracked := now[at]
			if !tracked && (skip(at) || ignore.Ignored(at, false)) {
				continue
			}
			data, err := view.ReadFile(name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				if _, ok := commit[at]; ok {
					changed[at] = &uncommitted{path: at, deleted: true}
				} else {
					delete(changed, at)
				}
			case err != nil:
				return nil, err
			case !tracked || was.hash != object.HashBlob(data):
				changed[at] = &uncommitted{path: at, unsaved: nonNil(data)}
			}
		}
	}
	list := make([]uncommitted, 0, len(changed))
	for _, u := range changed {
		list = append(list, *u)
	}
	// Deletions first, so that a file can take a directory's place.
	slices.SortFunc(list, func(a, b uncommitted) int {
		if a.deleted != b.deleted {
			return map[bool]int{true: -1, false: 1}[a.deleted]
		}
		return strings.Compare(a.path, b.path)
	})
	return list, nil
}

// real is a path below the folder with the folder's links resolved.
func (m *Manager) real(path string) string {
	if rel, err := filepath.Rel(m.o.Dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(m.dir, rel)
	}
	return path
}

// ownFiles tells what of a working tree is the server's own, whatever the
// ignore rules say.
func (m *Manager) ownFiles(repo *gitrepo.Repo) func(name string) bool {
	below := filepath.ToSlash(m.below(repo))
	shadows, state := path.Join(below, ".sidecar/shadows"), path.Join(below, ".sidecar/state")
	return func(name string) bool {
		return name == shadows || name == state || strings.HasPrefix(name, shadows+"/") || strings.HasPrefix(name, state+"/")
	}
}

// bring makes the changes of the main tree in dir and returns the state that
// is there then.
func (c *creation) bring(ctx context.Context, l worktree.Linked, dir string) (*index.Index, error) {
	from, err := os.OpenRoot(c.repo.Dir)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	blobs := filepath.Join(l.Own(), blobDir)
	if err := os.Mkdir(blobs, 0o755); err != nil {
		return nil, err
	}
	entries := map[string]*gitindex.Entry{}
	left := c.m.limits().Bytes
	for _, u := range c.changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := to.RemoveAll(u.path); err != nil {
			return nil, err
		}
		entries[u.path] = nil
		if u.deleted {
			removeEmpty(to, path.Dir(u.path))
			continue
		}
		e, err := bringFile(from, to, u, blobs)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is gone by now
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.path, err)
		}
		if left -= int64(e.Size); left < 0 {
			return nil, fmt.Errorf("%w: what is uncommitted has more than %d bytes; commit or ignore large files first", ErrTooMuch, c.m.limits().Bytes)
		}
		entries[u.path] = e
	}
	base := index.New()
	for i := range c.want.Entries {
		if _, ok := entries[c.want.Entries[i].Name]; !ok {
			base.Entries = append(base.Entries, c.want.Entries[i])
		}
	}
	for _, e := range entries {
		if e != nil {
			base.Entries = append(base.Entries, e)
		}
	}
	slices.SortFunc(base.Entries, func(a, b *gitindex.Entry) int { return strings.Compare(a.Name, b.Name) })
	return base, nil
}

// removeEmpty removes directories that have become empty, as git does.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
	}
}

// bringFile makes a file of the main tree, and keeps its content as the state
// to compare with.
func bringFile(from, to *os.Root, u uncommitted, blobs string) (*gitindex.Entry, error) {
	e := &gitindex.Entry{Name: u.path, Mode: filemode.Regular}
	if dir := path.Dir(u.path); dir != "." {
		if err := to.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	info, err := from.Lstat(u.path)
	if err == nil {
		e.Mode = index.ModeOf(info.Mode())
	} else if u.unsaved == nil {
		return nil, err
	}
	if e.Mode == filemode.Symlink && u.unsaved == nil {
		target, err := from.Readlink(u.path)
		if err != nil {
			return nil, err
		}
		if err := to.Symlink(target, u.path); err != nil {
			return nil, err
		}
		e.Hash = object.HashBlob([]byte(target))
		err = os.WriteFile(filepath.Join(blobs, e.Hash.String()), []byte(target), 0o600)
		return e, errors.Join(err, stat(to, e))
	}
	perm := fs.FileMode(0o666)
	if e.Mode == filemode.Executable {
		perm = 0o777
	}
	out, err := to.OpenFile(u.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if u.unsaved != nil {
		_, err = out.Write(u.unsaved)
	} else {
		var in *os.File
		if in, err = from.Open(u.path); err != nil {
			return nil, err
		}
		_, err = io.Copy(out, in)
		in.Close()
	}
	if err != nil {
		return nil, err
	}
	if err := storeBlob(out, e, blobs); err != nil {
		return nil, err
	}
	return e, stat(to, e)
}

// storeBlob names the content of a file and stores it, if it is not too large to be
// compared.
func storeBlob(file *os.File, e *gitindex.Entry, blobs string) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", info.Size())
	if info.Size() > workspace.MaxFileSize {
		_, err := io.Copy(h, file)
		e.Hash = plumbing.Hash(h.Sum(nil))
		return err
	}
	blob, err := os.CreateTemp(blobs, "new")
	if err != nil {
		return err
	}
	_, err = io.Copy(io.MultiWriter(h, blob), file)
	if err = errors.Join(err, blob.Close()); err != nil {
		return err
	}
	e.Hash = plumbing.Hash(h.Sum(nil))
	return os.Rename(blob.Name(), filepath.Join(blobs, e.Hash.String()))
}

func stat(root *os.Root, e *gitindex.Entry) error {
	info, err := root.Lstat(e.Name)
	if err == nil {
		index.SetStat(e, info)
	}
	return err
}
