package rank

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// Part is a segment as far as it holds.
type Part struct {
	*segment.Segment
	Dead func(file uint32) bool // nil: all of it holds
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
	w     Weights
	table *table
}

// New makes a ranker.
func New(w Weights) *Ranker { return &Ranker{NewReader(w), w, newTable(w)} }

// table has the weight of a posting by the length of its unit and by what it
// says, saturated, and the same without for files.
type table struct {
	unit [segment.LengthClasses][256]float32
	file [256]float32 // of all but the body
}

func newTable(w Weights) *table {
	t := new(table)
	for where := range 256 {
		b := byte(where)
		tf := float32(0)
		for _, f := range [...]struct {
			bit    byte
			weight float32
		}{{segment.InName, w.Name}, {segment.InOwner, w.Owner}, {segment.InHeader, w.Header}, {segment.InDoc, w.Doc}} {
			if b&f.bit != 0 {
				tf += f.weight
			}
		}
		if b&segment.InName != 0 && b&segment.AsWhole != 0 {
			tf += w.Whole
		}
		body := segment.BodyCount[b&7]
		for c := range segment.LengthClasses {
			n := 1 - w.B + w.B*segment.ClassLength(uint8(c))/w.AvgLen
			all := tf + w.Body*body/n
			t.unit[c][where] = all / (w.K1 + all)
		}
		t.file[where] = body
	}
	return t
}

// most bounds the postings that one question looks at.
const most = 1 << 20

// scores are what the units and files of one part have so far.
type scores struct {
	unit    []float32
	file    []float32
	touched []uint32
	files   []uint32
	lengths []float32 // of files
}

func (r *Ranker) idf(n, all uint32) float32 {
	return float32(math.Log(1 + (float64(all)-float64(n)+0.5)/(float64(n)+0.5)))
}

// Search orders the units and files that answer a question. At most units hits
// and files hits are returned.
func (r *Ranker) Search(q Question, parts []Part, f Filter, units, files int) ([]Hit, []FileHit) {
	all := make([]scores, len(parts))
	unitsAll, filesAll := uint32(0), uint32(0)
	for i, p := range parts {
		all[i] = scores{unit: make([]float32, len(p.Units)), file: make([]float32, len(p.Files))}
		unitsAll += uint32(len(p.Units))
		filesAll += uint32(len(p.Files))
	}
	type weighed struct {
		Term
		units, files uint32
		idf          float32
	}
	list := make([]weighed, 0, len(q.Terms))
	for _, t := range q.Terms {
		w := weighed{Term: t}
		for i := range parts {
			if p, ok := parts[i].Postings(t.ID); ok {
				w.units += p.Units
				w.files += p.Files
			}
		}
		if w.units == 0 {
			continue
		}
		w.idf = r.idf(w.units, unitsAll)
		list = append(list, w)
	}
	// What is rare first: the commonest words may be left out.
	slices.SortStableFunc(list, func(a, b weighed) int { return cmp.Compare(b.idf*b.Weight, a.idf*a.Weight) })
	seen := uint32(0)
	for _, t := range list {
		if seen += t.units; seen > most && seen > t.units {
			seen -= t.units
			continue
		}
		uw, fw := t.idf*t.Weight, r.idf(t.files, filesAll)*t.Weight
		for i := range parts {
			if p, ok := parts[i].Postings(t.ID); ok {
				r.add(&all[i], parts[i].Segment, p, uw, fw)
			}
		}
	}
	exact := r.named(q, parts, all, unitsAll)
	return r.pick(q, parts, all, f, units, files, exact)
}

// add adds what one term says.
func (r *Ranker) add(s *scores, seg *segment.Segment, p segment.Postings, uw, fw float32) {
	file, body := ^uint32(0), float32(0)
	flags, own := byte(0), byte(0)
	names := float32(0)
	flush := func() {
		if file == ^uint32(0) {
			return
		}
		w := &r.w
		tf := w.FileBody * body / s.norm(seg, file, w)
		if own&segment.InName != 0 {
			tf += w.FileName
		}
		if own&segment.InOwner != 0 {
			tf += w.FileDir
		}
		if flags&segment.InDoc != 0 {
			tf += w.FileDoc
		}
		tf += w.FileUnits * min(names, 3)
		if s.file[file] == 0 {
			s.files = append(s.files, file)
		}
		s.file[file] += fw * tf / (w.FileK1 + tf)
	}
	p.Each(func(unit uint32, where byte) bool {
		u := &seg.Units[unit]
		if s.unit[unit] == 0 {
			s.touched = append(s.touched, unit)
		}
		s.unit[unit] += uw * r.table.unit[u.Length][where]
		if u.File != file {
			flush()
			file, body, flags, own, names = u.File, 0, 0, 0, 0
		}
		if seg.Files[file].First == unit {
			own = where
		} else if where&segment.InName != 0 {
			names++
		}
		body += segment.BodyCount[where&7]
		flags |= where
		return true
	})
	flush()
}

// norm is what a file's length takes from its words.
func (s *scores) norm(seg *segment.Segment, file uint32, w *Weights) float32 {
	if s.lengths == nil {
		s.lengths = make([]float32, len(seg.Files))
	}
	if s.lengths[file] == 0 {
		n := float32(1)
		f := &seg.Files[file]
		for _, u := range seg.Units[f.First : f.First+f.Count] {
			n += segment.ClassLength(u.Length)
		}
		s.lengths[file] = 1 - w.FileB + w.FileB*n/w.FileAvgLen
	}
	return s.lengths[file]
}

// named lifts what the question names as code, the more the rarer the name.
func (r *Ranker) named(q Question, parts []Part, all []scores, units uint32) map[Ref]bool {
	exact := map[Ref]bool{}
	for _, n := range q.Names {
		id := terms.Whole(n.Name)
		if ids, sole := terms.Of(n.Name, nil); sole && len(ids) == 1 {
			id = ids[0]
		}
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
				return len(refs) < 1000
			})
		}
		if len(refs) == 0 {
			continue
		}
		w := r.w.Exact * r.idf(uint32(len(refs)), units) / float32(math.Sqrt(float64(len(refs))))
		for _, ref := range refs {
			s, seg := &all[ref.Part], parts[ref.Part]
			gain := w
			if n.Owner != "" {
				owner := seg.Owner(ref.Unit)
				if owner = owner[strings.LastIndexByte(owner, '.')+1:]; owner != "" && strings.EqualFold(owner, n.Owner) {
					gain *= 2
				} else {
					gain *= 0.5
				}
			}
			if s.unit[ref.Unit] == 0 {
				s.touched = append(s.touched, ref.Unit)
			}
			s.unit[ref.Unit] += gain
			file := seg.Units[ref.Unit].File
			if s.file[file] == 0 {
				s.files = append(s.files, file)
			}
			exact[ref] = true
		}
	}
	return exact
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

// pick puts the scores together and takes the best.
func (r *Ranker) pick(q Question, parts []Part, all []scores, f Filter, units, files int, exact map[Ref]bool) ([]Hit, []FileHit) {
	w := &r.w
	hits, fileHits := top[Hit]{n: units, less: func(a, b Hit) bool { return a.Score < b.Score }},
		top[FileHit]{n: files, less: func(a, b FileHit) bool { return a.Score < b.Score }}
	for i := range parts {
		p, s := parts[i], &all[i]
		var ofFile []float32 // the factor of a file, 0 when it is no hit
		ofFile = make([]float32, len(p.Files))
		for _, file := range s.files {
			rec := &p.Files[file]
			if p.Dead != nil && p.Dead(file) || f.File != nil && !f.File(rec.Path) {
				continue
			}
			ofFile[file] = r.factor(q, rec)
			if len(q.Paths) > 0 {
				s.file[file] += w.Path * places(q, rec.Path)
			}
		}
		best := make([][3]float32, len(p.Files))
		for _, unit := range s.touched {
			u := &p.Units[unit]
			b := &best[u.File]
			switch v := s.unit[unit] * w.kind(u); {
			case v > b[0]:
				b[0], b[1], b[2] = v, b[0], b[1]
			case v > b[1]:
				b[1], b[2] = v, b[1]
			case v > b[2]:
				b[2] = v
			}
		}
		for _, file := range s.files {
			if ofFile[file] == 0 {
				continue
			}
			b := best[file]
			score := (s.file[file] + w.OfBest*b[0] + w.OfThree*(b[0]+b[1]+b[2])/3) * ofFile[file]
			fileHits.add(FileHit{uint32(i), file, score})
		}
		for _, unit := range s.touched {
			u := &p.Units[unit]
			factor := ofFile[u.File]
			if factor == 0 || f.Kind != nil && !f.Kind(u.Kind()) {
				continue
			}
			score := (s.unit[unit] + w.OfFile*s.file[u.File]) * w.kind(u) * factor
			if hits.wants(score) {
				hits.add(Hit{Ref: Ref{uint32(i), unit}, Score: score, Exact: exact[Ref{uint32(i), unit}]})
			}
		}
	}
	return hits.sorted(), fileHits.sorted()
}

func (w *Weights) kind(u *segment.Unit) float32 {
	if k, ok := w.Kinds[u.Kind()]; ok {
		return k
	}
	return 0.5
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

// top keeps the n best.
type top[T any] struct {
	n    int
	less func(a, b T) bool
	list []T // a heap, the worst first
}

func (t *top[T]) wants(float32) bool { return true }

func (t *top[T]) add(v T) {
	if t.n <= 0 {
		return
	}
	if len(t.list) < t.n {
		t.list = append(t.list, v)
		for i := len(t.list) - 1; i > 0; {
			up := (i - 1) / 2
			if !t.less(t.list[i], t.list[up]) {
				break
			}
			t.list[i], t.list[up] = t.list[up], t.list[i]
			i = up
		}
		return
	}
	if !t.less(t.list[0], v) {
		return
	}
	t.list[0] = v
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.list) {
			return
		}
		if c+1 < len(t.list) && t.less(t.list[c+1], t.list[c]) {
			c++
		}
		if !t.less(t.list[c], t.list[i]) {
			return
		}
		t.list[i], t.list[c] = t.list[c], t.list[i]
		i = c
	}
}

func (t *top[T]) sorted() []T {
	slices.SortStableFunc(t.list, func(a, b T) int {
		switch {
		case t.less(b, a):
			return -1
		case t.less(a, b):
			return 1
		}
		return 0
	})
	return t.list
}
