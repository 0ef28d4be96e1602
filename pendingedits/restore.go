package pendingedits

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// rejection is what one reject dropped. It is kept for as long as an accept can be undone,
// within bounds of its own: the newest 100, a quarter of the bytes.
type rejection struct {
	id      int64 // the store's revision when it was made
	at      time.Time
	entries []*entry
	commits []*queued // that it changed or dropped, as they were
	left    []*queued // what it left of those
}

// maxRejections bounds how many can be taken back.
const maxRejections = 100

func rejectionName(j rejection) string { return "r" + strconv.FormatInt(j.id, 10) }

func sizeOfRejection(j rejection) int64 {
	n := int64(32)
	for _, e := range j.entries {
		n += e.size()
	}
	for _, q := range slices.Concat(j.commits, j.left) {
		n += q.size()
	}
	return n
}

// dropped is what rejecting picks drops of the queue, and of the commits that wait.
func dropped(s *queue, picks []picked, others []*queued, unqueued []string) rejection {
	j := rejection{left: others}
	for _, p := range picks {
		e := p.e
		if !e.whole {
			e = e.without(none, func(h hunk.Hunk) bool { return !p.ids.has(h) })
		}
		if e != nil {
			j.entries = append(j.entries, e)
		}
	}
	for _, q := range s.commits {
		if slices.Contains(unqueued, q.id) || slices.ContainsFunc(others, func(o *queued) bool { return o.id == q.id }) {
			j.commits = append(j.commits, q)
		}
	}
	return j
}

// replayRejections makes true what r says about what was rejected.
func replayRejections(s *state, r record) {
	list := slices.DeleteFunc(slices.Clone(s.rejections), func(j rejection) bool { return slices.Contains(r.unrejected, j.id) })
	list = append(list, r.rejected...)
	slices.SortStableFunc(list, func(a, b rejection) int { return cmp.Compare(a.id, b.id) })
	s.rejections = boundedRejections(s, list)
}

func boundedRejections(s *state, list []rejection) []rejection {
	bytes, age := undoLimits(s.limits)
	size := int64(0)
	for i := len(list) - 1; i >= 0; i-- {
		size += sizeOfRejection(list[i])
		old := age > 0 && s.now().Sub(list[i].at) > age
		if old || size > bytes/4 || len(list)-i > maxRejections {
			return slices.Clone(list[i+1:])
		}
	}
	return list
}

// newestRejection is the id of the newest rejection that can be taken back; "" where an
// edit that is not taken back is newer.
func newestRejection(s *Store) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejections = boundedRejections(&s.state, s.rejections)
	n := len(s.rejections)
	if n == 0 || slices.ContainsFunc(s.undo, func(u undoItem) bool { return !u.undone && u.turn > s.rejections[n-1].id }) {
		return ""
	}
	return rejectionName(s.rejections[n-1])
}

// rejected reports whether id is of a rejection that can be taken back.
func rejected(s *Store, id string) (rejection, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejections = boundedRejections(&s.state, s.rejections)
	i := slices.IndexFunc(s.rejections, func(j rejection) bool { return rejectionName(j) == id })
	if i < 0 {
		return rejection{}, false
	}
	return s.rejections[i], true
}

// restore takes a rejection back: what it dropped is pending again, and its commits
// wait as they did. A file of which something else waits by now, which does not go together
// with it, is a failure; the rejection is kept for that one. The caller decides.
func restore(s *Store, j rejection) (UndoResult, error) {
	s.mu.Lock()
	of := pastRejection(j)
	before := map[string]bool{}
	for _, e := range s.sorted() {
		for _, h := range e.parts() {
			before[h.ID] = true
		}
	}
	s.mu.Unlock()
	res := UndoResult{What: "undo", Of: []Past{of}}
	var back []*entry
	err := s.write("restore", func() (r record, err error) {
		r, back, res.Failed = planRestore(&s.queue, j)
		if r.unrejected == nil {
			err = errNothing
		}
		return r, err
	})
	d := Decision{What: "restore", Failed: res.Failed, Err: err}
	var notes []note
	for _, e := range back {
		res.Restored = append(res.Restored, e.name)
		for _, session := range e.owners() {
			d.Changes = append(d.Changes, Decided{workspace.Change{Path: e.name, From: e.from, Before: e.base, After: e.proposal(none)}, session, e.tool})
			notes = append(notes, note{session, "The user took back rejecting your edit of " + e.name + "; it is pending again."})
		}
	}
	if err != nil {
		notes = nil
	}
	announce(s.opts.Observer, d, notes)
	if err != nil {
		return UndoResult{}, err
	}
	s.mu.Lock()
	forgetRefusals(&s.queue, back, before)
	s.mu.Unlock()
	slices.Sort(res.Restored)
	res.Revision = s.Revision()
	return res, nil
}

// forgetRefusals marks what came back as not rejected: what was pending before keeps its mark.
func forgetRefusals(s *queue, back []*entry, before map[string]bool) {
	for _, was := range back {
		e := s.entries[was.name]
		if e == nil {
			continue
		}
		if e, r := s.look(e, true); e != nil {
			for i, h := range r.edit.Hunks {
				if !before[h.ID] {
					delete(s.refused, refusalOf(e.name, h))
					r.edit.Hunks[i].Again = false
				}
			}
		}
	}
}

// planRestore is what taking a rejection back comes to, and the entries that come back.
func planRestore(q *queue, j rejection) (r record, back []*entry, failed []Failure) {
	left := j
	left.entries = nil
	g := q.stage(Proposer{}) // in which there is room where the rejection itself makes it
	for _, e := range j.entries {
		if e.from != "" {
			g.want[e.from] = nil
		}
		if e.kind() == "delete" {
			g.want[e.name] = nil
		}
	}
	for _, e := range j.entries {
		one, err := putBack(q, g, e)
		if err != nil {
			failed = append(failed, Failure{shownName(e.name), err})
			left.entries = append(left.entries, e)
			continue
		}
		if one != nil {
			r.puts = append(r.puts, one)
		}
		back = append(back, e)
	}
	if len(back) == 0 && len(failed) > 0 {
		return record{}, nil, failed
	}
	r.unrejected = []int64{j.id}
	if len(left.entries) > 0 {
		r.rejected = []rejection{left}
		return r, back, failed
	}
	for _, was := range j.commits {
		left, now := byID(j.left, was.id), byID(q.commits, was.id)
		if left == nil && now == nil || left != nil && now != nil && slices.EqualFunc(left.parts, now.parts, func(p, q part) bool { return p.name == q.name && p.same(q) }) {
			next := *was
			r.commits = append(r.commits, &next)
		}
	}
	return r, back, failed
}

func byID(list []*queued, id string) *queued {
	for _, q := range list {
		if q.id == id {
			return q
		}
	}
	return nil
}

// shownName is a file's name for people, also while its folder is away.
func shownName(name string) string {
	if isAway(name) {
		return name[len(away):]
	}
	return name
}

// putBack is the entry with which e is pending again, nil if it is.
func putBack(s *queue, g *stage, e *entry) (*entry, error) {
	waits := fmt.Errorf("another edit of it waits, which does not go together with it; decide on that first: %w", workspace.ErrConflict)
	if isAway(e.name) || isAway(e.from) {
		return nil, fmt.Errorf("its folder is not part of the workspace now: %w", fs.ErrNotExist)
	}
	if err := s.mayTouch(e.by(), e.name, e.from); err != nil {
		return nil, err
	}
	now := s.entries[e.name]
	if s.from[e.name] != nil || e.from != "" && (s.entries[e.from] != nil || s.from[e.from] != nil) {
		return nil, waits
	}
	if now == nil {
		if kind := e.kind(); kind == "create" || kind == "rename" {
			if err := g.roomFor(e.name); err != nil {
				return nil, err
			}
		}
		next := *e
		return &next, nil
	}
	if now.whole || e.whole {
		if now.whole && e.whole && now.from == e.from && hunk.Same(now.base, e.base) && hunk.Same(now.after, e.after) {
			return nil, nil
		}
		return nil, waits
	}
	if next, ok := together(now, e); ok {
		return next, nil
	}
	own := s.stage(e.by())
	text, err := own.current(e.name)
	if err != nil {
		return nil, err
	}
	want, ok := hunk.Merge(e.base, text, e.proposal(none))
	if !ok {
		return nil, waits
	}
	own.want[e.name], own.again = want, map[string][]hunk.Owned{e.name: hunk.Everywhere(e.owners()...)}
	if e.modeID != "" {
		own.mode[e.name] = e.mode
	}
	r, err := own.record()
	if err != nil || len(r.puts) == 0 {
		return nil, err
	}
	return r.puts[0], nil
}

// together is now with the hunks of e, if both are of one text, and of different lines.
func together(now, e *entry) (*entry, bool) {
	if !hunk.Same(now.base, e.base) || now.modeID != "" && e.modeID != "" {
		return nil, false
	}
	next := *now
	next.hunks = slices.Concat(now.hunks, e.hunks)
	slices.SortFunc(next.hunks, func(a, b hunk.Hunk) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	for i, h := range next.hunks[1:] {
		if last := next.hunks[i]; h.Start < last.End() || h.Start == last.Start {
			return nil, false
		}
	}
	if e.modeID != "" {
		next.mode, next.modeID, next.modeBy = e.mode, e.modeID, e.modeBy
	}
	return &next, true
}

// pastRejection is a rejection as the history shows it.
func pastRejection(j rejection) Past {
	p := Past{ID: rejectionName(j), At: j.at, What: "reject", Undoable: true}
	for _, e := range j.entries {
		if p.Session == "" {
			p.Session, p.Tool = e.session, e.tool
		}
		f := PastFile{Path: shownName(e.name), Kind: e.kind()}
		if !e.isLink() {
			f.Added, f.Removed = changedLines(e.base, e.proposal(none))
		}
		p.Files = append(p.Files, f)
	}
	return p
}

// Decisions is History with the rejections that can be taken back, newest first.
func Decisions(s *Store) []Past {
	list := s.History("", 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejections = boundedRejections(&s.state, s.rejections)
	for _, j := range s.rejections {
		p := pastRejection(j)
		if _, back, failed := planRestore(&s.queue, j); len(back) == 0 && len(failed) > 0 {
			p.Undoable, p.Why = false, fmt.Sprintf("%s: %v", failed[0].Name, failed[0].Err)
		}
		list = append(list, p)
	}
	order := func(p Past) int64 {
		n, _ := strconv.ParseInt(p.ID[1:], 10, 64)
		return n
	}
	slices.SortStableFunc(list, func(a, b Past) int { return cmp.Compare(order(b), order(a)) })
	return list
}
