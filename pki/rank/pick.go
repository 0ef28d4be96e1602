package rank

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// share is what one processor does of a question: some of the parts.
type share struct {
	r    *Ranker
	q    *Question
	f    Filter
	sums *sums

	units, files top // the best so far
}

// part looks at a part, in which the question names some units.
func (s *share) part(n uint32, p Part, list []weighed, named []gain) {
	units, files := s.sums.of(p)
	some := len(named) > 0
	for i := range list {
		if places := list[i].places[n]; places.Units > 0 {
			s.r.add(s.sums, p, places, &list[i])
			some = true
		}
	}
	if !some {
		return
	}
	for _, g := range named {
		units[g.unit] += g.gain
		files[p.Forms[g.unit].File()].most += g.gain * s.r.table.kind
	}
	for file := range files {
		if files[file].most > 0 {
			s.pick(Ref{n, uint32(file)}, p, &files[file], named)
		}
	}
	clear(units)
	clear(files)
}

// pick keeps a file and its units as far as they are among the best.
func (s *share) pick(at Ref, p Part, sum *fileSum, named []gain) {
	w, table := &s.r.w, s.r.table
	// Most are far from the best, whatever else there is to know of them.
	own := sum.score
	if len(s.q.Paths) > 0 {
		own += w.Path
	}
	if !s.files.wants((own+(w.OfBest+w.OfThree)*sum.most)*table.factor) && !s.units.wants((sum.most+w.OfFile*own*table.kind)*table.factor) {
		return
	}
	rec := &p.Files[at.Unit]
	if p.Dead != nil && p.Dead(at.Unit) || s.f.File != nil && !s.f.File(rec.Path) {
		return
	}
	factor := s.r.factor(s.q, rec)
	if own = sum.score; len(s.q.Paths) > 0 {
		own += w.Path * places(s.q, rec.Path)
	}
	units, forms := s.sums.units[rec.First:rec.First+rec.Count], p.Forms[rec.First:rec.First+rec.Count]
	var bits [3]uint32 // of the numbers that its three best units have
	for i, sum := range units {
		v := math.Float32bits(sum * table.kinds[forms[i].Code()])
		bits[2] = max(bits[2], min(bits[1], v))
		bits[1] = max(bits[1], min(bits[0], v))
		bits[0] = max(bits[0], v)
	}
	best := [3]float32{math.Float32frombits(bits[0]), math.Float32frombits(bits[1]), math.Float32frombits(bits[2])}
	lent := w.OfBest*best[0] + w.OfThree*(best[0]+best[1]+best[2])/3
	if score := (own + lent) * factor; s.files.wants(score) {
		s.files.add(first{Part: at.Part, ID: at.Unit, words: score, own: own, lent: lent})
	}
	if !s.units.wants((best[0] + w.OfFile*own*table.kind) * factor * rounded) {
		return
	}
	for i, sum := range units {
		unit := rec.First + uint32(i)
		if sum == 0 || s.f.Kind != nil && !s.f.Kind(p.Units[unit].Kind()) {
			continue
		}
		score := (sum + w.OfFile*own) * table.kinds[forms[i].Code()] * factor
		if s.units.wants(score) {
			exact := slices.ContainsFunc(named, func(g gain) bool { return g.unit == unit })
			s.units.add(first{Part: at.Part, ID: unit, words: score, own: sum, lent: own, Exact: exact})
		}
	}
}

// factor is what the kind of a file makes of its scores.
func (r *Ranker) factor(q *Question, f *segment.File) float32 {
	factor := float32(1)
	if f.Flags&segment.Test != 0 && !q.Tests {
		factor *= r.w.Tests
	}
	if f.Flags&segment.Aside != 0 {
		factor *= r.w.Aside
	}
	if f.Flags&segment.Prose != 0 {
		factor *= r.w.Prose
	}
	if f.Flags&(segment.Skipped|segment.Generated) != 0 {
		factor *= r.w.Data
	}
	return factor
}

// places is how well a path that the question names fits a file: by the share
// of its segments, from the end.
func places(q *Question, file string) float32 {
	best, in, base := float32(0), dir(file), path.Base(file)
	for _, p := range q.Paths {
		if !strings.HasSuffix(p, base) || path.Base(p) != base {
			// A path without its end: a package, a module.
			if strings.HasSuffix(in, p) && strings.Contains(p, "/") && (len(in) == len(p) || in[len(in)-len(p)-1] == '/') {
				best = max(best, 0.3)
			}
			continue
		}
		same, of := 0, strings.Count(p, "/")+1
		a, b := p, file
		for a != "" && b != "" && path.Base(a) == path.Base(b) {
			same++
			a, b = dir(a), dir(b)
		}
		fit := float32(0.6)
		if same == of || b == "" {
			fit = 1
		} else if same == 1 && of > 1 {
			fit = 0.25
		}
		best = max(best, fit)
	}
	return best
}

func dir(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}
