package shadow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// sweep tidies up after processes that died: what is half made or half removed
// goes, and what was all but finished is finished.
func (m *Manager) sweep() error {
	if err := m.checkHome(); err != nil {
		return err
	}
	repo, err := m.repo()
	if err != nil {
		return nil //nolint:nilerr // no repository, no shadows
	}
	if _, err := os.Lstat(m.home()); errors.Is(err, fs.ErrNotExist) {
		if !hasAny(m, repo) {
			return nil
		}
		if err := m.makeHome(); err != nil { // somebody removed it, and git has the names still
			return err
		}
	}
	if err := os.MkdirAll(m.locks(), 0o755); err != nil {
		return err
	}
	m.trimPool()
	return errors.Join(m.sweepStaged(repo), sweepMoved(m, repo), m.sweepRegistered(repo), m.sweepDirs(repo), m.sweepLocks())
}

// sweepLocks removes the locks of processes that died, where nothing else did.
func (m *Manager) sweepLocks() error {
	left, err := os.ReadDir(m.locks())
	for _, e := range left {
		if name, ok := strings.CutSuffix(e.Name(), ".lock"); ok {
			err = errors.Join(err, m.alone(name, func() error { return nil })) // its end removes it
		}
	}
	return err
}

// sweepStaged ends what was begun: a shadow whose files are in place is made
// known, all else is taken back.
func (m *Manager) sweepStaged(repo *gitrepo.Repo) error {
	staged, err := worktree.ListStaged(repo)
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range staged {
		if s.Name == "" { // unregistered
			errs = append(errs, s.Abort())
			continue
		}
		if !s.BelongsIn(m.home()) {
			continue // another folder's
		}
		errs = append(errs, m.held(s.Name, func() error {
			if m.isComplete(s) && s.Publish() == nil {
				m.log("shadow finished", "id", s.Name)
				return nil
			}
			return s.Abort()
		}))
	}
	return errors.Join(errs...)
}

// isComplete reports whether all of a staged shadow is there but its
// registration.
func (m *Manager) isComplete(s *worktree.Staged) bool {
	if s.Dir == "" {
		return false
	}
	if _, err := readRecord(s.Linked); err != nil {
		return false
	}
	data, err := os.ReadFile(filepath.Join(s.Dir, ".git"))
	return err == nil && string(data) == s.Pointer()
}

// sweepRegistered forgets shadows whose directory is gone, and those that git
// was stopped at making.
func (m *Manager) sweepRegistered(repo *gitrepo.Repo) error {
	linked, err := worktree.List(repo)
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range linked {
		if l.Dir != m.path(l.Name) {
			continue
		}
		errs = append(errs, m.held(l.Name, func() error { return m.sweepOne(repo, l) }))
	}
	return errors.Join(errs...)
}

func (m *Manager) sweepOne(repo *gitrepo.Repo, l worktree.Linked) error {
	_, recErr := readRecord(l)
	_, dirErr := os.Lstat(l.Dir)
	gone, half := errors.Is(dirErr, fs.ErrNotExist), errors.Is(recErr, fs.ErrNotExist) && isOwn(l)
	if !gone && !half {
		return nil
	}
	if _, err := os.Lstat(l.GitDir); err != nil {
		return nil //nolint:nilerr // somebody else was faster
	}
	m.log("shadow forgotten", "id", l.Name, "directory", !gone)
	old := filepath.Join(m.home(), oldPrefix+random()+"-"+l.Name)
	if !gone {
		if err := os.Rename(l.Dir, old); err != nil {
			return err
		}
	}
	err := worktree.Unregister(repo, l)
	m.removeAll(old)
	return err
}

// isOwn reports whether a working tree was being made here, by git: the first
// thing that follows is a directory of ours, so until then git's own mark has
// to tell.
func isOwn(l worktree.Linked) bool {
	if _, err := os.Lstat(filepath.Join(l.GitDir, "locked")); err == nil {
		return true
	}
	_, err := os.Lstat(l.Own())
	return err == nil
}

// sweepDirs removes directories that nobody is filling or emptying any more,
// and sets aside what has no registration.
func (m *Manager) sweepDirs(repo *gitrepo.Repo) error {
	entries, err := os.ReadDir(m.home())
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		name, at := e.Name(), filepath.Join(m.home(), e.Name())
		switch {
		case strings.HasPrefix(name, newPrefix):
			_, id, _ := strings.Cut(name[len(newPrefix):], "-")
			errs = append(errs, m.held(id, func() error {
				m.removeAll(at)
				return nil
			}))
		case strings.HasPrefix(name, oldPrefix), strings.HasPrefix(name, basePrefix), strings.HasPrefix(name, keepPrefix):
			_, rest, _ := strings.Cut(name, "-")
			errs = append(errs, m.alone(oldPrefix+rest, func() error {
				m.removeAll(at)
				return nil
			}))
		case strings.HasPrefix(name, poolPrefix):
			if _, err := os.Lstat(filepath.Join(at, "tree")); err != nil {
				m.removeAll(at)
			}
		case strings.HasPrefix(name, "."), !e.IsDir(), checkID(name) != nil:
		default:
			unknown := func() bool {
				_, err := worktree.Find(repo, name)
				return errors.Is(err, fs.ErrNotExist)
			}
			if unknown() {
				errs = append(errs, m.held(name, func() error {
					if !unknown() { // it was made meanwhile
						return nil
					}
					return m.setAside(name)
				}))
			}
		}
	}
	return errors.Join(errs...)
}

// setAside moves a directory out of the way that has no registration. It may
// hold work, so it is kept, unless it is empty.
func (m *Manager) setAside(id string) error {
	if err := os.Remove(m.path(id)); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	to := filepath.Join(m.home(), lostPrefix+random()+"-"+id)
	if err := os.Rename(m.path(id), to); err != nil {
		return err
	}
	m.o.Log.Warn("a shadow workspace that git knows nothing of was set aside; remove it when you have what you need", "dir", to)
	return nil
}

// held does something about a shadow unless another process is at it.
func (m *Manager) held(id string, do func() error) error {
	if checkID(id) == nil {
		return m.alone(id, do)
	}
	return nil // it is nobody's name
}

// alone does something with a lock, unless that is held.
func (m *Manager) alone(name string, do func() error) error {
	unlock, err := m.tryLock(name)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer unlock()
	return do()
}
