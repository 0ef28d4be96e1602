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

// borrowedNote says what makes such objects readable, or why git does not use the repository
// of root in commands.
func borrowedNote(ctx context.Context, repos Repos, level box.Level, spec *Spec, root string) string {
	if !level.Hides() {
		return ""
	}
	repo, err := repos.Open(ctx, root)
	if errors.Is(err, gitrepo.ErrRefused) {
		return "; git may find no repository in commands: " + gitcmd.CleanMessage(err.Error())
	}
	if err != nil {
		return ""
	}
	dirs := slices.DeleteFunc(repo.Objects.Borrowed(), func(dir string) bool { return readable(level, spec, dir) })
	if len(dirs) == 0 {
		return ""
	}
	return fmt.Sprintf("; the repository borrows objects from %s (objects/info/alternates), which commands can't read, so git may fail in them: the user can name that directory in the setting sidecar.sandbox.readOnly, or copy the objects with git repack -a -d and remove that file", gitcmd.Shown(dirs[0]))
}

// readable reports whether a command can read a directory.
func readable(level box.Level, spec *Spec, dir string) bool {
	in := func(of string) bool { return of != "" && box.Within(dir, of) }
	if slices.ContainsFunc(slices.Concat(spec.Folders(), spec.ReadOnly, spec.Writable, box.Programs, []string{"/etc"}), in) {
		return true
	}
	home, err := os.UserHomeDir()
	if err == nil && slices.ContainsFunc(box.Installed(home), in) {
		return true
	}
	return level == box.Seatbelt && err == nil && !in(home)
}
