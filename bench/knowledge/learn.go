package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

type vector = [rank.Features]float32

// ordering is the candidates of one query.
type ordering struct {
	features []vector
	gold     []bool // which of them are right
}

// orderings returns the candidates of every query, units and files. Every
// fourth one is asked as in a project without commits.
func orderings(all []job, w rank.Weights) (units, files []ordering) {
	r := rank.New(w)
	units, files = make([]ordering, len(all)), make([]ordering, len(all))
	each(len(all), func(_, i int) {
		j := &all[i]
		record := j.records[j.record]
		project := rank.Project{Parts: []rank.Part{{Segment: j.seg}}, History: j.past()}
		if i%4 == 3 {
			project.History = nil
		}
		us, fs := r.Candidates(r.Read(j.text), project, rank.Filter{}, 0, 0)
		for _, c := range us {
			u := &j.seg.Units[c.ID]
			if u.Kind() == segment.FileKind {
				continue
			}
			found := retrieval.Found{File: j.seg.Files[u.File].Path, Qual: j.seg.Qualified(c.ID), Start: int(u.Start), End: int(u.End)}
			right := slices.ContainsFunc(record.Symbols, func(g retrieval.Gold) bool { return g.Right(found) })
			units[i].add(c.Features, right)
		}
		for _, c := range fs {
			files[i].add(c.Features, slices.Contains(record.Files, j.seg.Files[c.ID].Path))
		}
	})
	return units, files
}

func (o *ordering) add(features vector, right bool) {
	o.features, o.gold = append(o.features, features), append(o.gold, right)
}

// each calls f for every number below n, on all processors; worker tells them
// apart.
func each(n int, f func(worker, i int)) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			for i := k; i < n; i += workers {
				f(k, i)
			}
		})
	}
	wg.Wait()
}

// learn finds the weights of features that put what is right first. It takes
// every pair of something right and something wrong for a question about the
// sign of the difference of their scores, which matters as much as the places
// that they would swap (LambdaRank), and goes down the slope (Adam), a few
// queries at a time. The weights are the mean of those of the later half of the
// way, which does better than its end over what they have not seen.
func learn(lists []ordering) vector {
	const rounds, few, pace, small = 14, 96, 0.1, 0.0004
	var w, mean, momentum, spread [rank.Features]float64
	w[0] = 10
	random := rand.New(rand.NewPCG(1, 2)) // the same way every time
	steps, later := 0.0, 0.0
	for round := range rounds {
		order := random.Perm(len(lists))
		for some := range slices.Chunk(order, few) {
			slopes := make([][rank.Features]float64, runtime.GOMAXPROCS(0))
			each(len(some), func(worker, i int) { lists[some[i]].slope(&w, &slopes[worker]) })
			steps++
			rate := pace
			if round >= rounds/2 {
				rate, later = pace/3, later+1
			}
			for k := range w {
				g := -small * w[k]
				for _, s := range slopes {
					g += s[k] / float64(len(some))
				}
				momentum[k] = 0.9*momentum[k] + 0.1*g
				spread[k] = 0.99*spread[k] + 0.01*g*g
				m, v := momentum[k]/(1-math.Pow(0.9, steps)), spread[k]/(1-math.Pow(0.99, steps))
				w[k] += rate * m / (math.Sqrt(v) + 1e-6)
				if round >= rounds/2 {
					mean[k] += w[k]
				}
			}
		}
	}
	var out vector
	for k := range mean {
		out[k] = float32(mean[k] / max(later, 1))
	}
	return out
}

// slope adds what one query says about the weights.
func (o *ordering) slope(w, slope *[rank.Features]float64) {
	scores, pull := make([]float64, len(o.gold)), make([]float64, len(o.gold))
	for i := range o.features {
		for k, v := range o.features[i] {
			scores[i] += w[k] * float64(v)
		}
	}
	o.pairs(scores, func(right, wrong int, worth, lead float64) {
		by := worth / (1 + math.Exp(lead))
		pull[right] += by
		pull[wrong] -= by
	})
	for i, by := range pull {
		for f := range slope {
			slope[f] += by * float64(o.features[i][f])
		}
	}
}

// pairs calls f for each pair of a right and a wrong one, unless the right one
// leads by far, with what it is worth to swap their places, and the lead.
func (o *ordering) pairs(scores []float64, f func(right, wrong int, worth, lead float64)) {
	const far = 8
	right := 0
	order, place := make([]int, len(scores)), make([]int, len(scores))
	for i := range order {
		order[i] = i
		if o.gold[i] {
			right++
		}
	}
	if right == 0 {
		return
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for p, i := range order {
		place[i] = p + 1
	}
	for i := range scores {
		for k := range scores {
			if !o.gold[i] || o.gold[k] {
				continue
			}
			if lead := scores[i] - scores[k]; lead <= far {
				f(i, k, math.Abs(value(place[i])-value(place[k]))/float64(right), lead)
			}
		}
	}
}

// value is what it is worth to be right at a place, counted from one.
func value(place int) float64 {
	v := 1/float64(place) + 0.5/math.Log2(1+float64(place))
	if place <= 5 {
		v += 0.5
	}
	if place <= 10 {
		v += 0.1
	}
	return v
}
