package shadow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// side is a file in one of two states.
type side struct {
	path string // "": there is no file
	mode filemode.FileMode
	hash plumbing.Hash
	size int64 // -1: not known before it is read
}

func (s side) exists() bool { return s.path != "" }

// change is a file that is not as the shadow began.
type change struct {
	old, new   side
	similarity int // of a rename, in percent
}

func (c change) renamed() bool { return c.old.exists() && c.new.exists() && c.old.path != c.new.path }

// name is what the file is called now, or was.
func (c change) name() string {
	if c.new.exists() {
		return c.new.path
	}
	return c.old.path
}

// retyped reports whether a link took the place of a file, or a file that of a
// link.
func (c change) retyped() bool {
	return c.old.exists() && c.new.exists() && kindOf(c.old.mode) != kindOf(c.new.mode)
}

// isLink reports whether one of the two states is a link.
func (c change) isLink() bool {
	return c.old.mode == filemode.Symlink || c.new.mode == filemode.Symlink
}

// apart is c as what goes and what comes, where git shows it so.
func (c change) apart() []change {
	if c.retyped() {
		return []change{{old: c.old}, {new: c.new}}
	}
	return []change{c}
}

// kind is one of create, modify, delete and rename.
func (c change) kind() string {
	switch {
	case !c.old.exists():
		return "create"
	case !c.new.exists():
		return "delete"
	case c.renamed():
		return "rename"
	}
	return "modify"
}

// contents reads the two states of a shadow's files.
type contents struct {
	t    *tree
	root *os.Root // of the shadow
}

func (t *tree) contents() (*contents, error) {
	root, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, err
	}
	return &contents{t, root}, nil
}

func (c *contents) close() { c.root.Close() }

// old reads a file as the shadow began.
func (c *contents) old(ctx context.Context, s side) ([]byte, error) {
	if !s.exists() {
		return nil, nil
	}
	kept, err := os.ReadFile(filepath.Join(c.t.linked.Own(), blobDir, s.hash.String()))
	if err == nil {
		return nonNil(kept), nil
	}
	var data []byte
	if c.t.record.Converted && s.mode != filemode.Symlink {
		data, err = worktree.Smudged(ctx, c.t.repo, s.path, s.hash)
	} else {
		data, err = c.t.repo.Blob(s.hash)
	}
	return nonNil(data), err
}

// new reads a file as it is in the shadow, or the target of a link.
func (c *contents) new(s side) ([]byte, error) {
	if !s.exists() {
		return nil, nil
	}
	if s.mode == filemode.Symlink {
		target, err := c.root.Readlink(s.path)
		return nonNil([]byte(target)), err
	}
	f, err := c.root.OpenFile(s.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, workspace.ErrSpecial
	}
	if info.Size() > workspace.MaxFileSize {
		return nil, workspace.ErrTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, workspace.MaxFileSize+1))
	if err == nil && len(data) > workspace.MaxFileSize {
		err = workspace.ErrTooLarge
	}
	return nonNil(data), err
}

// nonNil tells an empty file from none.
func nonNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// changes finds what is not as the shadow began, sorted by name: committed in
// it or not, new files too unless an ignore rule excludes them. Nobody is kept
// from discarding the shadow meanwhile, and what was moved away looks deleted:
// what is found counts only if there still is the shadow, see same.
func (m *Manager) changes(ctx context.Context, t *tree) ([]change, error) {
	if err := m.o.Fail("changes.found"); err != nil {
		return nil, err
	}
	base, _, err := t.begun(ctx)
	if err != nil {
		return nil, fmt.Errorf("shadow workspace %s: %w", t.ID, err)
	}
	found, err := m.scan(ctx, t, base)
	if err != nil {
		return nil, err
	}
	list := make([]change, 0, len(found))
	for _, f := range found {
		var c change
		if e := entryOf(base, f.Path); e != nil {
			c.old = side{e.Name, e.Mode, e.Hash, -1}
		}
		if f.Mode != 0 {
			c.new = side{f.Path, f.Mode, f.Hash, f.Size}
		}
		if c.old.exists() || c.new.exists() {
			list = append(list, c)
		}
	}
	if t.record.Converted || t.isLazy() && worktree.Conversions(t.repo, base).Needed != nil {
		t.record.Converted = true
		if list, err = t.reallyChanged(ctx, list); err != nil {
			return nil, err
		}
	}
	return list, m.o.Fail("changes.known")
}

// scan compares what the shadow's directory has with base. Of a lazy shadow
// that is what was taken over, and what base hasn't; ignore files are read as
// its view has them.
func (m *Manager) scan(ctx context.Context, t *tree, base *index.Index) ([]worktree.Found, error) {
	own := m.ownFiles(t.repo)
	o := worktree.ScanOptions{Tracked: trackedIn(t.linked.GitDir, base), Skip: own, Inside: func(name string) { t.inside = append(t.inside, name) }}
	taken, err := readTaken(t.lazyPath())
	if errors.Is(err, fs.ErrNotExist) {
		return worktree.Scan(ctx, t.repo, t.Path, base, o)
	}
	if err != nil {
		return nil, err
	}
	in := index.New()
	out := map[string]bool{}
	for _, e := range base.Entries {
		if taken[e.Name] {
			in.Entries = append(in.Entries, e)
		} else {
			out[e.Name] = true
		}
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: t.Path}}, workspace.DiskOptions{Ignores: &gitrepo.UserIgnores{}})
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	view := m.view(t, disk, ".")
	o.Skip = func(name string) bool { return out[name] || own(name) }
	o.Patterns = func(name string) ([]byte, error) {
		if real, err := view.RealName(name); err != nil || real != name {
			return nil, fs.ErrNotExist // no link is followed
		}
		return view.ReadFile(name)
	}
	return worktree.Scan(ctx, t.repo, t.Path, in, o)
}

// trackedIn are the files that a working tree's own index has and the base has
// not, with their directories: no ignore rule excludes them.
func trackedIn(gitDir string, base *index.Index) map[string]bool {
	now, err := index.Read(filepath.Join(gitDir, "index"))
	if err != nil {
		return nil
	}
	own := map[string]bool{}
	k := 0
	for i := range now.Entries {
		name := now.Entries[i].Name
		for k < len(base.Entries) && base.Entries[k].Name < name {
			k++
		}
		if k < len(base.Entries) && base.Entries[k].Name == name {
			continue
		}
		for ; name != "." && !own[name]; name = path.Dir(name) {
			own[name] = true
		}
	}
	return own
}

// reallyChanged drops files whose bytes are those that they began with, where
// those are not the bytes of an object.
func (t *tree) reallyChanged(ctx context.Context, list []change) ([]change, error) {
	c, err := t.contents()
	if err != nil {
		return nil, err
	}
	defer c.close()
	kept := list[:0]
	for _, ch := range list {
		if ch.old.exists() && ch.new.exists() && ch.old.mode == ch.new.mode {
			old, err1 := c.old(ctx, ch.old)
			now, err2 := c.new(ch.new)
			if err1 == nil && err2 == nil && bytes.Equal(old, now) {
				continue
			}
		}
		kept = append(kept, ch)
	}
	return kept, nil
}

// List describes the shadows, in the order of their names. One that can't be
// used has a Damage.
func (m *Manager) List(ctx context.Context) ([]Shadow, error) {
	if err := m.wait(ctx); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(m.home()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := m.checkHome(); err != nil {
		return nil, err
	}
	repo, err := m.repo()
	if err != nil {
		return nil, err
	}
	trees, err := m.all(repo)
	if err != nil {
		return nil, err
	}
	list := make([]Shadow, 0, len(trees))
	for _, t := range trees {
		if t.Damage != nil {
			m.o.Log.Warn("a shadow workspace can't be used", "id", t.ID, "error", t.Damage)
			list = append(list, t.Shadow)
			continue
		}
		changes, err := m.changes(ctx, t)
		if gone := m.same(t); errors.Is(gone, ErrUnknown) {
			continue
		} else if err = cmp.Or(err, gone); err != nil {
			return nil, err
		}
		t.Changed = len(changes)
		t.Setup = setupOf(m, t)
		list = append(list, t.Shadow)
	}
	return list, nil
}

// Get returns a shadow. It fails with ErrUnknown.
func (m *Manager) Get(ctx context.Context, id string) (Shadow, error) {
	if err := m.wait(ctx); err != nil {
		return Shadow{}, err
	}
	t, err := m.find(id)
	if err != nil {
		return Shadow{}, err
	}
	return t.Shadow, nil
}
