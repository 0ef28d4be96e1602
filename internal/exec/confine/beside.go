package confine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitguard"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// A workspace may have several folders, each with a repository of its own. A command sees all
// of them at their paths, and each is a world of its session: what is changed in any of them
// waits in the one queue. Where only one folder can be shown, which is where no world can
// stand in its place, a command sees the one that it begins in.

// maxBeside bounds the folders that a command sees besides its own: each costs it mounts.
const maxBeside = 15

// foldersOf are the folders that a command sees, its own first. One in a shadow workspace
// sees that alone, and one that nothing else may run beside only its own folder.
func foldersOf(c *Confiner, r *shell.Run) []string {
	roots := []string{r.Root}
	if r.Files == nil || r.Frozen || len(c.o.Folders) == 1 || !slices.Contains(c.o.Folders, r.Root) {
		return roots
	}
	level, err := c.Level()
	want := c.o.Settings.Now().String("commands.world")
	if err != nil || level < box.Bubblewrap || want == worldDisk {
		return roots
	}
	if kind, err := c.worldKind(want, level); err != nil || kind == world.SeparateCopy {
		return roots
	}
	for _, dir := range c.o.Folders {
		if dir != r.Root && len(roots) <= maxBeside {
			roots = append(roots, dir)
		}
	}
	return roots
}

// folderOf is the folder of a program that begins in a directory. One that is in no folder
// has root, as one in a shadow workspace has.
func folderOf(folders []string, dir, root string) string {
	list := make([]workspace.Folder, len(folders))
	for i, f := range folders {
		list[i].Dir = f
	}
	if i, _ := workspace.Holding(list, dir); i >= 0 && slices.Contains(folders, root) {
		return folders[i]
	}
	return root
}

// enterBeside has a command that sees one world see those of other folders. Of a folder that
// can't be shown, unseen says why: a command runs without it.
func enterBeside(c *Confiner, spec *Spec, beside []Spec, r *shell.Run, kind world.Kind) (runs []*world.Run, unseen []string) {
	seen := []Spec{*spec}
	for _, other := range beside {
		if n := len(spec.Hidden) + len(spec.Sealed) + len(other.Hidden) + len(other.Sealed); n > maxHidden {
			unseen = append(unseen, notSeen(other.Root, fmt.Errorf("more than %d files would have to be hidden from it", maxHidden)))
			continue
		}
		run, err := begin(c, &other, r, kind)
		if err != nil {
			unseen = append(unseen, notSeen(other.Root, err))
			continue
		}
		if r.Held || r.LookOnly {
			other.private()
		}
		if r.LookOnly {
			other.Writable = nil
		}
		run.Show(&spec.Spec)
		spec.take(&other)
		seen = append(seen, other)
		runs = append(runs, run)
	}
	for i := range seen {
		spec.share(&seen[i], r.Held || r.LookOnly)
	}
	return runs, unseen
}

// notSeen says why a command did not see a folder.
func notSeen(dir string, why error) string {
	return fmt.Sprintf("it did not see the folder %s: %v", dir, why)
}

// take adds what keeps a command from the secrets of another folder and from what git obeys
// there.
func (s *Spec) take(other *Spec) {
	for _, list := range []struct{ to, from *[]string }{
		{&s.ReadOnly, &other.ReadOnly}, {&s.Hidden, &other.Hidden}, {&s.Sealed, &other.Sealed}, {&s.Repositories, &other.Repositories},
		{&s.Bundles, &other.Bundles}, {&s.Included, &other.Included}, {&s.Writable, &other.Writable}, {&s.gitDirs, &other.gitDirs},
	} {
		*list.to = slices.Clip(*list.to)
		for _, path := range *list.from {
			if !slices.Contains(*list.to, path) {
				*list.to = append(*list.to, path)
			}
		}
	}
	s.areas = slices.Clip(s.areas)
	for _, a := range other.areas {
		if !slices.ContainsFunc(s.areas, func(have gitguard.Area) bool { return have.Dir == a.Dir }) {
			s.areas = append(s.areas, a)
		}
	}
}

// share has a working tree whose repository is in another folder that is seen use it as that
// folder does, where it can be changed and what git obeys there can't. A copy that commands
// have of a submodule, or of what git keeps for a working tree, has no other place.
func (s *Spec) share(tree *Spec, held bool) {
	repo := tree.elsewhere
	if repo == nil || !slices.ContainsFunc(s.Folders(), func(dir string) bool { return dir != tree.Root && box.Within(repo.CommonDir, dir) }) {
		return
	}
	s.ReadOnly = slices.DeleteFunc(slices.Clone(s.ReadOnly), func(path string) bool {
		return (path == repo.CommonDir || slices.Contains(tree.gitDirs, path)) && (!held || path != repo.GitDir)
	})
	if held && !slices.Contains(s.ReadOnly, repo.GitDir) {
		s.ReadOnly = append(s.ReadOnly, repo.GitDir)
	}
}

// gathered returns the changes of all the worlds of a command. It fails when each of them does:
// else it says with what one failed, beside the changes of the others.
func gathered(runs []*world.Run, tell func(*world.Run) (world.Collected, error)) (all world.Collected, err error) {
	var settled []func()
	var failed []error
	for _, run := range runs {
		h, err := tell(run)
		if err != nil {
			failed = append(failed, err)
			if len(runs) > 1 {
				all.Said = append(all.Said, fmt.Sprintf("The changes in one of the folders are not known: %v.", err))
			}
		}
		if h.Settled != nil {
			settled = append(settled, h.Settled)
		}
		all.Changes, all.Commits, all.Output = append(all.Changes, h.Changes...), append(all.Commits, h.Commits...), all.Output+h.Output
		for _, text := range h.Said {
			if !slices.Contains(all.Said, text) {
				all.Said = append(all.Said, text)
			}
		}
	}
	if len(settled) > 0 {
		all.Settled = func() {
			for _, f := range settled {
				f()
			}
		}
	}
	if len(failed) == len(runs) {
		return all, errors.Join(failed...)
	}
	return all, nil
}

// inAny reports whether a path is below one of some directories.
func inAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) })
}
