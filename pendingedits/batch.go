package pendingedits

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// A batch is what a session proposes that is accepted as a whole or not at
// all: its entries, and the commits that are to be made of them.

// ErrBatch says that a part of a batch was to be accepted.
var ErrBatch = errors.New("it is part of a batch, which is accepted as a whole or not at all")

// mayTouch refuses an edit that would mix a batch with what another session
// does.
func (s *queue) mayTouch(by Proposer, names ...string) error {
	for _, name := range s.tied(names...) {
		for _, e := range []*entry{s.entries[name], s.from[name]} {
			if e == nil || hunk.Includes([]string{by.Session}, e.owners()) || !e.batch && !by.Batch {
				continue
			}
			if e, _ := s.look(e, false); e == nil {
				continue
			}
			other := e.owners()
			if other = slices.DeleteFunc(slices.Clone(other), func(o string) bool { return o == by.Session }); len(other) == 0 {
				continue // the live text has the others' already
			}
			if e.batch {
				return refuse(name, fmt.Errorf("%w: it is in the batch of session %s; work on other files until the user has decided on that", workspace.ErrConflict, other[0]))
			}
			return refuse(name, fmt.Errorf("%w: session %s has an edit of it that waits for the user, and a batch can't contain it; work on other files until then", workspace.ErrConflict, other[0]))
		}
		for _, q := range s.commits {
			if q.session != by.Session && q.claims(name) {
				return refuse(name, fmt.Errorf("%w: a commit of the batch of session %s waits for it; work on other files until the user has decided on that", workspace.ErrConflict, q.session))
			}
		}
	}
	return nil
}

// sessionsOf lists, in order, the sessions of which something in a batch is
// among the picks, or among the commits that sel chooses.
func (s *state) sessionsOf(picks []picked, sel Selection) []string {
	found := map[string]bool{}
	for _, p := range picks {
		if p.e.batch {
			found[p.e.session] = true
		}
	}
	for _, q := range s.chosenCommits(sel) {
		found[q.session] = found[q.session] || !q.loose
	}
	maps.DeleteFunc(found, func(_ string, batch bool) bool { return !batch })
	return slices.Sorted(maps.Keys(found))
}

// withParts returns the commits that another part or none is in, once keep was
// asked about every part, and the ids of those that have nothing left.
func (s *state) withParts(keep func(*queued, part) (part, bool)) (others []*queued, empty []string) {
	for _, q := range s.commits {
		var parts []part
		changed := false
		for _, p := range q.parts {
			now, ok := keep(q, p)
			if ok {
				parts = append(parts, now)
			}
			changed = changed || !ok || !now.same(p)
		}
		switch {
		case !changed:
		case parts == nil:
			empty = append(empty, q.id)
		default:
			other := *q
			other.parts = parts
			others = append(others, &other)
		}
	}
	return others, empty
}

// landed returns commits as they are once changes have been made to the base:
// those of the batch of a session or, for "", of what is accepted one by one; with
// undone, those that take it back.
func (s *state) landed(session string, changes []decided, undone bool) []*queued {
	before, after := map[string][]byte{}, map[string][]byte{}
	whose := map[string][]string{}
	for _, c := range changes {
		whose[c.Path], whose[c.From] = c.sessions(), c.sessions()
		if c.From != "" {
			before[c.From], after[c.From] = c.Before, nil
		} else {
			before[c.Path] = c.Before
		}
		after[c.Path] = c.After
	}
	others, _ := s.withParts(func(q *queued, p part) (part, bool) {
		final, ok := after[p.name]
		switch {
		case !ok || session != "" && q.session != session || session == "" && (!q.loose || !slices.Contains(whose[p.name], q.session)):
			return p, true
		case undone && p.landed > 0:
			return p.undo(before[p.name], final), true
		case undone:
			return p, true
		case p.landed > 0:
			return p.land(before[p.name], final), true
		}
		return p.land(before[p.source], final), true
	})
	return others
}

// withoutRejected returns what is left of the commits when the picks are
// rejected, and the ids of those that go: dropped, and those with nothing left.
func (s *state) withoutRejected(picks []picked, dropped []*queued) (others []*queued, gone []string) {
	type texts struct {
		session       string   // of a batch, else ""
		owners, left  []string // whose it was, and is still in part
		before, after []byte
		whole, mode   bool
	}
	rejected := map[string]texts{}
	for _, p := range picks {
		t := texts{owners: p.e.owners(), whole: len(p.ids) == len(p.r.edit.Hunks), mode: p.e.modeID != "" && p.ids[p.e.modeID]}
		if rest, _ := p.left(p.e, false); rest != nil {
			t.left = rest.owners()
		}
		if p.e.batch {
			t.session = p.e.session
		}
		t.before, t.after = p.e.proposal(none), p.e.proposal(p.ids.has)
		rejected[p.e.name] = t
		if p.e.from != "" {
			t.before, t.after = nil, p.e.base
			rejected[p.e.from] = t
		}
	}
	others, gone = s.withParts(func(q *queued, p part) (part, bool) {
		t, ok := rejected[p.name]
		switch {
		case !ok || t.session != "" && t.session != q.session || t.session == "" && (!q.loose || !slices.Contains(t.owners, q.session)):
			return p, true
		case p.landed == 0 && (t.whole || q.loose && !slices.Contains(t.left, q.session)):
			return p, false
		}
		if t.mode {
			p.mode = 0
		}
		return p.rebase(t.before, t.after), true
	})
	others = slices.DeleteFunc(others, func(q *queued) bool {
		idle := s.idle(q, func(e *entry) []string {
			if t, ok := rejected[e.name]; ok {
				return t.left
			}
			return e.owners()
		})
		if idle {
			gone = append(gone, q.id)
		}
		return idle
	})
	for _, q := range dropped {
		if q.loose && q.failed == "" && q.accepted() {
			continue // what is accepted of its files is still to be committed
		}
		others = slices.DeleteFunc(others, func(o *queued) bool { return o.id == q.id })
		if !slices.Contains(gone, q.id) {
			gone = append(gone, q.id)
		}
	}
	return others, s.withNames(gone...)
}
