package pendingedits

import (
	"context"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Names says how files are called in the log, which outlives the set of folders
// that a workspace has: their names in the view may begin with a folder's name
// today and not tomorrow. nil names are the same in both.
type Names interface {
	// Kept is what a file of the view is called in the log.
	Kept(name string) string
	// Shown is what a file of the log is called in the view, if its folder is
	// part of it.
	Shown(kept string) (name string, ok bool)
}

// away begins what a file is called in memory while its folder is not part of
// the view; the rest is its name in the log. No view has such a name.
const away = "\x00"

func isAway(name string) bool { return strings.HasPrefix(name, away) }

func kept(n Names, name string) string {
	switch rest, gone := strings.CutPrefix(name, away); {
	case gone:
		return rest
	case n == nil || name == "":
		return name
	}
	return n.Kept(name)
}

func shown(n Names, kept string) string {
	if n == nil || kept == "" {
		return kept
	}
	if name, ok := n.Shown(kept); ok {
		return name
	}
	return away + kept
}

// renamed is r with other names.
func (r record) renamed(name func(string) string) record {
	r.drops = mapped(r.drops, name)
	commit := func(q *queued) *queued {
		next := *q
		next.parts = mapped(q.parts, func(p part) part {
			p.name, p.source = name(p.name), name(p.source)
			return p
		})
		return &next
	}
	edit := func(e *entry) *entry {
		next := *e
		next.name, next.from = name(e.name), name(e.from)
		return &next
	}
	r.puts = mapped(r.puts, edit)
	r.rejected = mapped(r.rejected, func(j rejection) rejection {
		j.entries, j.commits, j.left = mapped(j.entries, edit), mapped(j.commits, commit), mapped(j.left, commit)
		return j
	})
	r.undo = mapped(r.undo, func(u undoItem) undoItem {
		u.changes = mapped(u.changes, func(d decided) decided {
			d.Path, d.From = name(d.Path), name(d.From)
			return d
		})
		return u
	})
	r.commits = mapped(r.commits, commit)
	return r
}

func mapped[T any](list []T, f func(T) T) []T {
	out := slices.Clone(list)
	for i, v := range out {
		out[i] = f(v)
	}
	return out
}

// toLog is r as it is written, and fromLog as it is in memory.
func (s *state) toLog(r record) record {
	if s.called == nil {
		return r
	}
	return r.renamed(func(name string) string { return kept(s.called, name) })
}

func (s *state) fromLog(r record) record {
	if s.called == nil {
		return r
	}
	r = r.renamed(func(name string) string { return shown(s.called, name) })
	for _, e := range r.puts { // a rename between two folders needs both
		if isAway(e.name) != isAway(e.from) && e.from != "" {
			e.name, e.from = away+kept(s.called, e.name), away+kept(s.called, e.from)
		}
	}
	return r
}

// Move puts the queue over another view, in which files may be called
// otherwise. The edits of files that it does not have are kept, unseen, until
// Move or Open is given a view that has them. Views that For gave before go on
// with their names. It waits for a decision that is being carried out.
func (s *Store) Move(ctx context.Context, base workspace.View, names Names, commits Committer) error {
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.quiet(ctx); err != nil {
		return err
	}
	all := s.records()
	for i, r := range all {
		all[i] = s.toLog(r)
	}
	s.base, s.called, s.opts.Commits = base, names, commits
	s.files = workspace.NewOverlay(base, layer{&s.guarded, names})
	s.clear()
	for _, r := range all {
		s.replay(s.fromLog(r))
	}
	s.revision++
	for _, e := range s.entries {
		e.revision = s.revision
	}
	s.changed()
	return nil
}

// Take moves edits of another queue here: those of files that this one's view
// has too, under the name that it calls them. Of a file that has an edit here
// already the other one stays where it is.
func (s *Store) Take(ctx context.Context, from *Store, name func(theirs string) (ours string, ok bool)) error {
	return s.owning(ctx, func() error { // which holds nothing of the other one while it waits
		from.reviewing.Lock()
		defer from.reviewing.Unlock()
		from.mu.Lock()
		defer from.mu.Unlock()
		if err := from.quiet(ctx); err != nil {
			return err
		}
		var gone record
		err := s.writeQuiet(ctx, "record", func() (taken record, err error) {
			if taken, gone = planTake(&s.queue, &from.queue, name); len(taken.puts) == 0 {
				err = errNothing
			}
			return taken, err
		})
		if err != nil || len(gone.drops) == 0 {
			return err
		}
		// A crash here leaves them in both, where the older ones are found to be done.
		seq, err := from.commit("record", gone)
		if err != nil {
			return err
		}
		return from.log.Sync("record", seq)
	})
}

// planTake is what comes here of another queue, and what is gone there then.
func planTake(q, from *queue, name func(theirs string) (ours string, ok bool)) (taken, gone record) {
	for _, e := range from.sorted() {
		next := *e
		var here, all bool
		if next.name, here = name(e.name); !here || q.entries[next.name] != nil {
			continue
		}
		if next.from, all = name(e.from); !all && e.from != "" || e.from != "" && q.from[next.from] != nil {
			continue
		}
		if e.from == "" {
			next.from = ""
		}
		next.hunks = slices.Clone(e.hunks)
		for i := range next.hunks {
			next.hunks[i].ID = q.newID()
		}
		taken.puts = append(taken.puts, &next)
		gone.drops = append(gone.drops, e.name)
	}
	return taken, gone
}

// current is what a file is called in the view that s is over now, which others
// call by name.
func (s *state) current(others Names, name string) string {
	if others == s.called || name == "" {
		return name
	}
	return shown(s.called, kept(others, name))
}
