package pendingedits

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// For returns the files with every pending edit made. What is applied to it
// becomes pending, in the name of the proposer: it is durable when Apply
// returns, and neither the base nor a person hears of it before it is accepted.
// It fails with workspace.ErrConflict for a file that is in the batch of
// another session and, for a batch, that any other session has an edit of.
func (s *Store) For(by Proposer) workspace.View {
	_ = s.own(context.Background(), false) // an edit says it
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.files
	if by.Tree != nil && by.Tree.Names != s.called {
		files = workspace.NewOverlay(by.Tree.Base, layer{&s.guarded, by.Tree.Names})
	}
	return &view{Files: files, s: s, by: by, called: by.calls(s.called)}
}

type view struct {
	workspace.Files
	s      *Store
	by     Proposer
	called Names // in the view

	mu   sync.Mutex
	read map[string]bool // files
}

// ReadFile notes which files were looked at; see Contested.
func (v *view) ReadFile(name string) ([]byte, error) {
	v.mu.Lock()
	if v.read == nil {
		v.read = map[string]bool{}
	}
	v.read[name] = true
	v.mu.Unlock()
	return v.Files.ReadFile(name)
}

// Contested says who else has edits of the files that were read here, and
// where: "session B in a.go (line 6)".
func (v *view) Contested() (said []string) {
	v.mu.Lock()
	names := slices.Sorted(maps.Keys(v.read))
	v.mu.Unlock()
	for _, name := range names {
		e, _, ok := v.s.Edit(name)
		if !ok {
			continue
		}
		var who, where []string
		for _, h := range e.Hunks {
			others := slices.DeleteFunc(slices.Clone(h.Sessions), func(s string) bool { return s == v.by.Session })
			if len(others) == 0 {
				continue
			}
			if who = hunk.Union(who, others); len(where) < maxPlaces {
				where = append(where, h.lines())
			}
		}
		if len(who) > 0 {
			said = append(said, fmt.Sprintf("session %s in %s (%s)", strings.Join(who, " and session "), name, strings.Join(where, ", ")))
		}
	}
	return said
}

func (v *view) Apply(ctx context.Context, changes ...workspace.Change) error {
	return v.s.owning(ctx, func() error {
		return v.s.writeQuiet(ctx, "record", func() (record, error) { return planEdits(&v.s.queue, v.by, v.called, changes) })
	})
}

// errAway is why nothing becomes pending in a folder that was removed meanwhile.
var errAway = fmt.Errorf("%w: its folder is no longer part of the workspace", fs.ErrNotExist)

// planEdits is what changes of a proposer come to.
func planEdits(q *queue, by Proposer, called Names, changes []workspace.Change) (record, error) {
	g := q.stage(by)
	for _, c := range changes {
		// One file, one entry, whichever of its names is used.
		if c.Path, c.From = q.current(called, c.Path), q.current(called, c.From); isAway(c.Path) || isAway(c.From) {
			return record{}, errAway
		}
		named, err := g.named(c)
		if err != nil {
			return record{}, err
		}
		for _, c := range named {
			if err := q.mayTouch(by, c.Path, c.From); err != nil {
				return record{}, err
			}
			if err := g.change(c); err != nil {
				return record{}, err
			}
		}
	}
	r, err := g.record()
	if err != nil {
		return record{}, err
	}
	if len(r.puts) == 0 && len(r.drops) == 0 {
		return record{}, errNothing
	}
	return r, nil
}

// layer is the queue as a layer over the base.
type layer struct {
	s      *guarded
	called Names // when the layer was made
}

func (l layer) Lookup(name string) (data []byte, deleted, ok bool) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.s.lookup(l.s.current(l.called, name))
}

// Link implements what an overlay asks for: where a link leads that is proposed.
func (l layer) Link(name string) (target string, ok bool) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	name = l.s.current(l.called, name)
	e := l.s.entries[name]
	if e == nil || !e.afterLink {
		return "", false
	}
	e, r := l.s.look(e, false)
	if e == nil || r.state == Conflict {
		return "", false
	}
	return string(e.after), true
}

func (l layer) Names() []string {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	queued := l.s.queued()
	if l.called == l.s.called {
		return slices.Clone(queued)
	}
	var names []string
	for _, name := range queued {
		if name = shown(l.called, kept(l.s.called, name)); !isAway(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// lookup returns what is proposed for name; !ok says that the base is right.
func (s *queue) lookup(name string) (data []byte, deleted, ok bool) {
	if e := s.entries[name]; e != nil {
		if e, r := s.look(e, false); e != nil && r.shown {
			return r.text, r.text == nil, true
		}
	}
	if e := s.from[name]; e != nil {
		if e, r := s.look(e, false); e != nil && r.shown {
			return nil, true, true
		}
	}
	return nil, false, false
}

// Node implements what workspace.NodeOf asks for: what the name has when all
// that is pending is accepted.
func (v *view) Node(name string) (workspace.Node, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if at, err := v.s.itself(name); err == nil {
		name = at
	}
	n, err := workspace.NodeOf(v.s.base, name)
	if e := v.s.from[name]; e != nil {
		if e, r := v.s.look(e, false); e != nil && r.shown {
			n = workspace.Node{}
		}
	}
	e := v.s.entries[name]
	if e == nil {
		return n, err
	}
	e, r := v.s.look(e, false)
	if e == nil || !r.offered {
		return n, err
	}
	switch {
	case e.afterLink:
		return workspace.Node{Exists: true, Link: string(e.after)}, nil
	case e.whole && e.after == nil:
		return workspace.Node{}, nil
	case e.mode != 0:
		return workspace.Node{Exists: true, Exec: workspace.IsExec(e.mode)}, nil
	}
	return workspace.Node{Exists: true, Exec: workspace.IsExec(r.live.stamp.mode)}, nil
}

// calls is how the proposer calls files, where the queue's view has its own names.
func (p Proposer) calls(own Names) Names {
	if p.Tree == nil {
		return own
	}
	return p.Tree.Names
}
