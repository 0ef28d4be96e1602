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
	bins          = 64   // of a feature's histogram
	minLeafRows   = 300  // candidates on each side of a split
	l2Leaf        = 5    // L2 regularization of the leaves
	rowSample     = 0.6  // the share of the queries that a tree is grown from
	featureSample = 0.5  // and of the features
	learningRate  = 0.1  // shrinkage of a leaf
	minHessian    = 1e-6 // a candidate in no pair that matters
)

// trainer is what trees are grown from: every candidate of every list is a row.
type trainer struct {
	lists    []ordering
	starts   []int                    // the first row of each list, and the end of the last
	values   [rank.Features][]uint8   // the bin of each row
	cuts     [rank.Features][]float32 // what is no less than cuts[b] is in a bin above b
	scores   []float64                // so far
	gradient []float64                // of the loss by the score, see derivatives
	hessian  []float64                // its second derivative
	random   *rand.Rand
}

// boost grows trees one after the other, each from what those before it and the
// weights leave wrong (LambdaMART): the gradient of every candidate is that of
// the pairs that it is in, and a leaf is a Newton step. The trees are oblivious:
// all nodes of a level have the same split, so that a tree of few leaves overfits
// little.
func boost(lists []ordering, weights vector, trees int) []rank.Tree {
	f := binned(lists, weights)
	out := make([]rank.Tree, 0, trees)
	for range trees {
		each(len(f.lists), func(_, i int) {
			from, to := f.starts[i], f.starts[i+1]
			f.lists[i].derivatives(f.scores[from:to], f.gradient[from:to], f.hessian[from:to])
		})
		out = append(out, f.grow())
	}
	return out
}

// binned sorts the values of the features into bins.
func binned(lists []ordering, weights vector) *trainer {
	f := &trainer{lists: lists, starts: []int{0}, random: rand.New(rand.NewPCG(3, 4))} // the same way every time
	judge := rank.Judge{Weights: weights}
	for i := range lists {
		for k := range lists[i].features {
			f.scores = append(f.scores, float64(judge.Weigh(&lists[i].features[k])))
		}
		f.starts = append(f.starts, len(f.scores))
	}
	f.gradient, f.hessian = make([]float64, len(f.scores)), make([]float64, len(f.scores))
	each(rank.Features, func(_, feature int) {
		const maxSample = 50_000 // values looked at for the cuts
		all := make([]float32, 0, len(f.scores))
		for i := range lists {
			for k := range lists[i].features {
				all = append(all, lists[i].features[k][feature])
			}
		}
		var sample []float32
		for i := 0; i < len(all); i += len(all)/maxSample + 1 {
			sample = append(sample, all[i])
		}
		slices.Sort(sample)
		var cuts []float32
		for b := 1; b < bins && len(sample) > 0; b++ {
			if cut := sample[b*len(sample)/bins]; cut > sample[0] && (len(cuts) == 0 || cut > cuts[len(cuts)-1]) {
				cuts = append(cuts, cut)
			}
		}
		if n := len(sample); len(cuts) == 0 && n > 0 && sample[n-1] > sample[0] {
			cuts = append(cuts, sample[n-1]) // seldom anything else
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

// derivatives fills in the gradient and the hessian of each candidate by the
// pairs of right and wrong ones, see learn.
func (o *ordering) derivatives(scores, gradient, hessian []float64) {
	clear(gradient)
	clear(hessian)
	o.pairs(scores, func(right, wrong int, gain, lead float64) {
		doubt := 1 / (1 + math.Exp(lead))
		gradient[right] += gain * doubt
		gradient[wrong] -= gain * doubt
		hessian[right] += gain * doubt * (1 - doubt)
		hessian[wrong] += gain * doubt * (1 - doubt)
	})
}

// sum adds up rows.
type sum struct{ gradient, hessian, rows float64 }

func (s *sum) add(o sum) {
	s.gradient, s.hessian, s.rows = s.gradient+o.gradient, s.hessian+o.hessian, s.rows+o.rows
}

func (s sum) without(o sum) sum {
	return sum{s.gradient - o.gradient, s.hessian - o.hessian, s.rows - o.rows}
}

// gain is how much a leaf of such rows lowers the loss.
func (s sum) gain() float64 { return s.gradient * s.gradient / (s.hessian + l2Leaf) }

// split is what all nodes of a level compare.
type split struct {
	feature, bin int
	gain         float64
}

// grow grows one tree, and adds what it says to the scores.
func (f *trainer) grow() rank.Tree {
	rows := f.sample()
	leaf := make([]uint8, len(f.scores))
	var tree rank.Tree
	for level := range rank.Depth {
		sampled := make([]bool, rank.Features)
		for i := range sampled {
			sampled[i] = f.random.Float64() < featureSample
		}
		splits := make([]split, rank.Features)
		each(rank.Features, func(_, feature int) {
			if sampled[feature] {
				splits[feature] = f.bestSplit(feature, rows, leaf, 1<<level)
			}
		})
		best := slices.MaxFunc(splits, func(a, b split) int { return cmp.Compare(a.gain, b.gain) })
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
		tree.Leaves[i] = float32(learningRate * s.gradient / (s.hessian + l2Leaf))
	}
	for row, i := range leaf {
		f.scores[row] += float64(tree.Leaves[i])
	}
	return tree
}

func (f *trainer) at(row int32) sum { return sum{f.gradient[row], f.hessian[row], 1} }

// sample draws the queries of a tree and returns those of their rows that are
// in a pair that matters.
func (f *trainer) sample() []int32 {
	var rows []int32
	for i := range f.lists {
		if f.random.Float64() >= rowSample {
			continue
		}
		for row := f.starts[i]; row < f.starts[i+1]; row++ {
			if f.hessian[row] > minHessian {
				rows = append(rows, int32(row))
			}
		}
	}
	return rows
}

// bestSplit finds the best split of a feature for all leaves at once.
func (f *trainer) bestSplit(feature int, rows []int32, leaf []uint8, leaves int) split {
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
			if above := all.without(below); below.rows >= minLeafRows && above.rows >= minLeafRows {
				gains[bin] += below.gain() + above.gain() - all.gain()
			}
		}
	}
	best := split{feature: feature}
	for bin, gain := range gains {
		if gain > best.gain {
			best.bin, best.gain = bin, gain
		}
	}
	return best
}
