package indexing

import (
	"cmp"
	"context"
	"path"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/touched"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// unitsAtOnce is atOnce where it matters. Neighbouring commits share versions of
// files, which are read once for all of them; but what was read for fewer is known,
// and kept, sooner.
const unitsAtOnce = 2000

// touch reads which units the next unread commits of a folder changed, as far as
// the share of a processor that it may take lets it. It reports whether it has; if
// not, nothing is read.
func (p *commits) touch(ctx context.Context) (done bool, err error) {
	for i := range p.of {
		f := &p.of[i]
		if len(f.unread) == 0 {
			continue
		}
		repo, err := gitrepo.Open(p.folders[i].Dir, p.options)
		if err != nil {
			*f = folderCommits{below: f.below, commits: f.commits} // all is read again once it is there
			return false, err
		}
		some := f.unread[:min(len(f.unread), p.atOnce)]
		units, err := p.units(ctx, repo, some)
		if units == nil || err != nil {
			return false, err
		}
		for k, u := range some {
			f.commits[u.commit].Units = units[k]
		}
		clear(some) // what is left may keep the memory of all
		if f.unread = f.unread[len(some):]; len(f.unread) == 0 {
			f.unread = nil
		}
		return true, nil
	}
	return false, nil
}

// units are what commits changed, by their files; nil if they are to wait.
func (p *commits) units(ctx context.Context, repo *gitrepo.Repo, list []unread) ([][][]history.Name, error) {
	type change struct {
		commit, file int
		gitrepo.Edit
	}
	out := make([][][]history.Name, len(list))
	var changes []change
	for k, u := range list {
		out[k] = make([][]history.Name, len(u.files))
		for n, e := range u.files {
			if !e.Old.IsZero() && !e.New.IsZero() {
				changes = append(changes, change{k, n, e})
			}
		}
	}
	// One version of a file after the other: each is read once.
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.Path, b.Path) })
	versions := touched.Versions[plumbing.Hash]{
		Language: func(name string) string { return treesitter.Language(path.Base(name), nil) },
		Read: func(id plumbing.Hash) ([]byte, error) {
			src, _ := repo.Blob(id) // what can't be read, as in a partial clone, says nothing
			return src, nil
		},
	}
	pace := pacer{share: p.share}
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		names, err := versions.Touched(c.Path, c.Old, c.New)
		if err != nil {
			return nil, err
		}
		out[c.commit][c.file] = names
		if !pace.worked(ctx, time.Since(began)) {
			return nil, nil
		}
	}
	return out, nil
}

// pacer keeps work in the background to a share of a processor.
type pacer struct {
	share func() int // in percent; 0 ends it
	spent time.Duration
}

// worked rests as long as that much work asks for. It returns false when it is to end.
func (p *pacer) worked(ctx context.Context, d time.Duration) bool {
	const least = 5 * time.Millisecond // of work before a rest
	if p.spent += d; p.spent < least {
		return true
	}
	share := min(p.share(), 100)
	if share <= 0 {
		return false
	}
	t := time.NewTimer(p.spent * time.Duration(100-share) / time.Duration(share))
	defer t.Stop()
	p.spent = 0
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
