package rank

import "slices"

// top keeps the n best.
type top[T any] struct {
	n     int
	score func(*T) float32
	list  []T // a heap, the worst first
}

// wants reports whether a score would be kept.
func (t *top[T]) wants(score float32) bool {
	return t.n > 0 && (len(t.list) < t.n || score > t.score(&t.list[0]))
}

func (t *top[T]) add(v T) {
	if !t.wants(t.score(&v)) {
		return
	}
	if len(t.list) < t.n {
		t.list = append(t.list, v)
		for i := len(t.list) - 1; i > 0 && t.less(i, (i-1)/2); i = (i - 1) / 2 {
			t.list[i], t.list[(i-1)/2] = t.list[(i-1)/2], t.list[i]
		}
		return
	}
	t.list[0] = v
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.list) {
			return
		}
		if c+1 < len(t.list) && t.less(c+1, c) {
			c++
		}
		if !t.less(c, i) {
			return
		}
		t.list[i], t.list[c] = t.list[c], t.list[i]
		i = c
	}
}

func (t *top[T]) less(i, j int) bool { return t.score(&t.list[i]) < t.score(&t.list[j]) }

// sorted returns what was kept, best first.
func (t *top[T]) sorted() []T {
	slices.SortStableFunc(t.list, func(a, b T) int { return compare(t.score(&b), t.score(&a)) })
	return t.list
}
