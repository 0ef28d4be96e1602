package shadow

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// A lazy shadow is a working tree whose files are not there yet. What was
// written in it lies in its directory, and all else is seen as it was when the
// shadow began: see workspace.CopyOnWrite. It is lazy as long as its record has
// the file lazyFile, which lists the files that the directory has taken over,
// each name terminated by NUL.
const lazyFile = "lazy"

func (t *tree) lazyPath() string { return filepath.Join(t.linked.Own(), lazyFile) }

// isLazy reports whether files of the shadow are not there yet.
func (t *tree) isLazy() bool {
	_, err := os.Lstat(t.lazyPath())
	return err == nil
}

// readTaken reads lazyFile. It fails with fs.ErrNotExist when the shadow is
// not lazy.
func readTaken(file string) (map[string]bool, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for name := range bytes.SplitSeq(data, []byte{0}) {
		if len(name) > 0 {
			taken[string(name)] = true
		}
	}
	return taken, nil
}

// writeTaken replaces lazyFile, and makes that durable.
func writeTaken(file string, taken map[string]bool) error {
	f, err := os.CreateTemp(filepath.Dir(file), lazyFile+"-")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		b.WriteString(name)
		b.WriteByte(0)
	}
	_, err = f.Write(b.Bytes())
	if err == nil && len(taken) > 0 {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = osfile.Rename(context.Background(), f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// taken is what a lazy shadow has taken over. It implements workspace.Taken
// for a view of the directory below, "." for all.
type taken struct {
	m     *Manager
	id    string
	file  string
	below string

	mu    sync.Mutex
	stamp os.FileInfo // of file when it was read
	names map[string]bool
}

// Names implements workspace.Taken.
func (k *taken) Names() (map[string]bool, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Lstat(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if k.stamp != nil && os.SameFile(info, k.stamp) && info.ModTime().Equal(k.stamp.ModTime()) && info.Size() == k.stamp.Size() {
		return k.names, true, nil
	}
	all, err := readTaken(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	k.stamp, k.names = info, all
	if k.below != "." {
		k.names = map[string]bool{}
		for name := range all {
			if rest, ok := strings.CutPrefix(name, k.below+"/"); ok {
				k.names[rest] = true
			}
		}
	}
	return k.names, true, nil
}

// Take implements workspace.Taken. The lock is held.
func (k *taken) Take(names []string) error {
	all, err := readTaken(k.file)
	if err != nil {
		return err
	}
	n := len(all)
	for _, name := range names {
		all[path.Join(k.below, name)] = true
	}
	if len(all) == n {
		return nil
	}
	return writeTaken(k.file, all)
}

// Lock implements workspace.Taken.
func (k *taken) Lock(ctx context.Context) (func(), error) { return k.m.lock(ctx, k.id, time.Minute) }

// View returns the files of a shadow, as far as disk, which is of its Root,
// doesn't have them yet.
func (m *Manager) View(ctx context.Context, id string, disk *workspace.Disk) (workspace.View, error) {
	if err := m.wait(ctx); err != nil {
		return nil, err
	}
	t, err := m.find(id)
	if err != nil {
		return nil, err
	}
	if !t.isLazy() {
		return disk, nil
	}
	v := m.view(t, disk, filepath.ToSlash(m.below(t.repo)))
	m.work.Go(func() { _ = v.Load() }) // whoever needs it is told if it fails
	return v, nil
}

func (m *Manager) view(t *tree, disk *workspace.Disk, below string) *workspace.CopyOnWrite {
	k := &taken{m: m, id: t.ID, file: t.lazyPath(), below: below}
	return workspace.NewCopyOnWrite(disk, k, func() (workspace.Lower, error) {
		// Its files are read when this call is long over.
		l, err := m.lower(context.Background(), t, below)
		if err != nil {
			return nil, err
		}
		return l, nil
	})
}

// began is what shadows have in common that began alike.
type began struct {
	base, below string
	index       time.Time // of the main tree
}

// snapshots are the beginnings that are in use. Each takes some hundred bytes
// for a file.
type snapshots struct {
	mu   sync.Mutex
	made map[began]weak.Pointer[worktree.Snapshot]
}

// lower is how a shadow began.
func (m *Manager) lower(ctx context.Context, t *tree, below string) (*worktree.Snapshot, error) {
	key := began{t.Base, below, readStamp(t.repo)}
	if t.record.Uncommitted {
		key.base = t.ID + "/" + t.CreatedAt.String() // nobody else's
	}
	m.snapshots.mu.Lock()
	defer m.snapshots.mu.Unlock()
	if s := m.snapshots.made[key].Value(); s != nil {
		return s, nil
	}
	base, main, err := t.begun(ctx)
	if err != nil {
		return nil, err
	}
	s := worktree.NewSnapshot(ctx, t.repo, base, worktree.SnapshotOptions{
		Below: below, From: t.repo.Dir, FromIndex: main.index, Racy: main.racy,
		Converted: worktree.Conversions(t.repo, base).Needed, Made: t.CreatedAt,
	})
	if m.snapshots.made == nil {
		m.snapshots.made = map[began]weak.Pointer[worktree.Snapshot]{}
	}
	maps.DeleteFunc(m.snapshots.made, func(_ began, s weak.Pointer[worktree.Snapshot]) bool { return s.Value() == nil })
	m.snapshots.made[key] = weak.Make(s)
	return s, nil
}

func readStamp(repo *gitrepo.Repo) time.Time {
	info, err := os.Stat(filepath.Join(repo.GitDir, "index"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// begun returns the state that the shadow began with, which nobody may have
// written down yet, and the main tree that was looked at.
func (t *tree) begun(ctx context.Context) (*index.Index, mainTree, error) {
	main := readMain(t.repo)
	file := filepath.Join(t.linked.Own(), baseFile)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) && t.isLazy() {
		base, err := t.ofCommit(ctx, main)
		return base, main, err
	}
	base, err := index.Read(file)
	return base, main, err
}

// ofCommit returns the files of the commit.
func (t *tree) ofCommit(ctx context.Context, main mainTree) (*index.Index, error) {
	commit, _ := object.ParseHash(t.Base)
	root, err := t.repo.TreeOf(commit)
	if err != nil {
		return nil, err
	}
	return worktree.TreeIndex(ctx, t.repo, root, main.index)
}
