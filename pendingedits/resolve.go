package pendingedits

import (
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// resolution is an entry seen against the live text.
type resolution struct {
	live live

	text    []byte      // what is proposed now; nil: no file
	shown   bool        // text differs from live and is what the queue's view has
	offered bool        // there is something to accept: text is shown, or a link or mode proposed
	placed  hunk.Placed // of what is no whole
	state   State       // of a whole
	left    *entry      // without what the live text has already; nil: nothing

	edit Edit
}

// look returns what e is in the live text, which is read again when its stamp is
// new or force is set. Hunks that the live text has already are dropped: the entry
// returned is nil when none is left.
func (s *queue) look(e *entry, force bool) (*entry, *resolution) {
	old, spoken := s.resolved[e.name], s.moving()
	st := readStamp(s.base, e, spoken)
	if old != nil && !force && st == old.live.stamp {
		return e, old
	}
	l := readLive(s.base, e, st, spoken)
	if old != nil && l.same(old.live) {
		old.live.stamp = st
		return e, old
	}
	r := resolve(e, l)
	if r.left != e {
		rec := record{puts: []*entry{r.left}}
		if r.left == nil {
			rec = record{drops: []string{e.name}}
		}
		// Not waited for: the live text that did it would do it again.
		_, err := s.commit("settle", rec)
		if r.left == nil {
			return nil, nil
		}
		if err == nil {
			return s.look(r.left, true)
		}
	}
	markAgain(s.refused, &r.edit)
	r.edit.Revision = e.revision
	if old != nil {
		r.edit.Revision = old.edit.Revision
	}
	if old == nil && r.edit.State != Clean || old != nil && !sameEdit(r.edit, old.edit) {
		s.revision++
		r.edit.Revision = s.revision
		s.changed()
	}
	s.resolved[e.name] = r
	return e, r
}

// sameEdit compares what a person sees of an edit.
func sameEdit(a, b Edit) bool {
	return a.State == b.State && a.Added == b.Added && a.Removed == b.Removed && slices.EqualFunc(a.Hunks, b.Hunks, Hunk.same)
}

// resolve brings an entry and the live text together.
func resolve(e *entry, l live) *resolution {
	r := &resolution{live: l, state: Clean, left: e}
	switch {
	case e.whole && l.trouble != nil:
		r.state = Conflict
	case e.isLink():
		r.resolveLink(e)
	case e.whole:
		r.resolveWhole(e)
	default:
		r.placed = hunk.Place(e.base, e.hunks, l.data)
		r.text, r.shown = r.placed.Text, len(r.placed.Ready) > 0
		if done := r.done(e); len(done) > 0 {
			r.left = e.without(done.has, none)
		}
	}
	if e.modeID != "" && l.data == nil {
		r.state = Conflict
	}
	r.offered = r.shown || e.isLink() && r.state != Conflict || e.modeID != "" && l.data != nil
	r.edit = describe(e, r)
	return r
}

// done are the hunks of e that the live text has already.
func (r *resolution) done(e *entry) idSet {
	ids := idSet{}
	if e.modeID != "" && r.live.data != nil && workspace.IsExec(r.live.stamp.mode) == workspace.IsExec(e.mode) {
		ids[e.modeID] = true
	}
	for i, p := range r.placed.At {
		if p.Done {
			ids[e.hunks[i].ID] = true
		}
	}
	return ids
}

func (r *resolution) resolveWhole(e *entry) {
	l, done := r.live, false
	r.text, r.shown = e.after, true
	switch {
	case e.from == "":
		done = hunk.Same(l.data, e.after) && !e.changesMode(r)
		if !hunk.Same(l.data, e.base) {
			r.state = Conflict
		}
	case l.thereTrouble != nil || l.there != nil || l.data == nil:
		done = l.thereTrouble == nil && l.data == nil && hunk.Same(l.there, e.after)
		r.state = Conflict
	case !hunk.Same(l.data, e.base):
		merged, ok := hunk.Merge(e.base, l.data, e.after)
		r.text, r.state = merged, Moved
		if !ok {
			r.state = Conflict
		}
	}
	if done {
		r.left = nil
	}
	if done || r.state == Conflict {
		r.text, r.shown = l.data, false
	}
}

func (r *resolution) resolveLink(e *entry) {
	now := node{r.live.data, r.live.link}
	r.text = r.live.data
	if now.is(e.after, e.afterLink) {
		r.left = nil
	}
	switch {
	case !now.is(e.base, e.baseLink):
		r.state = Conflict
	case !e.afterLink: // no link is there then, which the view can show
		r.text, r.shown = e.after, true
	}
}

// describe is what a person sees of e.
func describe(e *entry, r *resolution) Edit {
	d := Edit{
		Name: e.name, From: e.from, Kind: e.kind(), Session: e.session, Tool: e.tool, Command: e.command, Batch: e.batch, UpdatedAt: e.updated,
		State: Clean,
	}
	if e.whole {
		d.State = r.state
		d.Hunks = []Hunk{describeWhole(e, r, &d)}
		return d
	}
	if e.modeID != "" {
		d.State = r.state
		d.Hunks = append(d.Hunks, Hunk{ID: e.modeID, Sessions: e.modeBy, State: r.state, Text: e.modeLines(), Says: e.modeSays()})
	}
	shift := 0
	for i, h := range e.hunks {
		p := r.placed.At[i]
		if p.Done {
			continue
		}
		d.Hunks = append(d.Hunks, Hunk{
			ID: h.ID, Sessions: h.By,
			OldStart: first(p.Start, len(h.Old)), OldLines: len(h.Old),
			NewStart: first(p.Start+shift, len(h.New)), NewLines: len(h.New),
			State: p.State, Text: diff.Hunk{Old: h.Old, New: h.New}.Text(),
		})
		d.Added, d.Removed = d.Added+len(h.New), d.Removed+len(h.Old)
		if p.State != Conflict {
			shift += len(h.New) - len(h.Old)
		}
		if p.State == Conflict || d.State == Clean {
			d.State = p.State
		}
	}
	if d.State == Conflict {
		taken := r.placed.TakenStarts()
		for i := range d.Hunks {
			if at := slices.IndexFunc(e.hunks, func(h hunk.Hunk) bool { return h.ID == d.Hunks[i].ID }); at >= 0 {
				d.Hunks[i].TakenStart = first(taken[at], d.Hunks[i].NewLines)
			}
		}
	}
	return d
}

// describeWhole shows a whole as one hunk, and counts its lines in d.
func describeWhole(e *entry, r *resolution, d *Edit) Hunk {
	old, proposed := e.base, e.after
	if r.shown {
		old, proposed = r.live.data, r.text
	}
	h := Hunk{ID: e.hunks[0].ID, Sessions: e.hunks[0].By, State: r.state}
	text := ""
	if e.from != "" {
		text = fmt.Sprintf("rename from %s\nrename to %s\n", e.from, e.name)
	}
	if e.isLink() {
		h.Says = e.linkSays()
		text += e.linkLines()
	} else if e.changesMode(r) {
		text += e.modeLines()
	}
	if diff.Binary(string(old)) || diff.Binary(string(proposed)) {
		h.Text = text + "binary content\n"
		return h
	}
	changes := diff.HunksOf(old, proposed)
	for _, c := range changes {
		d.Added, d.Removed = d.Added+c.NewLines, d.Removed+c.OldLines
		text += c.Text()
	}
	h.OldLines, h.NewLines = diff.CountLines(string(old)), diff.CountLines(string(proposed))
	h.OldStart, h.NewStart = first(0, h.OldLines), first(0, h.NewLines)
	h.Text = text
	return h
}

// first is a zero-based start of lines as unified diffs count it.
func first(start, lines int) int {
	if lines == 0 {
		return start
	}
	return start + 1
}
