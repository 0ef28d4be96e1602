package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// How trees are grown.
const (
	bins     = 64   // what the values of a feature are told apart as
	leastRow = 300  // candidates on each side of a cut
	smooth   = 5    // what a leaf has to have against it before it says much
	ofQuery  = 0.6  // the share of the queries that a tree is grown from
	ofTraits = 0.5  // and of the features
	rate     = 0.1  // of what would be best, a leaf says so much
	settled  = 1e-6 // a candidate in no pair that matters
)

// forest is what trees are grown from: every candidate of every list is a row.
type forest struct {
	lists  []ordering
	starts []int                    // the first row of each list, and the end of the last
	values [rank.Features][]uint8   // the bin of each row
	cuts   [rank.Features][]float32 // what is no less than cuts[b] is in a bin above b
	scores []float64                // so far
	pull   []float64                // up or down, see pulls
	stiff  []float64                // how much less that gets as the score moves
	random *rand.Rand
}

// boost grows trees one after the other, each from what those before it and the
// weights leave wrong (LambdaMART): the pull on every candidate of the pairs
// that it is in, which a leaf follows by a Newton step. All branches of one
// level ask the same, so that a tree of few leaves has little to learn by heart.
func boost(lists []ordering, weights vector, trees int) []rank.Tree {
	f := plant(lists, weights)
	out := make([]rank.Tree, 0, trees)
	for range trees {
		each(len(f.lists), func(_, i int) {
			from, to := f.starts[i], f.starts[i+1]
			f.lists[i].pulls(f.scores[from:to], f.pull[from:to], f.stiff[from:to])
		})
		out = append(out, f.grow())
	}
	return out
}

// plant sorts the values of the features into bins.
func plant(lists []ordering, weights vector) *forest {
	f := &forest{lists: lists, starts: []int{0}, random: rand.New(rand.NewPCG(3, 4))} // the same way every time
	judge := rank.Judge{Weights: weights}
	for i := range lists {
		for k := range lists[i].features {
			f.scores = append(f.scores, float64(judge.Weigh(&lists[i].features[k])))
		}
		f.starts = append(f.starts, len(f.scores))
	}
	f.pull, f.stiff = make([]float64, len(f.scores)), make([]float64, len(f.scores))
	each(rank.Features, func(_, feature int) {
		const most = 50_000 // values looked at for the cuts
		all := make([]float32, 0, len(f.scores))
		for i := range lists {
			for k := range lists[i].features {
				all = append(all, lists[i].features[k][feature])
			}
		}
		var some []float32
		for i := 0; i < len(all); i += len(all)/most + 1 {
			some = append(some, all[i])
		}
		slices.Sort(some)
		var cuts []float32
		for b := 1; b < bins && len(some) > 0; b++ {
			if cut := some[b*len(some)/bins]; cut > some[0] && (len(cuts) == 0 || cut > cuts[len(cuts)-1]) {
				cuts = append(cuts, cut)
			}
		}
		if n := len(some); len(cuts) == 0 && n > 0 && some[n-1] > some[0] {
			cuts = append(cuts, some[n-1]) // seldom anything else
		}
		f.cuts[feature], f.values[feature] = cuts, make([]uint8, len(all))
		for i, v := range all {
			above, found := slices.BinarySearch(cuts, v)
			if found {
				above++
			}
			f.values[feature][i] = uint8(above)
		}
	})
	return f
}

// pulls fills in how much the candidates want to be higher or lower by the
// pairs of right and wrong ones, see learn, and how stiff that is.
func (o *ordering) pulls(scores, pull, stiff []float64) {
	clear(pull)
	clear(stiff)
	o.pairs(scores, func(right, wrong int, worth, lead float64) {
		doubt := 1 / (1 + math.Exp(lead))
		pull[right] += worth * doubt
		pull[wrong] -= worth * doubt
		stiff[right] += worth * doubt * (1 - doubt)
		stiff[wrong] += worth * doubt * (1 - doubt)
	})
}

// sum is what rows have together.
type sum struct{ pull, stiff, rows float64 }

func (s *sum) add(o sum) { s.pull, s.stiff, s.rows = s.pull+o.pull, s.stiff+o.stiff, s.rows+o.rows }

func (s sum) without(o sum) sum { return sum{s.pull - o.pull, s.stiff - o.stiff, s.rows - o.rows} }

// worth is how much a leaf of such rows makes better.
func (s sum) worth() float64 { return s.pull * s.pull / (s.stiff + smooth) }

// question is what all branches of a level ask.
type question struct {
	feature, bin int
	gain         float64
}

// grow grows one tree, and adds what it says to the scores.
func (f *forest) grow() rank.Tree {
	rows := f.some()
	leaf := make([]uint8, len(f.scores))
	var tree rank.Tree
	for level := range rank.Depth {
		traits := make([]bool, rank.Features)
		for i := range traits {
			traits[i] = f.random.Float64() < ofTraits
		}
		asked := make([]question, rank.Features)
		each(rank.Features, func(_, feature int) {
			if traits[feature] {
				asked[feature] = f.ask(feature, rows, leaf, 1<<level)
			}
		})
		best := slices.MaxFunc(asked, func(a, b question) int { return cmp.Compare(a.gain, b.gain) })
		if best.gain <= 0 {
			tree.Cuts[level] = float32(math.Inf(1)) // nothing helps: the bit stays unset
			continue
		}
		tree.Features[level], tree.Cuts[level] = uint8(best.feature), f.cuts[best.feature][best.bin]
		for row, bin := range f.values[best.feature] {
			if int(bin) > best.bin {
				leaf[row] |= 1 << level
			}
		}
	}
	var sums [1 << rank.Depth]sum
	for _, row := range rows {
		sums[leaf[row]].add(f.at(row))
	}
	for i, s := range sums {
		tree.Leaves[i] = float32(rate * s.pull / (s.stiff + smooth))
	}
	for row, i := range leaf {
		f.scores[row] += float64(tree.Leaves[i])
	}
	return tree
}

func (f *forest) at(row int32) sum { return sum{f.pull[row], f.stiff[row], 1} }

// some draws the queries of a tree and returns those of their rows that say
// anything.
func (f *forest) some() []int32 {
	var rows []int32
	for i := range f.lists {
		if f.random.Float64() >= ofQuery {
			continue
		}
		for row := f.starts[i]; row < f.starts[i+1]; row++ {
			if f.stiff[row] > settled {
				rows = append(rows, int32(row))
			}
		}
	}
	return rows
}

// ask finds the best cut of a feature for all leaves at once.
func (f *forest) ask(feature int, rows []int32, leaf []uint8, leaves int) question {
	var table [1 << (rank.Depth - 1)][bins]sum
	for _, row := range rows {
		table[leaf[row]][f.values[feature][row]].add(f.at(row))
	}
	gains := make([]float64, len(f.cuts[feature]))
	for i := range leaves {
		var all, below sum
		for _, s := range table[i] {
			all.add(s)
		}
		for bin := range gains {
			below.add(table[i][bin])
			if above := all.without(below); below.rows >= leastRow && above.rows >= leastRow {
				gains[bin] += below.worth() + above.worth() - all.worth()
			}
		}
	}
	best := question{feature: feature}
	for bin, gain := range gains {
		if gain > best.gain {
			best.bin, best.gain = bin, gain
		}
	}
	return best
}
