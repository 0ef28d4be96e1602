package main

import (
	"math/rand/v2"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
)

// TestLearn: a feature that marks what is right gets weight, one that marks
// what is wrong gets less than none, and one that says nothing next to none.
func TestLearn(t *testing.T) {
	const good, bad, noise = 3, 4, 5
	random := rand.New(rand.NewPCG(1, 2))
	var lists []ordering
	for range 1500 {
		var o ordering
		right := random.IntN(10)
		for i := range 10 {
			v := vector{0: random.Float32(), noise: random.Float32()}
			if i == right {
				v[good] = 1
			} else if random.IntN(2) == 0 {
				v[bad] = 1
			}
			o.add(v, i == right)
		}
		lists = append(lists, o)
	}
	w := learn(lists)
	if w[good] < 3 || w[bad] > -1 || w[noise] > 0.5 || w[noise] < -0.5 {
		t.Errorf("the weights are %.2f for what is right, %.2f for what is wrong, %.2f for noise", w[good], w[bad], w[noise])
	}
	if w[9] != 0 {
		t.Errorf("a feature that is always zero has the weight %v", w[9])
	}
}

// TestThin: a repository with more queries than all others is cut, no other.
func TestThin(t *testing.T) {
	big, small := &state{records: []*retrieval.Record{{Repo: "big"}}}, &state{records: []*retrieval.Record{{Repo: "small"}}}
	all := make([]job, 0, 1100)
	for i := range 1100 {
		if i%11 == 0 {
			all = append(all, job{state: small})
		} else {
			all = append(all, job{state: big})
		}
	}
	skip, kept := thin(all), map[string]int{}
	for i := range all {
		if !skip(i) {
			kept[all[i].repo()]++
		}
	}
	if kept["big"] != 350 || kept["small"] != 100 {
		t.Errorf("kept %v", kept)
	}
}
