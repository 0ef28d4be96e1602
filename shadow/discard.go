package shadow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// Discarded says what went with a shadow.
type Discarded struct {
	// Commits are commits made in the shadow that no branch has, newest first.
	// They stay in the repository until git tidies up.
	Commits []string `json:"commits,omitempty"`
}

// Discard removes a shadow and all that was done in it. What has the name but
// is not what was made here is left alone.
func (m *Manager) Discard(ctx context.Context, id string) (Discarded, error) {
	var d Discarded
	if err := m.wait(ctx); err != nil {
		return d, err
	}
	if _, err := m.registered(id); err != nil {
		return d, err
	}
	free, err := m.setups.end(ctx, m, id)
	if err != nil {
		return d, err
	}
	defer free()
	t, unlock, err := m.hold(ctx, id, briefly)
	if err != nil {
		return d, err
	}
	defer unlock()
	d.Commits = t.lost()
	old := filepath.Join(m.home(), oldPrefix+random()+"-"+id)
	// The shadow's own lock ends with this call, so that there may soon be
	// another one of that name.
	release, err := m.tryLock(filepath.Base(old))
	if err != nil {
		return d, err
	}
	retired := false
	defer func() {
		if !retired {
			release()
		}
	}()
	if err := os.Rename(t.Path, old); err != nil {
		return d, err
	}
	if err := m.o.Fail("discard.moved"); err != nil {
		return d, err
	}
	base := ""
	if !t.isLazy() {
		base = t.saveBase(old)
	}
	if err := m.o.Fail("discard.kept"); err != nil {
		return d, err
	}
	if err := worktree.Unregister(t.repo, t.linked); err != nil {
		return d, err
	}
	if err := m.o.Fail("discard.unregistered"); err != nil {
		return d, err
	}
	retired = true
	m.work.Go(func() {
		defer release()
		m.retire(t.repo, old, base)
	})
	m.log("shadow discarded", "id", id)
	return d, nil
}

// saveBase moves the base state out of what is unregistered, to know what the
// directory holds when it is used again. "" means that it was not possible.
func (t *tree) saveBase(old string) string {
	base := filepath.Join(filepath.Dir(old), basePrefix+strings.TrimPrefix(filepath.Base(old), oldPrefix))
	if err := os.Rename(filepath.Join(t.linked.Own(), baseFile), base); err != nil {
		return ""
	}
	return base
}

// retire cleans a directory for the pool, or removes it: what a task has left
// there, secrets too, must not stay.
func (m *Manager) retire(repo *gitrepo.Repo, old, base string) {
	defer func() {
		if base != "" {
			_ = os.Remove(base) // unless the pool has it now
		}
	}()
	if base != "" && m.limits().Pool > 0 {
		if err := clean(repo, old, base); err != nil {
			m.o.Log.Warn("a discarded shadow workspace is not kept for the next one", "error", err)
			base = ""
		}
	}
	if err := m.o.Fail("discard.cleaned"); err != nil {
		return
	}
	m.toPool(old, base)
}

// clean removes all that is not as the index base says.
func clean(repo *gitrepo.Repo, dir, base string) error {
	x, err := index.Read(base)
	if err != nil {
		return err
	}
	found, err := worktree.Scan(context.Background(), repo, dir, x, worktree.ScanOptions{Whole: true})
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	errs := []error{root.RemoveAll(".git")}
	for _, f := range found {
		errs = append(errs, root.RemoveAll(f.Path))
	}
	return errors.Join(errs...)
}

// maxCommits bounds the commits that are named.
const maxCommits = 50

// lost lists the commits that only the shadow's HEAD holds.
func (t *tree) lost() []string {
	repo, err := gitrepo.Open(t.Path, gitrepo.Options{Programs: t.repo.Programs()})
	if err != nil {
		return nil
	}
	base, _ := object.ParseHash(t.Base)
	commits, _ := repo.Unreferenced(base, maxCommits) // what can't be read can't be named
	return commits
}
