package pendingedits

import (
	"crypto/sha256"
	"slices"
	"strings"
)

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
	what := "hunk\x00" + content(e.hunks[i])
	if e.whole {
		what = strings.Join([]string{"whole", e.from, string(e.base), string(e.after)}, "\x00")
	}
	return sha256.Sum256([]byte(e.name + "\x00" + what))
}

// remember notes the hunks of e that now, if there is one, has not. Files with
// very many are left out: nobody knows those by their ids.
func (s *Store) remember(e, now *entry) {
	if len(e.hunks) > maxOfFile {
		return
	}
	if len(s.former)+len(e.hunks) > maxGone || s.former == nil {
		s.former = map[formerly]string{}
	}
	for i, h := range e.hunks {
		if now == nil || !slices.ContainsFunc(now.hunks, func(n hunk) bool { return n.id == h.id }) {
			s.former[e.formerlyOf(i)] = h.id
		}
	}
}

// idFor is the id of the hunk i of e: the one that it had, unless it is taken,
// or a new one. What is planned may be planned again, so it is not used up.
func (s *Store) idFor(e *entry, i int, taken map[string]bool) string {
	if len(s.former) > 0 {
		id, ok := s.former[e.formerlyOf(i)]
		if now := s.entries[e.name]; ok && !taken[id] && (now == nil || !slices.ContainsFunc(now.hunks, func(h hunk) bool { return h.id == id })) {
			taken[id] = true
			return id
		}
	}
	return s.newID()
}
