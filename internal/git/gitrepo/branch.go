package gitrepo

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Branch is where HEAD stands.
type Branch struct {
	Name          string // "" when HEAD is detached
	Commit        string // hash; "" when there is none yet
	Unborn        bool   // there is no commit yet
	Upstream      string // short, "" when there is none
	Gone          bool   // the upstream isn't there any more
	Ahead, Behind int    // commits, compared with the upstream
}

// String is the line of git status --branch --porcelain=v1, without its mark.
func (b Branch) String() string {
	name := b.Name
	if name == "" {
		name = "HEAD (no branch)"
	}
	if b.Unborn {
		name = "No commits yet on " + name
	}
	if b.Upstream == "" {
		return name
	}
	name += "..." + b.Upstream
	switch {
	case b.Gone:
		return name + " [gone]"
	case b.Ahead > 0 && b.Behind > 0:
		return fmt.Sprintf("%s [ahead %d, behind %d]", name, b.Ahead, b.Behind)
	case b.Ahead > 0:
		return fmt.Sprintf("%s [ahead %d]", name, b.Ahead)
	case b.Behind > 0:
		return fmt.Sprintf("%s [behind %d]", name, b.Behind)
	}
	return name
}

// branch says where HEAD stands and how far it is from its upstream.
func (r *Repo) branch(ctx context.Context, h head, conf gitconfig.Values) (Branch, error) {
	b := Branch{Name: h.branch, Unborn: h.hash.IsZero()}
	if !b.Unborn {
		b.Commit = h.hash.String()
	}
	remote, merge := conf["branch."+h.branch+".remote"], conf["branch."+h.branch+".merge"]
	if h.branch == "" || remote == "" || merge == "" {
		return b, nil
	}
	ref := merge
	if remote != "." {
		if ref = tracking(conf["remote."+remote+".fetch"], merge); ref == "" {
			return b, nil
		}
	}
	b.Upstream = plumbing.ReferenceName(ref).Short()
	hash, err := refOf(r.storage, plumbing.ReferenceName(ref))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		b.Gone = true
		return b, nil
	}
	if err != nil || b.Unborn {
		return b, err
	}
	b.Ahead, b.Behind, err = between(ctx, r.Objects, h.hash, hash)
	return b, err
}

// tracking maps a remote's branch to the ref that follows it.
func tracking(spec, merge string) string {
	from, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	if !ok {
		return ""
	}
	if from == merge {
		return to
	}
	before, after, ok := strings.Cut(from, "*")
	if !ok || len(merge) < len(before)+len(after) || !strings.HasPrefix(merge, before) || !strings.HasSuffix(merge, after) {
		return ""
	}
	return strings.Replace(to, "*", merge[len(before):len(merge)-len(after)], 1)
}

// between counts the commits that only a has and those that only b has.
func between(ctx context.Context, objects *object.Store, a, b plumbing.Hash) (onlyA, onlyB int, err error) {
	if a == b {
		return 0, 0, nil
	}
	const fromA, fromB, both = 1, 2, 3
	seen := map[plumbing.Hash]int{}
	counted := map[plumbing.Hash]int{}
	var queue commitQueue
	open := 0 // commits in the queue that only one side is known to have
	reach := func(hash plumbing.Hash, sides int) error {
		have := seen[hash]
		if have|sides == have {
			return nil
		}
		seen[hash] = have | sides
		if have == 0 || counted[hash] != 0 {
			c, err := objects.Commit(hash)
			if err != nil {
				return err
			}
			heap.Push(&queue, c)
			if seen[hash] != both {
				open++
			}
		} else if seen[hash] == both {
			open--
		}
		return nil
	}
	if err := errors.Join(reach(a, fromA), reach(b, fromB)); err != nil {
		return 0, 0, err
	}
	for len(queue.list) > 0 && open > 0 {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		c := heap.Pop(&queue).(*object.Commit)
		sides := seen[c.Hash]
		if sides != both {
			open--
		}
		counted[c.Hash] = sides
		for _, p := range c.Parents {
			if err := reach(p, sides); err != nil {
				return 0, 0, err
			}
		}
	}
	for _, sides := range counted {
		switch sides {
		case fromA:
			onlyA++
		case fromB:
			onlyB++
		}
	}
	return onlyA, onlyB, nil
}

// commitQueue gives the youngest commit first, of equally old ones that which
// was pushed first.
type commitQueue struct {
	list []queued
	n    int
}

type queued struct {
	*object.Commit
	n int
}

func (q *commitQueue) Len() int { return len(q.list) }
func (q *commitQueue) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return a.Date > b.Date || a.Date == b.Date && a.n < b.n
}
func (q *commitQueue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push takes a *commit.
func (q *commitQueue) Push(c any) {
	q.list = append(q.list, queued{c.(*object.Commit), q.n})
	q.n++
}

// Pop returns a *commit.
func (q *commitQueue) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last.Commit
}
