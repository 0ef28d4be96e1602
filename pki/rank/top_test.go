package rank

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTop: the best are kept, and of those with the same score the ones whose
// paths, and places in them, come first, in whatever order they come.
func TestTop(t *testing.T) {
	paths := []string{"c", "a", "b"}
	all := []first{
		{Part: 0, ID: 0, words: 5}, {Part: 0, ID: 1, words: 1}, {Part: 2, ID: 0, words: 9}, {Part: 0, ID: 2, words: 7},
		{Part: 1, ID: 0, words: 7}, {Part: 0, ID: 3, words: 7}, {Part: 2, ID: 1, words: 7}, {Part: 1, ID: 2, words: 9},
	}
	want, chance := []Ref{{1, 2}, {2, 0}, {1, 0}, {2, 1}, {0, 2}}, rand.New(rand.NewPCG(1, 2))
	for range 100 {
		chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		top := newTop(len(want), func(at Ref) string { return paths[at.Part] })
		for _, c := range all {
			if top.wants(c.words) {
				top.add(c)
			}
		}
		var got []Ref
		for _, c := range top.sorted() {
			got = append(got, c.ref())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if none := newTop(0, nil); none.wants(1) {
		t.Error("none are wanted, and one is")
	}
}
