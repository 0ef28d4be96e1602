package rank

import (
	"math"
	"slices"
)

// Window is how many hits of the words are reordered by what they mean. Further
// down there is little to find, and every hit takes a vector.
const Window = 50

// Blended is a hit of the words, of the vectors, or of both.
type Blended struct {
	Hit
	Words, Vector bool
}

// Blend reorders hits, best first, by how close they are in meaning. The order
// of the words stands: the first Window hits move up or down by weight times
// their similarity, in standard deviations from the mean of those that have one.
// A weak model has small say that way, and a sure hit of the words stays first.
// near are the units whose vectors are closest, best first; those that the words
// did not find follow at the end. Without similarity the order of the words is
// all there is.
//
// The fusion of reciprocal ranks gives both orders the same say. With a weak
// model it cost 14 points of Hit@5.
func Blend(hits []Hit, similarity func(Ref) (float32, bool), near []Ref, weight float32) []Blended {
	out := make([]Blended, len(hits), len(hits)+len(near))
	for i, h := range hits {
		out[i] = Blended{Hit: h, Words: true}
	}
	if similarity != nil {
		reorder(out[:min(len(out), Window)], similarity, weight)
	}
	at := make(map[Ref]int, len(out))
	last := float32(1)
	for i, h := range out {
		at[h.Ref], last = i, h.Score
	}
	for i, r := range near {
		if k, ok := at[r]; ok {
			out[k].Vector = true
			continue
		}
		out = append(out, Blended{Hit: Hit{Ref: r, Score: last / float32(i+1)}, Vector: true})
	}
	return out
}

// reorder moves hits by their similarities.
func reorder(hits []Blended, similarity func(Ref) (float32, bool), weight float32) {
	with, known := make([]float64, len(hits)), make([]bool, len(hits))
	var n, sum, squares float64
	for i, h := range hits {
		s, ok := similarity(h.Ref)
		if !ok {
			continue // it stays at the mean
		}
		with[i], known[i] = float64(s), true
		n, sum, squares = n+1, sum+with[i], squares+with[i]*with[i]
	}
	if n < 2 {
		return
	}
	mean := sum / n
	deviation := math.Sqrt(max(0, squares/n-mean*mean))
	if deviation < 1e-6 {
		return // all the same: nothing to go by
	}
	for i := range hits {
		if known[i] {
			hits[i].Score *= odds(weight * float32((with[i]-mean)/deviation))
		}
	}
	slices.SortStableFunc(hits, func(a, b Blended) int { return compare(b.Score, a.Score) })
}
