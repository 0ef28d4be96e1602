package rank

import (
	"cmp"
	"math"
	"slices"
)

// top keeps the n best. Of two with the same score the one that comes first by
// its path and its place there is the better one, so that it does not matter in
// which order they come.
type top struct {
	n    int
	path func(Ref) string
	bar  float32 // what is below is not kept: the score of the worst once there are n, or of others' worst
	list []first // a heap, the worst first
}

func newTop(n int, path func(Ref) string) top {
	return top{n: n, path: path, bar: float32(math.Inf(-1))}
}

// wants reports whether something of that score may be kept.
func (t *top) wants(score float32) bool { return score >= t.bar && t.n > 0 }

func (t *top) add(v first) {
	switch {
	case !t.wants(v.words):
		return
	case len(t.list) < t.n:
		t.list = append(t.list, v)
		for i := len(t.list) - 1; i > 0 && t.worse(i, (i-1)/2); i = (i - 1) / 2 {
			t.list[i], t.list[(i-1)/2] = t.list[(i-1)/2], t.list[i]
		}
	case t.compare(&v, &t.list[0]) < 0:
		t.list[0] = v
		t.sink()
	}
	if len(t.list) == t.n {
		t.bar = max(t.bar, t.list[0].words)
	}
}

// addAll adds what another one has kept.
func (t *top) addAll(other *top) {
	for _, v := range other.list {
		t.add(v)
	}
}

// sink brings what is first in the heap to its place.
func (t *top) sink() {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.list) {
			return
		}
		if c+1 < len(t.list) && t.worse(c+1, c) {
			c++
		}
		if !t.worse(c, i) {
			return
		}
		t.list[i], t.list[c] = t.list[c], t.list[i]
		i = c
	}
}

func (t *top) worse(i, j int) bool { return t.compare(&t.list[i], &t.list[j]) > 0 }

// compare orders by score, path and place, the better one first.
func (t *top) compare(a, b *first) int {
	if a.words != b.words {
		return compare(b.words, a.words)
	}
	return cmp.Or(cmp.Compare(t.path(a.ref()), t.path(b.ref())), cmp.Compare(a.ID, b.ID))
}

// sorted returns what was kept, best first.
func (t *top) sorted() []first {
	slices.SortFunc(t.list, func(a, b first) int { return t.compare(&a, &b) })
	return t.list
}
