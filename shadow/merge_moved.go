package shadow

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/rename"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// oursMoved looks for a file that the main tree has no more under the name
// that it had when the shadow began, file in the repository: it may have
// another. "" says that it is gone.
func (g *merging) oursMoved(name, file string, t triple) (moved string, data []byte, ok bool) {
	to := g.renamed().files[file]
	if to == "" {
		return "", nil, true
	}
	if to, ok = g.nameOf(to); !ok {
		return "", nil, false
	}
	if to == name {
		return "", nil, true
	}
	data, ok = g.ours(to, t)
	if data == nil {
		return "", nil, ok
	}
	return to, data, ok
}

// moves are what the main tree has renamed since the shadow began: old names
// and the new ones.
type moves struct{ files, dirs map[string]string }

// renamed looks for what the main tree has renamed, once.
func (g *merging) renamed() *moves {
	if g.moves == nil {
		found, err := g.findMoves()
		if err != nil {
			g.m.o.Log.Warn("what the main tree has renamed is not known", "error", err)
			found = &moves{}
		}
		g.moves = found
	}
	return g.moves
}

// findMoves compares the main tree, as its view shows it, with how the shadow
// began, and pairs what is gone with what is new, as git does in a merge.
func (g *merging) findMoves() (*moves, error) {
	t := g.c.t
	base, err := g.began()
	if err != nil {
		return nil, err
	}
	o := worktree.ScanOptions{Skip: g.m.ownFiles(t.repo), Tracked: trackedIn(t.repo.GitDir, base)}
	found, err := worktree.Scan(g.ctx, t.repo, t.repo.Dir, base, o)
	if err != nil {
		return nil, err
	}
	var gone, added []rename.File
	for _, f := range g.overlaid(found, base) {
		inBase := has(base, f.Path)
		switch {
		case f.Mode == 0 && inBase:
			e := entryOf(base, f.Path)
			gone = append(gone, rename.File{Path: f.Path, Mode: e.Mode, Hash: e.Hash})
		case f.Mode != 0 && !inBase:
			added = append(added, rename.File{Path: f.Path, Mode: f.Mode, Hash: f.Hash})
		}
	}
	m := &moves{files: map[string]string{}}
	read := func(i int, old bool) ([]byte, error) {
		if err := g.ctx.Err(); err != nil {
			return nil, nil //nolint:nilerr // an empty file is like no other
		}
		if old {
			data, _ := g.c.old(g.ctx, side{path: gone[i].Path, mode: gone[i].Mode, hash: gone[i].Hash}) // what can't be read is like no other
			return data, nil
		}
		name, err := g.main.Resolve(filepath.Join(g.top, filepath.FromSlash(added[i].Path)))
		if err != nil {
			return nil, nil //nolint:nilerr // as above
		}
		data, _ := g.main.ReadFile(name) // as above
		return data, nil
	}
	renamed, _ := rename.Find(gone, added, read) // it can't fail: read doesn't
	for _, r := range renamed {
		m.files[gone[r.Old].Path] = added[r.New].Path
	}
	m.dirs = movedDirs(m.files, stillThere(base, gone, added))
	return m, nil
}

// overlaid is what was found on the disk as the view has it: with what is not
// saved, or waits for review.
func (g *merging) overlaid(found []worktree.Found, base *index.Index) []worktree.Found {
	at := func(file string) (int, bool) {
		return slices.BinarySearchFunc(found, file, func(f worktree.Found, file string) int { return strings.Compare(f.Path, file) })
	}
	for _, name := range workspace.Overlaid(g.main) {
		rel, err := filepath.Rel(g.top, g.main.Abs(name))
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		f := worktree.Found{Path: filepath.ToSlash(rel)}
		if data, err := g.main.ReadFile(name); err == nil {
			f.Mode, f.Hash, f.Size = filemode.Regular, object.HashBlob(data), int64(len(data))
		}
		i, ok := at(f.Path)
		switch {
		case ok:
			found[i] = f
		case f.Mode != 0 || has(base, f.Path):
			found = slices.Insert(found, i, f)
		}
	}
	return found
}

func has(x *index.Index, file string) bool { return entryOf(x, file) != nil }

// entryOf is the entry of a file, nil when the index has none.
func entryOf(x *index.Index, file string) *gitindex.Entry {
	i, ok := slices.BinarySearchFunc(x.Entries, file, func(e *gitindex.Entry, file string) int { return strings.Compare(e.Name, file) })
	if !ok {
		return nil
	}
	return x.Entries[i]
}
