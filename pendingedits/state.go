package pendingedits

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// state is what the records of the log make true: replay takes each as one step. It
// knows neither files nor locks.
type state struct {
	limits UndoLimits // nil: 64 MB
	now    func() time.Time

	called     Names // of the view in the log
	entries    map[string]*entry
	away       map[string]*entry      // of files whose folders are not part of the view
	from       map[string]*entry      // renames by the old name
	resolved   map[string]*resolution // by name, of entries that were looked at
	names      []string               // those that the queue says something about, nil when they have to be listed
	undo       []undoItem             // the last is the newest
	lastItem   int64                  // the highest id of an undo item that was used
	commits    []*queued              // that wait, in order
	rejections []rejection            // that can be taken back; the last is the newest
	intent     *record                // what is being done to the base
	revision   int64
	nextID     int64
	former     map[formerly]string // the ids that hunks had
}

// clear forgets what is pending, but not which revisions and ids were used.
func (s *state) clear() {
	s.entries, s.from, s.resolved, s.away = map[string]*entry{}, map[string]*entry{}, map[string]*resolution{}, map[string]*entry{}
	s.undo, s.commits, s.intent, s.names, s.rejections = nil, nil, nil, nil, nil
}

// record is one step of the store, applied as a whole or not at all.
type record struct {
	revision, nextID int64
	puts             []*entry
	drops            []string
	undone           int        // how many of the newest undo items go, in logs from before they had ids
	gone             []int64    // ids of the undo items that go
	undo             []undoItem // and what is put there instead
	quiet            bool       // nothing that is pending changes; not in the log

	commits   []*queued // that begin to wait, or are others now
	unqueued  []string  // ids of those that will not be made
	committed []commitDone

	rejected   []rejection // that can be taken back
	unrejected []int64     // ids of those that can't any more

	// An intent is written before the base is changed. It holds if the changes
	// of its last undo item were made; a record that ends it says what was.
	intent, ends bool
}

// commitDone is a queued commit that was made.
type commitDone struct{ id, session, message, made string }

// replay makes r true in memory.
func (s *state) replay(r record) {
	s.revision, s.nextID = max(s.revision, r.revision), max(s.nextID, r.nextID)
	if r.intent {
		s.intent = &r
		return
	}
	if r.ends {
		s.intent = nil
	}
	for _, name := range r.drops {
		if e := s.entries[name]; e != nil {
			s.remember(e, nil)
		}
		s.drop(name)
	}
	for _, e := range r.puts {
		if old := s.entries[e.name]; old != nil {
			s.remember(old, e)
		}
		s.drop(e.name)
		if isAway(e.name) {
			s.away[e.name] = e
			continue
		}
		s.entries[e.name] = e
		if e.from != "" {
			s.from[e.from] = e
		}
	}
	if r.undone > 0 || len(r.gone)+len(r.undo) > 0 {
		s.replayUndo(r)
	}
	if len(r.rejected)+len(r.unrejected) > 0 {
		replayRejections(s, r)
	}
	s.replayCommits(r)
	s.names = nil
}

func (s *state) replayCommits(r record) {
	list := slices.Clone(s.commits)
	byID := func(id string) int { return slices.IndexFunc(list, func(q *queued) bool { return q.id == id }) }
	for _, q := range r.commits {
		if i := byID(q.id); i >= 0 {
			list[i] = q
		} else {
			list = append(list, q)
		}
	}
	gone := slices.Clone(r.unqueued)
	for _, c := range r.committed {
		gone = append(gone, c.id)
		i := byID(c.id)
		if i < 0 || !list[i].loose {
			s.noteCommit(c)
		} else {
			nameMade(list, list[i], c.made)
		}
	}
	s.commits = slices.DeleteFunc(list, func(q *queued) bool { return slices.Contains(gone, q.id) })
}

// size is about how many bytes a new log would have.
func (s *state) size() int64 {
	n := int64(0)
	for _, list := range []map[string]*entry{s.entries, s.away} {
		for _, e := range list {
			n += e.size()
		}
	}
	for _, u := range s.undo {
		n += u.size()
	}
	for _, q := range s.commits {
		n += q.size()
	}
	for _, j := range s.rejections {
		n += sizeOfRejection(j)
	}
	return n
}

// records are what is true, as records that make it so.
func (s *state) records() []record {
	var out []record
	add := func(r record) {
		r.revision, r.nextID = s.revision, s.nextID
		out = append(out, r)
	}
	for _, list := range []map[string]*entry{s.entries, s.away} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			add(record{puts: []*entry{list[name]}})
		}
	}
	for _, u := range s.undo {
		add(record{undo: []undoItem{u}})
	}
	for _, q := range s.commits {
		add(record{commits: []*queued{q}})
	}
	for _, j := range s.rejections {
		add(record{rejected: []rejection{j}})
	}
	if s.intent != nil {
		out = append(out, *s.intent)
	}
	if out == nil {
		add(record{})
	}
	return out
}

func (s *state) drop(name string) {
	if e := s.entries[name]; e != nil && s.from[e.from] == e {
		delete(s.from, e.from)
	}
	delete(s.entries, name)
	delete(s.away, name)
	delete(s.resolved, name)
}

// newID returns an id that no hunk had.
func (s *state) newID() string {
	s.nextID++
	return fmt.Sprintf("h%d", s.nextID)
}

// newCommitID returns an id that no commit had.
func (s *state) newCommitID() string {
	s.nextID++
	return fmt.Sprintf("c%d", s.nextID)
}

func (s *state) sorted() []*entry {
	list := make([]*entry, 0, len(s.entries))
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		list = append(list, s.entries[name])
	}
	return list
}

// intentEnd is the record of an intent, whose undo item is item, of which these changes
// were made.
func (s *state) intentEnd(item undoItem, made []decided) record {
	r := record{ends: true}
	names := map[string]bool{}
	for _, d := range made {
		names[d.Path], names[d.From] = true, true
	}
	if len(made) > 0 {
		item.changes = made
		r.undone, r.gone = s.intent.undone, s.intent.gone
		r.undo = append(slices.Clone(s.intent.undo[:len(s.intent.undo)-1]), item)
		if !item.applied {
			r.commits = s.landed(item.of(), made, item.undone)
		}
	}
	// What an agent proposed meanwhile stands.
	current := func(name string) bool {
		e := s.entries[name]
		return names[name] && (e == nil || e.revision < s.intent.revision)
	}
	for _, e := range s.intent.puts {
		if current(e.name) {
			r.puts = append(r.puts, e)
		}
	}
	for _, name := range s.intent.drops {
		if current(name) {
			r.drops = append(r.drops, name)
		}
	}
	return r
}

// remember notes the hunks of e that now, if there is one, has not. Files with
// very many are left out: nobody knows those by their ids.
func (s *state) remember(e, now *entry) {
	if len(e.hunks) > maxOfFile {
		return
	}
	if len(s.former)+len(e.hunks) > maxGone || s.former == nil {
		s.former = map[formerly]string{}
	}
	for i, h := range e.hunks {
		if now == nil || !slices.ContainsFunc(now.hunks, func(n hunk.Hunk) bool { return n.ID == h.ID }) {
			s.former[e.formerlyOf(i)] = h.ID
		}
	}
}

// idFor is the id of the hunk i of e: the one that it had, unless it is taken,
// or a new one. What is planned may be planned again, so it is not used up.
func (s *state) idFor(e *entry, i int, taken map[string]bool) string {
	if len(s.former) > 0 {
		id, ok := s.former[e.formerlyOf(i)]
		if now := s.entries[e.name]; ok && !taken[id] && (now == nil || !slices.ContainsFunc(now.hunks, func(h hunk.Hunk) bool { return h.ID == id })) {
			taken[id] = true
			return id
		}
	}
	return s.newID()
}

// number gives r's undo items what they lack to be told apart. It is the same
// whenever a log from before there were numbers is read.
func (s *state) number(r *record) {
	for i := range r.undo {
		u := &r.undo[i]
		if u.id == 0 {
			u.id = max(s.lastItem+1, r.revision)
		}
		if u.turn == 0 {
			u.turn = r.revision
		}
		s.lastItem = max(s.lastItem, u.id)
	}
}

// replayUndo makes true what r says about what can be undone.
func (s *state) replayUndo(r record) {
	s.number(&r)
	list := slices.DeleteFunc(slices.Clone(s.undo[:max(0, len(s.undo)-r.undone)]), func(u undoItem) bool { return slices.Contains(r.gone, u.id) })
	list = append(list, r.undo...)
	slices.SortStableFunc(list, func(a, b undoItem) int { return cmp.Compare(a.id, b.id) })
	s.undo = s.bounded(list)
}

// noteCommit notes with the accept of a batch that a commit of it was made.
func (s *state) noteCommit(c commitDone) {
	for i := len(s.undo) - 1; i >= 0; i-- {
		if u := s.undo[i]; u.batch && !u.undone && len(u.changes) > 0 && u.changes[0].session == c.session {
			s.undo[i].commits = append(slices.Clone(u.commits), c)
			return
		}
	}
}

// bounded returns the newest items that fit and are not too old.
func (s *state) bounded(items []undoItem) []undoItem {
	bytes, age := undoLimits(s.limits)
	size := int64(0)
	for i := len(items) - 1; i >= 0; i-- {
		one := items[i].size()
		size += one
		old := age > 0 && !items[i].at.IsZero() && s.now().Sub(items[i].at) > age
		if old || one > bytes/4 || size > bytes || len(items)-i > undoItems {
			return slices.Clone(items[i+1:])
		}
	}
	return items
}

// moving reports whether a name is the old or the new one of a pending rename, nil if
// there is none: that spares the look at the disk.
func (s *state) moving() func(name string) bool {
	if len(s.from) == 0 {
		return nil
	}
	return s.moves
}

func (s *state) moves(name string) bool {
	e := s.entries[name]
	return e != nil && s.from[e.from] == e || s.from[name] != nil
}

// queued are the names that the queue says something about, sorted.
func (s *state) queued() []string {
	if s.names == nil {
		names := slices.Collect(maps.Keys(s.entries))
		for name := range s.from {
			if s.entries[name] == nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		s.names = names
	}
	return s.names
}

// tied returns the names, and those that pending renames tie to them.
func (s *state) tied(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, name)
		for _, e := range []*entry{s.entries[name], s.from[name]} {
			if e != nil {
				all = append(all, e.name, e.from)
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

// owningEntries returns the entries by the ids of their hunks, if there is an
// id to look for.
func (s *state) owningEntries(wanted int) map[string]*entry {
	if wanted == 0 {
		return nil
	}
	of := map[string]*entry{}
	for _, e := range s.entries {
		for _, h := range e.parts() {
			of[h.ID] = e
		}
	}
	return of
}

// chosenCommits returns the commits that sel chooses: it names no single edit.
func (s *state) chosenCommits(sel Selection) []*queued {
	if len(sel.Names)+len(sel.Hunks) > 0 {
		return nil
	}
	var out []*queued
	for _, q := range s.commits {
		if sel.Session == "" || q.session == sel.Session {
			out = append(out, q)
		}
	}
	return out
}

// Bounds of what is remembered of hunks that are gone.
const (
	maxGone   = 2000
	maxOfFile = 200
)

// formerly is what a hunk was, so that one that comes back, as by an undo, has the
// id that it had: who looks at a list knows it by that.
type formerly [sha256.Size]byte

// formerlyOf is the hunk i of e.
func (e *entry) formerlyOf(i int) formerly {
	what := "hunk\x00" + hunk.Content(e.hunks[i])
	if e.whole {
		what = strings.Join([]string{"whole", e.from, string(e.base), string(e.after)}, "\x00")
	}
	return sha256.Sum256([]byte(e.name + "\x00" + what))
}
