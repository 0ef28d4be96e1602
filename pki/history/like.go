package history

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// Word is a word of a question.
type Word struct {
	ID     terms.ID
	Weight float32
}

// maxTold is how many words of a question, the weightiest that any commit says,
// are looked for in what was said about one thing.
const maxTold = 64

// Likeness is how much commits are like a question. nil says that none is.
type Likeness struct {
	h      *History
	scores []float32 // of each commit, beside the best
	counts []float32 // the same, of the few that count as what was changed for such a reason; 0 for all others
	all    float32   // of counts
	says   []uint64  // which of the words each commit has
	words  []float32 // what they weigh
	told   float32   // all of them
}

// Like finds the commits that say what a question says. A rare word counts for
// more, and a commit of few words.
func (h *History) Like(words []Word) *Likeness {
	if h == nil || len(h.commits) == 0 {
		return nil
	}
	const length = 30 // of a message, in words
	l := &Likeness{h: h, scores: make([]float32, len(h.commits)), says: make([]uint64, len(h.commits))}
	words = slices.Clone(words)
	for i := range words {
		words[i].Weight *= float32(math.Log1p(float64(len(h.commits)) / (float64(len(h.posts[words[i].ID])) + 0.5)))
	}
	slices.SortStableFunc(words, func(a, b Word) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, w := range words {
		l.told += w.Weight
		posts, bit := h.posts[w.ID], uint64(0)
		if n := len(l.words); n < maxTold && len(posts) > 0 {
			l.words, bit = append(l.words, w.Weight), 1<<n
		}
		for _, c := range posts {
			l.scores[c] += w.Weight
			l.says[c] |= bit
		}
	}
	best := float32(0)
	for c := range l.scores {
		l.scores[c] /= 0.3 + 0.7*h.commits[c].words/length
		best = max(best, l.scores[c])
	}
	if best == 0 {
		return nil
	}
	for c := range l.scores {
		l.scores[c] /= best
	}
	l.count()
	return l
}

// count finds the commits that count.
func (l *Likeness) count() {
	const (
		most  = 150
		least = 0.2 // of the best one's score
	)
	var list []uint32
	for c, score := range l.scores {
		if score > least {
			list = append(list, uint32(c))
		}
	}
	slices.SortFunc(list, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(l.scores[b], l.scores[a]), cmp.Compare(a, b))
	})
	l.counts = make([]float32, len(l.scores))
	for _, c := range list[:min(len(list), most)] {
		l.counts[c] = l.scores[c] * l.scores[c] / (1 + float32(math.Log1p(float64(l.h.commits[c].files))))
		l.all += l.counts[c]
	}
}

// Told is what the commits that changed a file or unit say of a question.
type Told struct {
	Share float32 // of the commits that are most like it, from 0 to 1
	Best  float32 // how much the likest one is, beside the likest of all
	Words float32 // of the question's words, weighed by how rare they are and by how often they were said
}

// Of returns what was told of a file or, with a name, of a unit in it.
func (l *Likeness) Of(file string, unit Name) (t Told) {
	if l == nil {
		return t
	}
	id, known := l.h.find(file, unit)
	if !known {
		return t
	}
	const (
		enough = 0.5 // a word that was said as often counts for half
		often  = 0.1 // of what changed once more, as much more is needed
	)
	commits := l.h.commitsOf(id)
	var said [maxTold]float32
	for _, c := range commits {
		t.Share += l.counts[c]
		t.Best = max(t.Best, l.scores[c])
		for set := l.says[c]; set != 0; set &= set - 1 {
			said[bits.TrailingZeros64(set)]++
		}
	}
	for i, weight := range l.words {
		t.Words += weight * said[i] / (said[i] + enough + often*float32(len(commits)))
	}
	if l.all > 0 {
		t.Share /= l.all
	}
	t.Words /= l.told
	return t
}
