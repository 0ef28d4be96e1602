// Package history is what the commits of a project say about its files: which
// of them change often and lately, and what was said about their changes. Of
// what they say only the terms are kept.
package history

import (
	"cmp"
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

// Changes is how a file changed. Lately and Years count as the ages of the
// changes are beside a third of a year and two years, the youngest commit being
// the present.
type Changes struct{ All, Lately, Years float32 }

// History is safe for concurrent use. nil is one of a project without commits.
type History struct {
	files   map[string]uint32
	changes []Changes
	commits []entry
	posts   map[terms.ID][]uint32
}

// entry is a commit as far as it is compared with questions.
type entry struct {
	files []uint32
	words float32 // how many
}

// Of makes the history that commits are, in any order.
func Of(commits []Commit) *History {
	h := &History{files: map[string]uint32{}, posts: map[terms.ID][]uint32{}}
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
		lately, years := float32(math.Exp(-age/120)), float32(math.Exp(-age/730))
		e := entry{make([]uint32, len(c.Files)), float32(len(c.Words))}
		for k, name := range c.Files {
			id, known := h.files[name]
			if !known {
				id = uint32(len(h.files))
				h.files[name], h.changes = id, append(h.changes, Changes{})
			}
			e.files[k] = id
			f := &h.changes[id]
			f.All, f.Lately, f.Years = f.All+1, f.Lately+lately, f.Years+years
		}
		for _, w := range c.Words {
			h.posts[w] = append(h.posts[w], uint32(len(h.commits)))
		}
		h.commits = append(h.commits, e)
	}
	return h
}

// Changes returns how a file changed.
func (h *History) Changes(file string) Changes {
	if h == nil {
		return Changes{}
	}
	if id, ok := h.files[file]; ok {
		return h.changes[id]
	}
	return Changes{}
}

// Word is a word of a question.
type Word struct {
	ID     terms.ID
	Weight float32
}

// Likeness is what the commits that are most like a question changed.
type Likeness struct {
	h     *History
	files map[uint32]float32 // from 0 to 1
}

// Of returns how much the file is one of those, from 0 to 1.
func (l Likeness) Of(file string) float32 {
	if l.h == nil {
		return 0
	}
	if id, ok := l.h.files[file]; ok {
		return l.files[id]
	}
	return 0
}

// Like finds the commits that say what a question says. A rare word counts for
// more, and a commit of few words.
func (h *History) Like(words []Word) Likeness {
	if h == nil || len(h.commits) == 0 {
		return Likeness{}
	}
	const (
		most   = 150 // commits that count
		least  = 0.2 // of the best one's score
		length = 30  // of a message, in words
	)
	scores := make([]float32, len(h.commits))
	for _, w := range words {
		posts := h.posts[w.ID]
		weight := w.Weight * float32(math.Log1p(float64(len(h.commits))/(float64(len(posts))+0.5)))
		for _, c := range posts {
			scores[c] += weight
		}
	}
	type scored struct {
		commit uint32
		score  float32
	}
	best := float32(0)
	for i := range scores {
		if scores[i] > 0 {
			scores[i] /= 0.3 + 0.7*h.commits[i].words/length
			best = max(best, scores[i])
		}
	}
	var list []scored
	for i, s := range scores {
		if s > least*best {
			list = append(list, scored{uint32(i), s})
		}
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.commit, b.commit))
	})
	l := Likeness{h, map[uint32]float32{}}
	top := float32(0)
	for _, s := range list[:min(len(list), most)] {
		files := h.commits[s.commit].files
		by := s.score * s.score / float32(1+math.Log1p(float64(len(files))))
		for _, f := range files {
			l.files[f] += by
			top = max(top, l.files[f])
		}
	}
	for f := range l.files {
		l.files[f] /= top
	}
	return l
}
