package pendingedits

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// resolution is an entry seen against the live text.
type resolution struct {
	stamp   stamp
	live    []byte // at the entry's source; nil: no file
	trouble error  // why live could not be read

	liveLink bool        // live is the target of a link
	liveMode fs.FileMode // permissions of the live file

	text    []byte // what is proposed now; nil: no file
	shown   bool   // text differs from live and is what the queue's view has
	offered bool   // there is something to accept: text is shown, or a link or mode proposed
	ready   []hunk // that can be accepted, exact in live
	at      []located
	clashes []clash
	state   State // of a whole
	done    bool  // of a whole

	edit Edit
}

// stamp tells cheaply that a file is another.
type stamp struct {
	exists   bool
	size     int64
	modified time.Time
	mode     fs.FileMode
	link     string // where an entry of a link has one
	occupied bool   // a rename's new name is taken
}

func (s *Store) stamp(e *entry) stamp {
	var st stamp
	if info, err := s.base.Stat(e.source()); err == nil {
		st = stamp{exists: true, size: info.Size(), modified: info.ModTime(), mode: info.Mode().Perm()}
	}
	if e.isLink() {
		n, err := workspace.NodeOf(s.base, e.name)
		st.link, st.exists = n.Link, err == nil && n.Exists
	}
	if e.from != "" {
		_, err := s.base.Stat(e.name)
		st.occupied = err == nil && !s.elsewhere(e.name, s.moving())
	}
	return st
}

// read returns a file of the base, nil when there is none. Pending renames are spoken
// of with it; see elsewhere. s.mu is held.
func (s *Store) read(name string) ([]byte, error) { return s.readBeside(name, s.moving()) }

// readBeside is read where other names are spoken of.
func (s *Store) readBeside(name string, spoken func(name string) bool) ([]byte, error) {
	if s.elsewhere(name, spoken) {
		return nil, nil
	}
	data, err := s.base.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return file(data), nil
}

// resolve returns what e is in the live text, which is read again when its
// stamp is new or force is set. Hunks that the live text has already are
// dropped: the entry returned is nil when none is left. s.mu is held.
func (s *Store) resolve(e *entry, force bool) (*entry, *resolution) {
	old := s.resolved[e.name]
	now := s.stamp(e)
	if old != nil && !force && now == old.stamp {
		return e, old
	}
	live, err := s.read(e.source())
	link := false
	if e.isLink() {
		var n node
		n, err = s.readNode(e.name)
		live, link = n.data, n.link
	}
	if old != nil && err == nil && old.trouble == nil && same(live, old.live) && link == old.liveLink && now.mode == old.stamp.mode && now.occupied == old.stamp.occupied {
		old.stamp = now
		return e, old
	}
	r := &resolution{stamp: now, live: live, liveLink: link, liveMode: now.mode, trouble: err, state: Clean}
	s.meet(e, r)
	if left, changed := e.settled(r); changed {
		rec := record{puts: []*entry{left}}
		if left == nil {
			rec = record{drops: []string{e.name}}
		}
		// Not waited for: the live text that did it would do it again.
		_, err := s.commit("settle", rec)
		if left == nil {
			return nil, nil
		}
		if err == nil {
			return s.resolve(left, true)
		}
	}
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

// settled returns what is left of e without what r found done, and whether
// that is less.
func (e *entry) settled(r *resolution) (left *entry, less bool) {
	if e.whole {
		return nil, r.done
	}
	ids := idSet{}
	if e.modeID != "" && r.live != nil && workspace.IsExec(r.liveMode) == workspace.IsExec(e.mode) {
		ids[e.modeID] = true
	}
	for i, p := range r.at {
		if p.done {
			ids[e.hunks[i].id] = true
		}
	}
	if len(ids) == 0 {
		return e, false
	}
	return e.without(ids.has, none), true
}

// meet brings e and the live text of r together.
func (s *Store) meet(e *entry, r *resolution) {
	switch {
	case e.whole && r.trouble != nil:
		r.state = Conflict
	case e.isLink():
		e.meetLink(r)
	case e.whole:
		s.meetWhole(e, r)
	case !isText(r.live):
		r.text = r.live
		r.at = slices.Repeat([]located{{state: Conflict}}, len(e.hunks))
	default:
		meetText(e, r)
	}
	if e.modeID != "" && r.live == nil {
		r.state = Conflict
	}
	r.offered = r.shown || e.isLink() && r.state != Conflict || e.modeID != "" && r.live != nil
	r.edit = describe(e, r)
	s.markAgain(&r.edit)
}

func (s *Store) meetWhole(e *entry, r *resolution) {
	r.text, r.shown = e.after, true
	if e.from != "" {
		s.meetRename(e, r)
	} else {
		r.done = same(r.live, e.after) && !e.changesMode(r)
		if !same(r.live, e.base) {
			r.state = Conflict
		}
	}
	if r.done || r.state == Conflict {
		r.text, r.shown = r.live, false
	}
}

func (s *Store) meetRename(e *entry, r *resolution) {
	there, err := s.read(e.name)
	if err != nil || there != nil || r.live == nil {
		r.done = err == nil && r.live == nil && same(there, e.after)
		r.state = Conflict
		return
	}
	if same(r.live, e.base) {
		return
	}
	merged, ok := merge(e.base, r.live, e.after)
	r.text, r.state = merged, Moved
	if !ok {
		r.state = Conflict
	}
}

func meetText(e *entry, r *resolution) {
	lines := diff.SplitLines(string(r.live))
	if same(r.live, e.base) {
		// What the entry was made for, almost always.
		r.at = make([]located, len(e.hunks))
		for i, h := range e.hunks {
			r.at[i] = located{state: Clean, start: h.start}
		}
	} else {
		r.at, r.clashes = locate(diff.SplitLines(string(e.base)), e.hunks, lines)
	}
	r.ready, r.clashes = settle(e.hunks, lines, r.at, r.clashes)
	r.text, r.shown = join(apply(lines, r.ready)), len(r.ready) > 0
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
		p := r.at[i]
		if p.done {
			continue
		}
		d.Hunks = append(d.Hunks, Hunk{
			ID: h.id, Sessions: h.by,
			OldStart: first(p.start, len(h.old)), OldLines: len(h.old),
			NewStart: first(p.start+shift, len(h.new)), NewLines: len(h.new),
			State: p.state, Text: diff.Hunk{Old: h.old, New: h.new}.Text(),
		})
		d.Added, d.Removed = d.Added+len(h.new), d.Removed+len(h.old)
		if p.state != Conflict {
			shift += len(h.new) - len(h.old)
		}
		if p.state == Conflict || d.State == Clean {
			d.State = p.state
		}
	}
	return d
}

// describeWhole shows a whole as one hunk, and counts its lines in d.
func describeWhole(e *entry, r *resolution, d *Edit) Hunk {
	old, proposed := e.base, e.after
	if r.shown {
		old, proposed = r.live, r.text
	}
	h := Hunk{ID: e.hunks[0].id, Sessions: e.hunks[0].by, State: r.state}
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
