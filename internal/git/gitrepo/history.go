package gitrepo

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Step is one commit as a part of a history.
type Step struct {
	Hash    plumbing.Hash
	Date    int64 // of the committer, in seconds since 1970
	Message string
	Files   []Edit // what it changed, in the order of the paths; a renamed file under both names
}

// Edit is a changed file.
type Edit struct {
	Path     string        // relative to the top
	Old, New plumbing.Hash // the blobs, or the commits of a submodule; zero for none
}

// History is what led to HEAD.
type History struct {
	Head  plumbing.Hash
	Steps []Step // the newest first
	Until bool   // the steps are just those since HistoryOptions.Until, else they are those of no end
}

// HistoryOptions say how much of a history is read.
type HistoryOptions struct {
	Count int           // most steps, merges not counted
	Until plumbing.Hash // where to stop, which is no step itself, if nothing older was merged since; zero: nowhere
	Files int           // a commit that changes more files is no step
}

// History returns what led to HEAD. Merges are left out, as is the first commit
// of all, which changes everything. It fails with ErrNoSuchRev when there is no
// commit yet.
func (r *Repo) History(ctx context.Context, o HistoryOptions) (History, error) {
	if _, err := r.Readable(); err != nil {
		return History{}, err
	}
	h, err := r.head()
	if err != nil {
		return History{}, err
	}
	if h.hash.IsZero() {
		return History{}, fmt.Errorf("%w: the branch %s has no commit yet", ErrNoSuchRev, h.branch)
	}
	w := logWalk{r: r, seen: map[plumbing.Hash]bool{}}
	if err := w.add(h.hash); err != nil {
		return History{}, err
	}
	out := History{Head: h.hash}
	for n := 0; n < o.Count && len(w.queue.list) > 0; {
		if err := ctx.Err(); err != nil {
			return History{}, err
		}
		c, _, err := w.next()
		if err != nil {
			return History{}, err
		}
		// Ways beside it may lead to commits that it did not have: they were
		// merged since.
		if c.Hash == o.Until && !slices.ContainsFunc(w.queue.list, func(q queued) bool { return !slices.Contains(c.Parents, q.Hash) }) {
			out.Until = true
			break
		}
		if len(c.Parents) != 1 {
			continue
		}
		n++
		parent, err := r.Objects.Commit(c.Parents[0])
		if err != nil {
			return History{}, err
		}
		p := edits{r: r, most: o.Files}
		if err := p.compare(parent.Tree, c.Tree, ""); err != nil {
			return History{}, err
		}
		if len(p.list) <= o.Files && !p.many {
			out.Steps = append(out.Steps, Step{c.Hash, c.Date, c.Message(), p.list})
		}
	}
	return out, nil
}

// edits gathers the files in which two trees differ, until there are more than
// most.
type edits struct {
	r    *Repo
	most int
	list []Edit
	seen int  // directories
	many bool // more than are looked at
}

// treesPerEdit bounds how many directories are compared, for each file that is listed.
const treesPerEdit = 100

func (p *edits) compare(a, b plumbing.Hash, dir string) error {
	p.seen++
	if bounded(dir, p.seen, treesPerEdit*(p.most+1)) != nil {
		p.many = true
	}
	if p.many {
		return nil
	}
	x, err := p.r.Objects.Tree(a)
	if err != nil {
		return err
	}
	y, err := p.r.Objects.Tree(b)
	if err != nil {
		return err
	}
	for len(x)+len(y) > 0 && len(p.list) <= p.most {
		switch {
		case len(y) == 0 || len(x) > 0 && object.Order(x[0]) < object.Order(y[0]):
			err = p.pair(x[0], gitobject.TreeEntry{}, dir+x[0].Name)
			x = x[1:]
		case len(x) == 0 || object.Order(y[0]) < object.Order(x[0]):
			err = p.pair(gitobject.TreeEntry{}, y[0], dir+y[0].Name)
			y = y[1:]
		default:
			err = p.pair(x[0], y[0], dir+x[0].Name)
			x, y = x[1:], y[1:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pair compares what is at a path, which is a directory on both sides or on
// none.
func (p *edits) pair(a, b gitobject.TreeEntry, path string) error {
	if a.Hash == b.Hash && a.Mode == b.Mode {
		return nil
	}
	if a.Mode == filemode.Dir || b.Mode == filemode.Dir {
		return p.compare(a.Hash, b.Hash, path+"/")
	}
	p.list = append(p.list, Edit{path, a.Hash, b.Hash})
	return nil
}
