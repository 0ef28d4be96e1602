package shadow

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// renames makes one change of a deleted and a created file that have the same
// content, or most of it, as git does.
func (c *contents) renames(ctx context.Context, list []change) []change {
	var gone, added []gitrepo.Found
	var goneAt, addedAt []int
	for i, ch := range list {
		switch {
		case !ch.new.exists():
			gone, goneAt = append(gone, gitrepo.Found{Path: ch.old.path, Mode: ch.old.mode, Hash: ch.old.hash}), append(goneAt, i)
		case !ch.old.exists():
			added, addedAt = append(added, gitrepo.Found{Path: ch.new.path, Mode: ch.new.mode, Hash: ch.new.hash}), append(addedAt, i)
		}
	}
	read := func(f gitrepo.Found, gone bool) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s := (side{path: f.Path, mode: f.Mode, hash: f.Hash}); gone {
			return c.old(ctx, s)
		} else if workspace.Protected(f.Path) == workspace.Never {
			return nil, workspace.ErrProtected
		} else {
			return c.new(s)
		}
	}
	for _, r := range gitrepo.Renames(gone, added, read) {
		from, to := &list[goneAt[r.Old]], &list[addedAt[r.New]]
		to.old, to.similarity = from.old, r.Similarity
		from.old.path = "" // the other one has it
	}
	return slices.DeleteFunc(list, func(ch change) bool { return !ch.old.exists() && !ch.new.exists() })
}

// kindOf tells what can't become each other.
func kindOf(mode filemode.FileMode) string {
	if mode == filemode.Symlink {
		return "link"
	}
	return "file"
}
