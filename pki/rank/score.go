package rank

import (
	"cmp"
	"math"
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

// files returns the files that may be hits, of each part in order.
func (f Filter) files(parts []Part) [][]uint32 {
	out := make([][]uint32, len(parts))
	for i := range parts {
		for file := range parts[i].Files {
			if f.File == nil || f.File(parts[i].Files[file].Path) {
				out[i] = append(out[i], uint32(file))
			}
		}
	}
	return out
}

// kinds are those that pass.
func (f Filter) kinds() segment.Kinds {
	return segment.KindsOf(func(k pki.Kind) bool { return f.Kind == nil || f.Kind(k) })
}

// withKind returns those of the files that have units of some kinds or are among
// some others, all of each part in order.
func withKind(parts []Part, kinds segment.Kinds, files, others [][]uint32) [][]uint32 {
	out := make([][]uint32, len(parts))
	for i, p := range parts {
		for _, file := range files[i] {
			_, other := slices.BinarySearch(others[i], file)
			if other || p.Files[file].Kinds&kinds != 0 {
				out[i] = append(out[i], file)
			}
		}
	}
	return out
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
	scratch sync.Pool // of *sums
}

// New makes a ranker.
func New(w Weights) *Ranker { return &Ranker{Reader: NewReader(w), w: w, table: newTable(w)} }

// weighed is a term of the question with what the index says about it.
type weighed struct {
	Term
	units, files uint32
	unitWeight   float32
	fileWeight   float32
	places       []segment.Postings // by part
	later        bool               // it is not for the first look
}

func idf(n, all uint32) float32 {
	n = min(n, all)
	return float32(math.Log(1 + (float64(all)-float64(n)+0.5)/(float64(n)+0.5)))
}

// weigh looks the terms up. What is rare comes first; the commonest words are
// for later, and left out where they are too many.
func (r *Ranker) weigh(q Question, parts []Part, units, files uint32) []weighed {
	list, places := make([]weighed, 0, len(q.Terms)), make([]segment.Postings, len(q.Terms)*len(parts))
	for _, t := range q.Terms {
		w := weighed{Term: t, places: places[:len(parts):len(parts)]}
		for i := range parts {
			w.places[i], _ = parts[i].Postings(t.ID)
			w.units += w.places[i].Units
			w.files += w.places[i].Files
		}
		if w.units > 0 {
			w.unitWeight, w.fileWeight = idf(w.units, units)*t.Weight, idf(w.files, files)*t.Weight
			list, places = append(list, w), places[len(parts):]
		}
	}
	slices.SortStableFunc(list, func(a, b weighed) int { return cmp.Compare(b.unitWeight, a.unitWeight) })
	most := max(r.w.FewPlaces, int(r.w.Places*float32(units)))
	all, first, kept := 0, 0, list[:0]
	for _, t := range list[:min(len(list), r.w.Terms)] {
		n := int(t.units)
		if all > 0 && all+n > most {
			continue
		}
		all += n
		if t.later = first > 0 && first+n > r.w.FirstPlaces; !t.later {
			first += n
		}
		kept = append(kept, t)
	}
	return kept
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
	list := r.weigh(q, parts, allUnits, allFiles)
	l := &looking{r: r, q: &q, f: f, kinds: f.kinds(), parts: parts, list: list, named: r.named(q, parts, allUnits), maxUnits: units, maxFiles: files}
	foundUnits, foundFiles := l.best(func(s *share, n uint32) { s.part(n, parts[n]) })
	if slices.ContainsFunc(list, func(t weighed) bool { return t.later }) {
		some := filesOf(parts, foundUnits, foundFiles)
		switch { // the rarer terms are not enough, or not where the filter looks
		case len(foundFiles) < files:
			some = f.files(parts)
		case len(foundUnits) < units:
			some = withKind(parts, l.kinds, f.files(parts), some)
		}
		foundUnits, foundFiles = l.best(func(s *share, n uint32) { s.again(n, parts[n], some[n]) })
	}
	us, fs = candidates(foundUnits), candidates(foundFiles)
	if !r.w.Unit.None() || !r.w.File.None() {
		r.refine(q, project, list, us, fs)
	}
	return us, fs
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
