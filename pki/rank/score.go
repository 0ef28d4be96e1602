package rank

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// Part is a segment as far as it holds.
type Part struct {
	*segment.Segment
	Dead func(file uint32) bool // nil: all of it holds
}

// Project is what questions are about.
type Project struct {
	Parts   []Part
	History *history.History // nil: nothing is known of it
}

// Filter says what may be a hit. Nil functions let everything pass.
type Filter struct {
	File func(path string) bool
	Kind func(kind pki.Kind) bool
}

// Ref is a unit of a part.
type Ref struct{ Part, Unit uint32 }

// Hit is a unit and its score.
type Hit struct {
	Ref
	Score float32
	Exact bool // the question names it
}

// FileHit is a file and its score.
type FileHit struct {
	Part, File uint32
	Score      float32
}

// Ranker orders units. It is safe for concurrent use.
type Ranker struct {
	*Reader
	w       Weights
	table   *table
	scratch sync.Pool // of *scores
}

// New makes a ranker.
func New(w Weights) *Ranker { return &Ranker{Reader: NewReader(w), w: w, table: newTable(w)} }

// most bounds the postings that one question looks at: what is in so many
// units says little.
const most = 250_000

// scores are what the units and files of one part have so far. They are used
// again: only what was touched is cleared.
type scores struct {
	units   []float32
	files   []fileScore
	touched []uint32
	met     []uint32 // files
}

type fileScore struct {
	met    bool
	factor float32 // of its kind; 0: it is no hit
	score  float32
	norm   float32    // what its length takes from its words; 0: not known yet
	best   [3]float32 // of its units
}

// fit makes room for a part.
func (s *scores) fit(p Part) {
	if len(s.units) < len(p.Units) {
		s.units = make([]float32, len(p.Units))
	}
	if len(s.files) < len(p.Files) {
		s.files = make([]fileScore, len(p.Files))
	}
}

func (s *scores) clear() {
	for _, u := range s.touched {
		s.units[u] = 0
	}
	for _, f := range s.met {
		s.files[f] = fileScore{}
	}
	s.touched, s.met = s.touched[:0], s.met[:0]
}

// meet notes a file.
func (s *scores) meet(file uint32) *fileScore {
	f := &s.files[file]
	if !f.met {
		f.met = true
		s.met = append(s.met, file)
	}
	return f
}

// raise adds to a unit.
func (s *scores) raise(unit uint32, by float32) {
	if s.units[unit] == 0 {
		s.touched = append(s.touched, unit)
	}
	s.units[unit] += by
}

// weighed is a term of the question with what the index says about it.
type weighed struct {
	Term
	units, files uint32
	unitWeight   float32
	fileWeight   float32
}

func idf(n, all uint32) float32 {
	n = min(n, all)
	return float32(math.Log(1 + (float64(all)-float64(n)+0.5)/(float64(n)+0.5)))
}

// weigh looks the terms up. What is rare comes first; the commonest words are
// left out where they are too many.
func weigh(q Question, parts []Part, units, files uint32) []weighed {
	list := make([]weighed, 0, len(q.Terms))
	for _, t := range q.Terms {
		w := weighed{Term: t}
		for i := range parts {
			if p, ok := parts[i].Postings(t.ID); ok {
				w.units += p.Units
				w.files += p.Files
			}
		}
		if w.units > 0 {
			w.unitWeight, w.fileWeight = idf(w.units, units)*t.Weight, idf(w.files, files)*t.Weight
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(a, b weighed) int { return cmp.Compare(b.unitWeight, a.unitWeight) })
	seen := uint32(0)
	return slices.DeleteFunc(list, func(w weighed) bool {
		if seen > 0 && seen+w.units > most {
			return true
		}
		seen += w.units
		return false
	})
}

// Search orders the units and files that answer a question. At most units hits
// and files hits are returned.
func (r *Ranker) Search(q Question, p Project, f Filter, units, files int) ([]Hit, []FileHit) {
	us, fs := r.Candidates(q, p, f, units, files)
	hits, fileHits := make([]Hit, 0, units), make([]FileHit, 0, files)
	for i := range us[:min(len(us), units)] {
		hits = append(hits, Hit{us[i].ref(), us[i].Score, us[i].Exact})
	}
	for i := range fs[:min(len(fs), files)] {
		fileHits = append(fileHits, FileHit{fs[i].Part, fs[i].ID, fs[i].Score})
	}
	return hits, fileHits
}

// Candidates returns what Search chooses from, best first, with what speaks for
// each.
func (r *Ranker) Candidates(q Question, project Project, f Filter, units, files int) (us, fs []Candidate) {
	parts := project.Parts
	units, files = max(units, candidateUnits), max(files, candidateFiles)
	allUnits, allFiles := uint32(0), uint32(0)
	for _, p := range parts {
		allUnits += uint32(len(p.Units))
		allFiles += uint32(len(p.Files))
	}
	list := weigh(q, parts, allUnits, allFiles)
	named := r.named(q, parts, allUnits)
	t := tops{
		units: newTop(units, func(c *first) string { return parts[c.Part].Files[parts[c.Part].Units[c.ID].File].Path }),
		files: newTop(files, func(c *first) string { return parts[c.Part].Files[c.ID].Path }),
	}
	s, _ := r.scratch.Get().(*scores)
	if s == nil {
		s = new(scores)
	}
	defer r.scratch.Put(s)
	for i, p := range parts {
		s.fit(p)
		for _, term := range list {
			if places, ok := p.Postings(term.ID); ok {
				r.add(s, p.Segment, places, term)
			}
		}
		for _, n := range named[uint32(i)] {
			s.raise(n.unit, n.gain)
			s.meet(p.Units[n.unit].File)
		}
		r.pick(&t, q, uint32(i), p, s, f, named[uint32(i)])
		s.clear()
	}
	us, fs = candidates(t.units.sorted()), candidates(t.files.sorted())
	if !r.w.Unit.None() || !r.w.File.None() {
		r.refine(q, project, list, us, fs)
	}
	return us, fs
}

// add adds what one term says.
func (r *Ranker) add(s *scores, seg *segment.Segment, p segment.Postings, t weighed) {
	file, body := ^uint32(0), float32(0)
	flags, own := byte(0), byte(0)
	names := float32(0)
	w := &r.w
	flush := func() {
		if file == ^uint32(0) {
			return
		}
		f := s.meet(file)
		if f.norm == 0 {
			f.norm = 1 - w.FileB + w.FileB*(1+seg.Lengths[file])/w.FileAvgLen
		}
		tf := w.FileBody * body / f.norm
		if own&segment.InName != 0 {
			tf += w.FileName
		}
		if own&segment.InOwner != 0 {
			tf += w.FileDir
		}
		if flags&segment.InDoc != 0 {
			tf += w.FileDoc
		}
		tf += w.FileUnits * max(0, min(names, 3))
		f.score += t.fileWeight * tf / (w.FileK1 + tf)
	}
	for c := p.Cursor(); c.Next(); {
		unit, where := c.Unit, c.Where
		s.raise(unit, t.unitWeight*r.table.weight(seg.Forms[unit], where, w.K1))
		if f := uint32(seg.FileOf[unit]); f != file {
			flush()
			file, body, flags, own, names = f, 0, 0, 0, 0
			if seg.Files[file].First == unit {
				own, names = where, -1
			}
		}
		if where&segment.InName != 0 {
			names++
		}
		body += segment.BodyCount[where&7]
		flags |= where
	}
	flush()
}

// gain is what a unit gets because the question names it.
type gain struct {
	unit uint32
	gain float32
}

// named finds what the question names as code, by part. What bears a rare name
// gets more.
func (r *Ranker) named(q Question, parts []Part, units uint32) map[uint32][]gain {
	const most = 1000 // bearers of a name that are looked at
	out := map[uint32][]gain{}
	for _, n := range q.Names {
		id := terms.Whole(n.Name)
		var refs []Ref
		for i := range parts {
			p, ok := parts[i].Postings(id)
			if !ok {
				continue
			}
			p.Each(func(unit uint32, where byte) bool {
				if where&segment.InName != 0 && where&segment.AsWhole != 0 && strings.EqualFold(parts[i].Name(unit), n.Name) {
					refs = append(refs, Ref{uint32(i), unit})
				}
				return len(refs) < most
			})
		}
		w := r.w.Exact * idf(uint32(len(refs)), units) / float32(math.Sqrt(float64(max(1, len(refs)))))
		for _, ref := range refs {
			g := w
			if n.Owner != "" {
				owner := parts[ref.Part].Owner(ref.Unit)
				if owner = owner[strings.LastIndexByte(owner, '.')+1:]; strings.EqualFold(owner, n.Owner) {
					g *= 2
				} else {
					g *= 0.5
				}
			}
			out[ref.Part] = append(out[ref.Part], gain{ref.Unit, g})
		}
	}
	return out
}

// places is how well a path that the question names fits a file: by the share
// of its segments, from the end.
func places(q Question, file string) float32 {
	best := float32(0)
	for _, p := range q.Paths {
		a, b := p, file
		same, of := 0, strings.Count(p, "/")+1
		for a != "" && b != "" && path.Base(a) == path.Base(b) {
			same++
			a, b = dir(a), dir(b)
		}
		if same == 0 {
			// A path without its end: a package, a module.
			if d := path.Dir(file); of > 1 && (d == p || strings.HasSuffix(d, "/"+p)) {
				best = max(best, 0.3)
			}
			continue
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

// tops are the best so far.
type tops struct {
	units, files top
}

// pick puts the scores of a part together and keeps the best.
func (r *Ranker) pick(t *tops, q Question, part uint32, p Part, s *scores, f Filter, named []gain) {
	w := &r.w
	for _, file := range s.met {
		rec, fs := &p.Files[file], &s.files[file]
		if p.Dead != nil && p.Dead(file) || f.File != nil && !f.File(rec.Path) {
			continue
		}
		fs.factor = r.factor(q, rec)
		if len(q.Paths) > 0 {
			fs.score += w.Path * places(q, rec.Path)
		}
	}
	for _, unit := range s.touched {
		b := &s.files[p.FileOf[unit]].best
		switch v := s.units[unit] * r.table.kinds[p.Forms[unit].Code]; {
		case v > b[0]:
			b[0], b[1], b[2] = v, b[0], b[1]
		case v > b[1]:
			b[1], b[2] = v, b[1]
		case v > b[2]:
			b[2] = v
		}
	}
	for _, file := range s.met {
		if fs := &s.files[file]; fs.factor > 0 {
			b := fs.best
			lent := w.OfBest*b[0] + w.OfThree*(b[0]+b[1]+b[2])/3
			if score := (fs.score + lent) * fs.factor; t.files.wants(score) {
				t.files.add(first{Part: part, ID: file, words: score, own: fs.score, lent: lent})
			}
		}
	}
	for _, unit := range s.touched {
		fs := &s.files[p.FileOf[unit]]
		if fs.factor == 0 || f.Kind != nil && !f.Kind(p.Units[unit].Kind()) {
			continue
		}
		score := (s.units[unit] + w.OfFile*fs.score) * r.table.kinds[p.Forms[unit].Code] * fs.factor
		if t.units.wants(score) {
			exact := slices.ContainsFunc(named, func(g gain) bool { return g.unit == unit })
			t.units.add(first{Part: part, ID: unit, words: score, own: s.units[unit], lent: fs.score, Exact: exact})
		}
	}
}

// factor is what the kind of a file makes of its scores.
func (r *Ranker) factor(q Question, f *segment.File) float32 {
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
