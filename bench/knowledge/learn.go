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
// sign of the difference of their scores, weighed by what swapping
// them would change (LambdaRank), and follows the gradient (Adam) in small
// batches of queries. The weights are the mean of those of the later half of the
// steps, which does better than the last ones over what they have not seen.
func learn(lists []ordering) vector {
	const rounds, batchSize, learningRate, weightDecay = 14, 96, 0.1, 0.0004
	var w, mean, momentum, variance [rank.Features]float64
	w[0] = 10
	random := rand.New(rand.NewPCG(1, 2)) // the same way every time
	steps, later := 0.0, 0.0
	for round := range rounds {
		order := random.Perm(len(lists))
		for some := range slices.Chunk(order, batchSize) {
			gradients := make([][rank.Features]float64, runtime.GOMAXPROCS(0))
			each(len(some), func(worker, i int) { lists[some[i]].gradient(&w, &gradients[worker]) })
			steps++
			rate := learningRate
			if round >= rounds/2 {
				rate, later = learningRate/3, later+1
			}
			for k := range w {
				g := -weightDecay * w[k]
				for _, s := range gradients {
					g += s[k] / float64(len(some))
				}
				momentum[k] = 0.9*momentum[k] + 0.1*g
				variance[k] = 0.99*variance[k] + 0.01*g*g
				m, v := momentum[k]/(1-math.Pow(0.9, steps)), variance[k]/(1-math.Pow(0.99, steps))
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

// gradient adds the gradient of one query by the weights.
func (o *ordering) gradient(w, gradient *[rank.Features]float64) {
	scores, lambda := make([]float64, len(o.gold)), make([]float64, len(o.gold))
	for i := range o.features {
		for k, v := range o.features[i] {
			scores[i] += w[k] * float64(v)
		}
	}
	o.pairs(scores, func(right, wrong int, weight, lead float64) {
		by := weight / (1 + math.Exp(lead))
		lambda[right] += by
		lambda[wrong] -= by
	})
	for i, by := range lambda {
		for f := range gradient {
			gradient[f] += by * float64(o.features[i][f])
		}
	}
}

// pairs calls f for each pair of a right and a wrong one, unless the right one
// leads by far, with the weight of a swap of the two, and the lead.
func (o *ordering) pairs(scores []float64, f func(right, wrong int, weight, lead float64)) {
	const far = 8
	right := 0
	order, position := make([]int, len(scores)), make([]int, len(scores))
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
		position[i] = p + 1
	}
	for i := range scores {
		for k := range scores {
			if !o.gold[i] || o.gold[k] {
				continue
			}
			if lead := scores[i] - scores[k]; lead <= far {
				f(i, k, math.Abs(value(position[i])-value(position[k]))/float64(right), lead)
			}
		}
	}
}

// value is what a right answer at a position counts, from one.
func value(position int) float64 {
	v := 1/float64(position) + 0.5/math.Log2(1+float64(position))
	if position <= 5 {
		v += 0.5
	}
	if position <= 10 {
		v += 0.1
	}
	return v
}
