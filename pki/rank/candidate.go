package rank

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// What the words alone put first is looked at again, with everything that is
// known of each of these at once, and put in a new order.
const (
	candidateUnits = 150
	candidateFiles = 80
	maxConcepts    = 64
)

// first is what the first look says about a unit or a file.
type first struct {
	Part, ID  uint32  // ID is a unit's or a file's
	Exact     bool    // the question names it
	words     float32 // what its words are worth with what is lent
	own, lent float32 // without it, and it alone: by the file to a unit, by its units to a file
}

func (c *first) ref() Ref { return Ref{c.Part, c.ID} }

// Candidate is a unit or a file that may be a hit.
type Candidate struct {
	first
	Score    float32
	Features [Features]float32 // what speaks for it or against it

	in   seen
	path seen // of a file: where in its path
}

// candidates are what the first look found.
func candidates(found []first) []Candidate {
	out := make([]Candidate, len(found))
	for i := range found {
		out[i].first, out[i].Score = found[i], found[i].words
	}
	return out
}

// set is a set of concepts.
type set uint64

// concept is a word of the question, in all its forms.
type concept struct{ weight float32 }

// seen is which concepts are where in a unit or file.
type seen struct{ name, owner, header, doc, body set }

func (s *seen) add(where byte, c set) {
	if where&segment.InName != 0 {
		s.name |= c
	}
	if where&segment.InOwner != 0 {
		s.owner |= c
	}
	if where&segment.InHeader != 0 {
		s.header |= c
	}
	if where&segment.InDoc != 0 {
		s.doc |= c
	}
	if segment.HasBody(where) {
		s.body |= c
	}
}

func (s *seen) anywhere() set { return s.name | s.owner | s.header | s.doc | s.body }

// second is the second look at the candidates of one question.
type second struct {
	w     *Weights
	q     Question
	parts []Part
	past  *history.History
	alike *history.Likeness
	units []Candidate
	files []Candidate
	home  map[Ref]*Candidate // files, by their numbers
	did   map[Ref]past       // of files, see pastOfFile

	concepts            []concept
	weighs              weighs
	words, names, title set // single words; several as one name; words of the title
	scope               set // what stands before the title's colon
}

// refine orders the candidates, which come best first by their words.
func (r *Ranker) refine(q Question, p Project, list []weighed, units, files []Candidate) {
	s := &second{w: &r.w, q: q, parts: p.Parts, past: p.History, units: units, files: files, home: make(map[Ref]*Candidate, len(files)), did: map[Ref]past{}}
	for i := range files {
		s.home[files[i].ref()] = &files[i]
	}
	s.read(list)
	s.weigh()
	s.recall()
	s.judgeFiles()
	s.judgeUnits()
	s.relate()
	order(units, &r.w.Unit)
	order(files, &r.w.File)
}

// recall finds what commits that are like the question changed.
func (s *second) recall() {
	words := make([]history.Word, len(s.q.Terms))
	for i, t := range s.q.Terms {
		words[i] = history.Word{ID: t.ID, Weight: t.Weight}
	}
	s.alike = s.past.Like(words)
}

// past is what commits did to a file or a unit, and what they say of the
// question.
type past struct {
	history.Changes
	history.Told
	known bool
}

func (s *second) pastOf(file string, unit history.Name) past {
	p := past{Told: s.alike.Of(file, unit)}
	p.Changes, p.known = s.past.Changes(file, unit)
	return p
}

// pastOfFile is pastOf for a file, most of which have several candidates.
func (s *second) pastOfFile(file Ref) past {
	p, looked := s.did[file]
	if !looked {
		p = s.pastOf(s.parts[file.Part].Files[file.Unit].Path, 0)
		s.did[file] = p
	}
	return p
}

// order sorts candidates by what their judge says. What a score is beside the
// best is as the odds that this stands for.
func order(list []Candidate, judge *Judge) {
	if len(list) == 0 || judge.None() {
		return
	}
	best, top := float32(math.Inf(-1)), list[0].words
	sorted := make([]*Candidate, len(list)) // a candidate is large
	sideBySide(runtime.GOMAXPROCS(0), len(list), func(_, i int) { list[i].Score = judge.Of(&list[i].Features) })
	for i := range list {
		best = max(best, list[i].Score)
		sorted[i] = &list[i]
	}
	slices.SortStableFunc(sorted, func(a, b *Candidate) int { return compare(b.Score, a.Score) })
	out := make([]Candidate, len(list))
	for i, c := range sorted {
		out[i] = *c
		out[i].Score = top * odds(c.Score-best)
	}
	copy(list, out)
}

// odds are those of a score beside another one, softened.
func odds(behind float32) float32 {
	const soft = 4
	return float32(math.Exp(float64(behind) / soft))
}

// read finds which concepts of the question are where in the candidates.
func (s *second) read(list []weighed) {
	spans := s.spans()
	concepts := make([]set, len(list))
	at := map[int]int{} // concepts, by the terms that they begin with
	for n, t := range list {
		i, ok := at[t.Of]
		if !ok {
			if i = len(s.concepts); i == maxConcepts {
				continue
			}
			at[t.Of] = i
			s.concepts = append(s.concepts, concept{})
		}
		c := set(1) << i
		s.concepts[i].weight = max(s.concepts[i].weight, t.unitWeight)
		switch {
		case t.Whole:
			s.names |= c
		case t.Title:
			s.words, s.title = s.words|c, s.title|c
		default:
			s.words |= c
		}
		if t.Scope {
			s.scope |= c
		}
		concepts[n] = c
	}
	for n, t := range list {
		if t.Whole && concepts[n] != 0 {
			concepts[n] |= wordsOf(t.Text, list, concepts)
		}
	}
	sideBySide(processors(list, len(spans)), len(spans), func(_, i int) {
		part := &spans[i]
		for n := range list {
			if concepts[n] != 0 {
				part.scan(list[n].places[part.number], concepts[n])
			}
		}
	})
}

// wordsOf are the concepts of the words that a name is made of: what has it as
// one word, as filewriter, has these.
func wordsOf(name string, list []weighed, concepts []set) (words set) {
	var ids []terms.ID
	for part := range strings.FieldsSeq(name) {
		ids, _ = terms.Of(part, ids)
	}
	for n, t := range list {
		if !t.Whole && slices.Contains(ids, t.ID) {
			words |= concepts[n]
		}
	}
	return words
}

// span is a file of which something is a candidate.
type span struct {
	segment.Span
	file  *Candidate
	units []*Candidate
}

// spans are those of a part, in order.
type spans struct {
	number uint32 // of the part
	list   []span
	all    []segment.Span
}

func (s *second) spans() []spans {
	byFile := map[Ref]*span{}
	of := func(part, file uint32) *span {
		ref := Ref{part, file}
		if byFile[ref] == nil {
			byFile[ref] = &span{Span: spanOf(&s.parts[part].Files[file])}
		}
		return byFile[ref]
	}
	for i := range s.files {
		c := &s.files[i]
		of(c.Part, c.ID).file = c
	}
	for i := range s.units {
		c := &s.units[i]
		sp := of(c.Part, s.parts[c.Part].Units[c.ID].File)
		sp.units = append(sp.units, c)
	}
	byPart := map[uint32]*spans{}
	for ref, sp := range byFile {
		slices.SortFunc(sp.units, func(a, b *Candidate) int { return int(a.ID) - int(b.ID) })
		if byPart[ref.Part] == nil {
			byPart[ref.Part] = &spans{number: ref.Part}
		}
		byPart[ref.Part].list = append(byPart[ref.Part].list, *sp)
	}
	out := make([]spans, 0, len(byPart))
	for _, part := range byPart {
		slices.SortFunc(part.list, func(a, b span) int { return int(a.First) - int(b.First) })
		for _, sp := range part.list {
			part.all = append(part.all, sp.Span)
		}
		out = append(out, *part)
	}
	return out
}

// scan notes where a term of a concept is. Places and spans are both in order.
func (p *spans) scan(places segment.Postings, concept set) {
	var block [64]segment.Posting
	k, j := 0, 0
	inside := places.Inside(p.all)
	for n := inside.Read(block[:]); n > 0; n = inside.Read(block[:]) {
		for _, at := range block[:n] {
			unit, where := at.Unit(), at.Where()
			for unit >= p.list[k].End {
				k, j = k+1, 0
			}
			sp := &p.list[k]
			for j < len(sp.units) && sp.units[j].ID < unit {
				j++
			}
			if j < len(sp.units) && sp.units[j].ID == unit {
				sp.units[j].in.add(where, concept)
			}
			if sp.file == nil {
				continue
			}
			if sp.First == unit { // the unit that stands for the file
				sp.file.path.add(where&(segment.InName|segment.InOwner), concept)
				where &^= segment.InName | segment.InOwner
			}
			sp.file.in.add(where, concept)
		}
	}
}

// weighs is what sets of concepts weigh: by each byte of the set.
type weighs [maxConcepts / 8][256]float32

// weigh fills in the table of sums.
func (s *second) weigh() {
	for i, c := range s.concepts {
		sums, bit := &s.weighs[i/8], 1<<(i%8)
		for low := range bit {
			sums[bit|low] = sums[low] + c.weight
		}
	}
}

// weight is what some concepts weigh together.
func (s *second) weight(some set) float32 {
	sum := float32(0)
	for i := 0; some != 0; i, some = i+1, some>>8 {
		sum += s.weighs[i][some&255]
	}
	return sum
}

// share is how much of the weight of all these concepts is in some of them.
func (s *second) share(some, all set) float32 { return beside(s.weight(some&all), s.weight(all)) }

// rarest is the weight of the rarest of some words beside that of the rarest of
// all. Concepts come by their weights.
func (s *second) rarest(some set) float32 {
	if some &= s.words; some == 0 {
		return 0
	}
	return beside(s.concepts[bits.TrailingZeros64(uint64(some))].weight, s.concepts[bits.TrailingZeros64(uint64(s.words))].weight)
}
