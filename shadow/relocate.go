package shadow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// A repository knows its working trees by absolute paths. When the folder was moved,
// renamed or copied together with its shadows, the paths lead to where it was.

// sweepMoved leads the repository to the shadows that came along with the folder.
func sweepMoved(m *Manager, repo *gitrepo.Repo) error {
	linked, err := worktree.List(repo)
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range linked {
		if cameAlong(m, l) {
			errs = append(errs, m.held(l.Name, func() error {
				if !cameAlong(m, l) { // another process was faster
					return nil
				}
				m.log("shadow moved", "id", l.Name, "from", l.Dir)
				return worktree.Relocate(l, m.path(l.Name))
			}))
		}
	}
	return errors.Join(errs...)
}

// cameAlong reports whether a working tree was a shadow of this folder under another
// path, and is in its place under this one.
func cameAlong(m *Manager, l worktree.Linked) bool {
	if l.Dir == m.path(l.Name) || checkID(l.Name) != nil || filepath.Base(l.Dir) != l.Name {
		return false
	}
	if home := filepath.Dir(l.Dir); filepath.Base(home) != "shadows" || filepath.Base(filepath.Dir(home)) != ".sidecar" {
		return false
	}
	if _, err := readRecord(l); err != nil {
		return false
	}
	if pointerOf(l.Dir) == l.GitDir {
		return false // it is where the repository says: another folder's
	}
	info, err := os.Lstat(m.path(l.Name))
	if err != nil || !info.IsDir() {
		return false
	}
	was := pointerOf(m.path(l.Name))
	return filepath.Base(was) == l.Name && filepath.Base(filepath.Dir(was)) == "worktrees"
}

// pointerOf is the git directory that the .git file of a working tree names; "" is none.
func pointerOf(dir string) string {
	file := filepath.Join(dir, ".git")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	at, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok {
		return ""
	}
	return filepath.FromSlash(at)
}

// hasAny reports whether the repository has a working tree in the folder's directory of
// shadows, which may be gone.
func hasAny(m *Manager, repo *gitrepo.Repo) bool {
	linked, err := worktree.List(repo)
	if err != nil {
		return false
	}
	for _, l := range linked {
		if l.Dir == m.path(l.Name) {
			return true
		}
	}
	return false
}
