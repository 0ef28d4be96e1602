package main

import (
	"math/rand/v2"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
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

// TestBoost: trees find what no weight can say, that one feature counts only
// where another one is low, and they find it again in questions that they have not
// seen.
func TestBoost(t *testing.T) {
	const main, other = 3, 4
	random := rand.New(rand.NewPCG(5, 6))
	var lists []ordering
	for range 700 {
		var o ordering
		best, right := float32(-1), 0
		var made []vector
		for i := range 10 {
			v := vector{main: random.Float32(), other: random.Float32()}
			if made = append(made, v); v[other] < 0.5 && v[main] > best {
				best, right = v[main], i
			}
		}
		for i, v := range made {
			o.add(v, i == right)
		}
		lists = append(lists, o)
	}
	seen, unseen := lists[:500], lists[500:]
	weights := learn(seen)
	linear, trees := rank.Judge{Weights: weights}, rank.Judge{Weights: weights, Trees: boost(seen, weights, 30)}
	if a, b := firsts(unseen, &linear), firsts(unseen, &trees); a > 150 || b < 165 {
		t.Errorf("of %d, weights put %d right and trees %d", len(unseen), a, b)
	}
}

// firsts is how often what is right comes first.
func firsts(lists []ordering, judge *rank.Judge) int {
	n := 0
	for _, o := range lists {
		best := 0
		for i := range o.features {
			if judge.Of(&o.features[i]) > judge.Of(&o.features[best]) {
				best = i
			}
		}
		if o.gold[best] {
			n++
		}
	}
	return n
}
