package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// git fails in a command where the repository borrows objects from one that the command
// can't read. That one is not shown to it by itself: a command can write the file that names
// it, and would read the history of any other repository.

// borrowedNote says, once in a session's root, what makes such objects readable, or why the
// repository is not used.
func borrowedNote(ctx context.Context, c *Confiner, session string, spec *Spec) string {
	level, err := c.Level()
	if err != nil || !level.Hides() {
		return ""
	}
	once := func(text string) string {
		if _, reported := c.reportedBorrowed.LoadOrStore(session+"\x00"+spec.Root, true); reported {
			return ""
		}
		return text
	}
	repo, err := c.o.Repos.Open(ctx, spec.Root)
	if errors.Is(err, gitrepo.ErrRefused) {
		return once("; git may find no repository in commands: " + gitcmd.CleanMessage(err.Error()))
	}
	if err != nil {
		return ""
	}
	dirs := slices.DeleteFunc(repo.Objects.Borrowed(), func(dir string) bool { return readable(level, spec, dir) })
	if len(dirs) == 0 {
		return ""
	}
	return once(fmt.Sprintf("; the repository borrows objects from %s (objects/info/alternates), which commands can't read, so git may fail in them: the user can name that directory in the setting sidecar.sandbox.readOnly, or copy the objects with git repack -a -d and remove that file", gitcmd.Shown(dirs[0])))
}

// readable reports whether a command can read a directory.
func readable(level box.Level, spec *Spec, dir string) bool {
	in := func(of string) bool { return of != "" && box.Within(dir, of) }
	if slices.ContainsFunc(slices.Concat([]string{spec.Root}, spec.ReadOnly, spec.Writable, box.SystemDirs[:1]), in) {
		return true
	}
	home, err := os.UserHomeDir()
	return level == box.Seatbelt && err == nil && !in(home)
}
