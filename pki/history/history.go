// Package history is what the commits of a project say about its files: which
// of them change often and lately, and what was said about their changes. Of
// what they say only the terms are kept.
package history

import (
	"math"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

const (
	// MaxFiles is how many files a commit may change: what changes more, a new
	// licence or a move of the whole tree, says nothing about one of them.
	MaxFiles = 30
	// MaxCommits is how many commits, the newest, are worth reading.
	MaxCommits = 10000
	// maxMessage bounds what is read of a message, in bytes.
	maxMessage = 1500
)

// Commit is one commit.
type Commit struct {
	Time  int64 // seconds since 1970
	Words []terms.ID
	Files []string
	Units [][]Name // that it changed, of each of the files; nil: that was not read
}

// New makes a commit of what is read of one. stops are the words that say
// nothing.
func New(time int64, message string, files []string, stops terms.StopWords) Commit {
	c := Commit{Time: time, Files: files}
	message = strings.ToValidUTF8(message[:min(len(message), maxMessage)], " ")
	for word := range strings.FieldsFuncSeq(message, func(r rune) bool { return r >= 0x80 || terms.Classes[r] == terms.Other }) {
		if len(word) > terms.MaxIdent || stops[strings.ToLower(word)] {
			continue
		}
		c.Words, _ = terms.Of(word, c.Words)
	}
	slices.Sort(c.Words)
	c.Words = slices.Clip(slices.Compact(c.Words))
	return c
}

// Changes is how a file or a unit changed. Lately and Years count as the ages of
// the changes are beside a third of a year and two years, the youngest commit
// being the present; Last is how many days before that the last one was.
type Changes struct{ All, Lately, Years, Last float32 }

// History is safe for concurrent use. nil is one of a project without commits.
type History struct {
	files   map[string]uint32
	things  map[thing]uint32
	changes []Changes // of each thing
	by      []uint32  // the commits that changed it, one thing's after the other's
	until   []uint32  // where its commits end
	commits []entry
	posts   map[terms.ID][]uint32
}

// thing is a file or, with a name, a unit in it.
type thing struct {
	file uint32
	unit Name
}

// entry is a commit as far as it is compared with questions: how many words it
// has, and files.
type entry struct{ words, files float32 }

// Of makes the history that commits are, in any order.
func Of(commits []Commit) *History {
	h := &History{files: map[string]uint32{}, things: map[thing]uint32{}, posts: map[terms.ID][]uint32{}}
	var steps []step
	now := int64(math.MinInt64)
	for i := range commits {
		now = max(now, commits[i].Time)
	}
	for i := range commits {
		c := &commits[i]
		if len(c.Files) > MaxFiles {
			continue
		}
		const day = 24 * 60 * 60
		age := float64(now-c.Time) / day
		for k, name := range c.Files {
			file, known := h.files[name]
			if !known {
				file = uint32(len(h.files))
				h.files[name] = file
			}
			steps = append(steps, h.change(thing{file: file}, age))
			if k < len(c.Units) {
				for _, unit := range c.Units[k] {
					steps = append(steps, h.change(thing{file, unit}, age))
				}
			}
		}
		for _, w := range c.Words {
			h.posts[w] = append(h.posts[w], uint32(len(h.commits)))
		}
		h.commits = append(h.commits, entry{float32(len(c.Words)), float32(len(c.Files))})
	}
	h.sort(steps)
	return h
}

// step is that a commit changed something.
type step struct{ thing, commit uint32 }

// sort sorts steps by what changed.
func (h *History) sort(steps []step) {
	h.by, h.until = make([]uint32, len(steps)), make([]uint32, len(h.changes))
	at := uint32(0)
	for id := range h.changes { // first where its commits begin; each step moves it on
		h.until[id] = at
		at += uint32(h.changes[id].All)
	}
	for _, s := range steps {
		h.by[h.until[s.thing]] = s.commit
		h.until[s.thing]++
	}
}

// commitsOf are those that changed something.
func (h *History) commitsOf(id uint32) []uint32 {
	n := uint32(h.changes[id].All)
	return h.by[h.until[id]-n : h.until[id]]
}

// change notes that the next commit changes something. age is in days.
func (h *History) change(t thing, age float64) step {
	id, known := h.things[t]
	if !known {
		id = uint32(len(h.changes))
		h.things[t], h.changes = id, append(h.changes, Changes{Last: float32(age)})
	}
	c := &h.changes[id]
	c.All, c.Lately, c.Years = c.All+1, c.Lately+float32(math.Exp(-age/120)), c.Years+float32(math.Exp(-age/730))
	c.Last = min(c.Last, float32(age))
	return step{id, uint32(len(h.commits))}
}

// find returns a file, or with a name a unit of it.
func (h *History) find(file string, unit Name) (id uint32, known bool) {
	if h == nil {
		return 0, false
	}
	f, known := h.files[file]
	if !known {
		return 0, false
	}
	id, known = h.things[thing{f, unit}]
	return id, known
}

// Changes returns how a file changed, or with a name how a unit of it did. What
// never changed has none.
func (h *History) Changes(file string, unit Name) (c Changes, known bool) {
	id, known := h.find(file, unit)
	if known {
		c = h.changes[id]
	}
	return c, known
}
