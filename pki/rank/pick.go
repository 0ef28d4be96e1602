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
	*looking
	sums *sums

	units, files top // the best so far
}

// share makes what one processor needs.
func (l *looking) share() share {
	s, _ := l.r.scratch.Get().(*sums)
	if s == nil {
		s = new(sums)
	}
	parts := l.parts
	return share{
		looking: l, sums: s,
		units: newTop(l.maxUnits, func(at Ref) string { return parts[at.Part].Files[parts[at.Part].Units[at.Unit].File].Path }),
		files: newTop(l.maxFiles, func(at Ref) string { return parts[at.Part].Files[at.Unit].Path }),
	}
}

// part looks at a part with the terms that are for the first look.
func (s *share) part(n uint32, p Part) {
	units, files := s.sums.of(p)
	some := len(s.named[n]) > 0
	for i := range s.list {
		if places := s.list[i].places[n]; places.Units > 0 && !s.list[i].later {
			s.sums.all = places.Cursor()
			s.r.add(s.sums, p, &s.sums.all, &s.list[i])
			some = true
		}
	}
	if !some {
		return
	}
	for _, g := range s.named[n] {
		units[g.unit] += g.gain
		files[p.Forms[g.unit].File()].most += g.gain * s.r.table.kind
	}
	for file := range files {
		if files[file].most > 0 {
			s.pick(Ref{n, uint32(file)}, p, &files[file])
		}
	}
	clear(units)
	clear(files)
}

// again looks at some files of a part, which are in order, with all terms.
func (s *share) again(n uint32, p Part, some []uint32) {
	units, files := s.sums.of(p)
	var spans []segment.Span
	for _, file := range some {
		spans = appendSpan(spans, &p.Files[file])
	}
	for i := range s.list {
		if places := s.list[i].places[n]; places.Units > 0 {
			s.sums.inside = places.Inside(spans)
			s.r.add(s.sums, p, &s.sums.inside, &s.list[i])
		}
	}
	for _, g := range s.named[n] {
		file := p.Forms[g.unit].File()
		if _, ok := slices.BinarySearch(some, file); ok {
			units[g.unit] += g.gain
			files[file].most += g.gain * s.r.table.kind
		}
	}
	for _, file := range some {
		if files[file].most > 0 {
			s.pick(Ref{n, file}, p, &files[file])
		}
		files[file] = fileSum{}
	}
	for _, span := range spans {
		clear(units[span.First:span.End])
	}
}

// pick keeps a file and its units as far as they are among the best.
func (s *share) pick(at Ref, p Part, sum *fileSum) {
	w, table := &s.r.w, s.r.table
	// Most are far from the best, whatever else there is to know of them.
	own := sum.score
	if len(s.q.Paths) > 0 {
		own += w.Path
	}
	rec := &p.Files[at.Unit]
	if !s.files.wants((own+(w.OfBest+w.OfThree)*sum.most)*table.factor) && !(s.units.wants((sum.most+w.OfFile*own*table.kind)*table.factor) && rec.Kinds&s.kinds != 0) {
		return
	}
	if p.Dead != nil && p.Dead(at.Unit) || s.f.File != nil && !s.f.File(rec.Path) {
		return
	}
	factor := s.r.factor(s.q, rec)
	if own = sum.score; len(s.q.Paths) > 0 {
		own += w.Path * pathShare(s.q, rec.Path)
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
	if rec.Kinds&s.kinds == 0 || !s.units.wants((best[0]+w.OfFile*own*table.kind)*factor*rounded) {
		return
	}
	for i, sum := range units {
		unit := rec.First + uint32(i)
		if sum == 0 || s.kinds>>forms[i].Code()&1 == 0 {
			continue
		}
		score := (sum + w.OfFile*own) * table.kinds[forms[i].Code()] * factor
		if s.units.wants(score) {
			exact := slices.ContainsFunc(s.named[at.Part], func(g gain) bool { return g.unit == unit })
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

// pathShare is how well a path that the question names fits a file: by the share
// of its segments, from the end.
func pathShare(q *Question, file string) float32 {
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
