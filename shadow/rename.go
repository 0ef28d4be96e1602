package shadow

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/rename"
)

// renames makes one change of a deleted and a created file that have the same
// content, or most of it, as git does.
func (c *contents) renames(ctx context.Context, list []change) []change {
	var gone, added []rename.File
	var goneAt, addedAt []int
	for i, ch := range list {
		switch {
		case !ch.new.exists():
			gone, goneAt = append(gone, rename.File{Path: ch.old.path, Mode: ch.old.mode, Hash: ch.old.hash}), append(goneAt, i)
		case !ch.old.exists():
			added, addedAt = append(added, rename.File{Path: ch.new.path, Mode: ch.new.mode, Hash: ch.new.hash}), append(addedAt, i)
		}
	}
	read := func(i int, old bool) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil //nolint:nilerr // an empty file is like no other
		}
		var data []byte
		if old {
			data, _ = c.old(ctx, list[goneAt[i]].old) // what can't be read is like no other
		} else if s := list[addedAt[i]].new; workspace.Protected(s.path) != workspace.Never {
			data, _ = c.new(s) // as above
		}
		return data, nil
	}
	found, _ := rename.Find(gone, added, read) // it can't fail: read doesn't
	for _, r := range found {
		from, to := &list[goneAt[r.Old]], &list[addedAt[r.New]]
		to.old, to.similarity = from.old, r.Score*100/rename.MaxScore
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
