package shadow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// record is what is kept of a shadow, with its part of the repository, so that
// it goes when git removes the working tree. Beside it lie the base state as
// an index (baseFile), and the contents that only the main tree had (blobDir).
type record struct {
	Base        string    `json:"base"`
	CreatedAt   time.Time `json:"createdAt"`
	Uncommitted bool      `json:"uncommitted,omitempty"`
	Converted   bool      `json:"converted,omitempty"` // files may differ from their objects
}

const (
	recordFile = "shadow.json"
	baseFile   = "base"
	blobDir    = "blobs"
)

func (r record) write(l worktree.Linked) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file := filepath.Join(l.Own(), recordFile)
	if err := os.WriteFile(file+".new", data, 0o644); err != nil {
		return err
	}
	return osfile.Rename(context.Background(), file+".new", file)
}

func readRecord(l worktree.Linked) (record, error) {
	var r record
	data, err := os.ReadFile(filepath.Join(l.Own(), recordFile))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// tree is a shadow with all that is known about it.
type tree struct {
	Shadow
	record record
	linked worktree.Linked
	repo   *gitrepo.Repo
	inside []string // repositories in it that a scan has passed by
}

// find returns a shadow. It fails with ErrUnknown, and for what has the name
// but was not made here.
func (m *Manager) find(id string) (*tree, error) {
	repo, err := m.registered(id)
	if err != nil {
		return nil, err
	}
	return m.findIn(repo, id)
}

// hold returns a shadow that nobody makes or discards until unlock is called.
func (m *Manager) hold(ctx context.Context, id string, most time.Duration) (t *tree, unlock func(), err error) {
	repo, err := m.registered(id)
	if err != nil {
		return nil, nil, err
	}
	if unlock, err = m.lock(ctx, id, most); err != nil {
		return nil, nil, err
	}
	if t, err = m.findIn(repo, id); err != nil {
		unlock()
		return nil, nil, err
	}
	return t, unlock, nil
}

// registered returns the repository if it has a working tree in the place of
// that shadow, be it whole or not. It fails with ErrUnknown.
func (m *Manager) registered(id string) (*gitrepo.Repo, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	if err := m.checkHome(); err != nil {
		return nil, err
	}
	repo, err := m.repo()
	if err != nil {
		return nil, err
	}
	_, err = m.linked(repo, id)
	return repo, err
}

func (m *Manager) linked(repo *gitrepo.Repo, id string) (worktree.Linked, error) {
	l, err := worktree.Find(repo, id)
	if errors.Is(err, fs.ErrNotExist) || err == nil && l.Dir != m.path(id) {
		err = fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	return l, err
}

func (m *Manager) findIn(repo *gitrepo.Repo, id string) (*tree, error) {
	l, err := m.linked(repo, id)
	if err != nil {
		return nil, err
	}
	rec, err := readRecord(l)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is a working tree, but not one that was made as a shadow", ErrUnknown, id)
	}
	if err != nil {
		return nil, fmt.Errorf("shadow workspace %s: its record is damaged: %w", id, err)
	}
	if err := m.isOurs(l); err != nil {
		return nil, err
	}
	t := &tree{Shadow{ID: id, Path: l.Dir, Exclude: filepath.Join(repo.CommonDir, "info", "exclude"), Base: rec.Base, CreatedAt: rec.CreatedAt}, rec, l, repo, nil}
	t.Root = filepath.Join(t.Path, m.below(repo))
	return t, nil
}

// same makes sure that a shadow that was found is still there, for whoever has
// looked at it without its lock. It fails with ErrUnknown when it was
// discarded, even if there is another one of its name.
func (m *Manager) same(t *tree) error {
	now, err := m.findIn(t.repo, t.ID)
	switch {
	case errors.Is(err, ErrUnknown), err == nil && !now.CreatedAt.Equal(t.CreatedAt):
		return fmt.Errorf("%w: %s; it was discarded just now", ErrUnknown, t.ID)
	case err != nil:
		if _, gone := os.Lstat(t.Path); errors.Is(gone, fs.ErrNotExist) { // but is not unregistered yet
			return fmt.Errorf("%w: %s; it is being discarded", ErrUnknown, t.ID)
		}
	}
	return err
}

// below is the folder's place in the working tree.
func (m *Manager) below(repo *gitrepo.Repo) string {
	rel, err := filepath.Rel(repo.Dir, m.dir)
	if err != nil {
		return "."
	}
	return rel
}

// isOurs makes sure that the directory of a shadow is the one that was made:
// no link, and what the repository says it is.
func (m *Manager) isOurs(l worktree.Linked) error {
	info, err := os.Lstat(l.Dir)
	if err != nil {
		return fmt.Errorf("shadow workspace %s: its directory is gone: %w", l.Name, err)
	}
	strange := func(why string) error {
		return fmt.Errorf("%w: %s %s, so it is left alone; look at it, and put it back or remove it by hand", ErrStrange, l.Dir, why)
	}
	if !info.IsDir() {
		return strange("is not a directory any more")
	}
	file := filepath.Join(l.Dir, ".git")
	info, err = os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return strange("is not the working tree that was made")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if filepath.FromSlash(strings.TrimRight(string(data), "\r\n")) != "gitdir: "+l.GitDir { // git writes slashes everywhere
		return strange("names another repository")
	}
	return nil
}

// all lists the shadows, those too that can't be used.
func (m *Manager) all(repo *gitrepo.Repo) ([]*tree, error) {
	linked, err := worktree.List(repo)
	if err != nil {
		return nil, err
	}
	var list []*tree
	for _, l := range linked {
		if filepath.Dir(l.Dir) != m.home() {
			continue
		}
		t, err := m.findIn(repo, l.Name)
		if err != nil {
			t, err = m.findAlone(repo, l.Name)
		}
		if errors.Is(err, ErrUnknown) || errors.Is(err, ErrBusy) || errors.Is(err, fs.ErrNotExist) {
			continue // the next start forgets what has no directory
		}
		if err != nil {
			rec, _ := readRecord(l) // err says what is wrong with it
			t = &tree{Shadow: Shadow{ID: l.Name, Path: l.Dir, Base: rec.Base, CreatedAt: rec.CreatedAt, Damage: err}}
		}
		list = append(list, t)
	}
	return list, nil
}

// findAlone is findIn while nobody makes or discards the shadow. It fails with
// ErrBusy when somebody does.
func (m *Manager) findAlone(repo *gitrepo.Repo, id string) (*tree, error) {
	unlock, err := m.tryLock(id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return m.findIn(repo, id)
}

// Top returns the directory of the shadow that a path lies in; "" when it lies
// in none.
func (m *Manager) Top(path string) string {
	rel, err := filepath.Rel(m.home(), m.real(path))
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return ""
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return m.path(first)
}
