package rank

import (
	"bytes"
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// Relation is how a unit is tied to another one, read from that one: X is
// called by the unit, calls it, is implemented by it or tested by it, or its
// file imports that of the unit or is imported by it.
type Relation string

// The relations.
const (
	CalledBy      Relation = "called-by"
	Calls         Relation = "calls"
	Uses          Relation = "uses" // a type
	ImplementedBy Relation = "implemented-by"
	TestedBy      Relation = "tested-by"
	Imports       Relation = "imports"
	ImportedBy    Relation = "imported-by"
)

// Edge leads from one unit to another.
type Edge struct {
	To       Ref
	Relation Relation
	Weight   float32 // from 0 to 1: how likely the name means this unit
}

// maxMeaning is for how many units a name may stand: what more of them bear is nobody's.
const maxMeaning = 12

func callable(k pki.Kind) bool { return k == pki.Function || k == pki.Method }

// used returns the units whose names the text of r has.
func (m *meanings) used(r Ref, text []byte) []Edge {
	parts := m.parts
	seg := parts[r.Part]
	home := dir(seg.Files[seg.Units[r.Unit].File].Path)
	own := terms.Whole(seg.Name(r.Unit))
	seen := map[terms.ID]bool{own: true}
	for owner := range strings.SplitSeq(seg.Owner(r.Unit), ".") {
		seen[terms.Whole(owner)] = true
	}
	var out []Edge
	const maxNames = 200
	for i := 0; i < len(text) && len(seen) < maxNames; {
		if terms.Classes[text[i]] == terms.Other {
			i++
			continue
		}
		j := terms.Ident(text, i)
		begin, word := i, text[i:j]
		called := j < len(text) && (text[j] == '(' || text[j] == '!' || text[j] == '<' || text[j] == '[')
		if i = j; len(word) < 3 || len(word) > terms.MaxIdent {
			continue
		}
		id := terms.Whole(string(word))
		if seen[id] || inComment(text, begin) {
			continue
		}
		found := m.of(string(word), home)
		if !called {
			found = slices.DeleteFunc(found, func(e Edge) bool { return callable(parts[e.To.Part].Units[e.To.Unit].Kind()) })
		}
		seen[id] = called || len(found) > 0
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(e Edge) bool { return e.To == r })
}

// inComment reports whether a comment begins before i on its line.
func inComment(text []byte, i int) bool {
	from := bytes.LastIndexByte(text[:i], '\n') + 1
	before := bytes.TrimLeft(text[from:i], " \t")
	return bytes.Contains(before, []byte("//")) || bytes.HasPrefix(before, []byte("#")) || bytes.HasPrefix(before, []byte("* ")) || bytes.HasPrefix(before, []byte("/*"))
}

// meanings are what names stand for, looked up once. They are safe for
// concurrent use.
type meanings struct {
	parts     []Part
	directory *segment.Directory
	bits      []uint64 // of the parts in the directory

	mu    sync.Mutex
	known map[string][]Ref
	homes map[string][][]segment.Span // of each part, the units of a directory
}

func meaningsOf(parts []Part, directory *segment.Directory) *meanings {
	return &meanings{
		parts: parts, directory: directory, bits: directory.Bits(segmentsOf(parts)),
		known: map[string][]Ref{}, homes: map[string][][]segment.Span{},
	}
}

// of returns the functions and types of a name, those nearby if there are many.
func (m *meanings) of(name, home string) []Edge {
	all := once(&m.mu, m.known, name, m.bearers)
	var near []Ref
	for _, ref := range all {
		p := m.parts[ref.Part]
		if dir(p.Files[p.Units[ref.Unit].File].Path) == home {
			near = append(near, ref)
		}
	}
	if len(near) > 0 {
		all = near
	}
	if len(all) > maxMeaning {
		return nil
	}
	out := make([]Edge, 0, len(all))
	for _, ref := range all {
		e := Edge{ref, Calls, 1 / float32(len(all))}
		if !callable(m.parts[ref.Part].Units[ref.Unit].Kind()) {
			e.Relation = Uses
			e.Weight *= 0.7
		}
		out = append(out, e)
	}
	return out
}

// once returns what f makes of a key, which the map keeps. Two that ask for a new
// one at the same time both make it.
func once[V any](mu *sync.Mutex, known map[string]V, key string, f func(key string) V) V {
	mu.Lock()
	v, ok := known[key]
	mu.Unlock()
	if !ok {
		v = f(key)
		mu.Lock()
		known[key] = v
		mu.Unlock()
	}
	return v
}

// bearers returns the functions and types of a name, none of a name that is
// everywhere.
func (m *meanings) bearers(name string) (all []Ref) {
	without := m.directory.Without(name)
	for i, p := range m.parts {
		if m.bits[i]&without != 0 {
			continue
		}
		p.Bearers(name, func(u uint32) bool {
			to := &p.Units[u]
			switch to.Kind() {
			case pki.Heading, pki.Variable, pki.Constant:
				return true
			}
			if p.Files[to.File].Flags&segment.Test != 0 || p.Dead != nil && p.Dead(to.File) {
				return true
			}
			all = append(all, Ref{uint32(i), u})
			return len(all) <= 10*maxMeaning
		})
	}
	if len(all) == 0 {
		return nil
	}
	id := terms.Whole(name)
	if slices.ContainsFunc(m.parts, func(p Part) bool { return p.IsCommon(id) }) {
		return nil
	}
	return all
}

// Reached is a unit that the graph came to.
type Reached struct {
	Ref
	Score    float32
	Relation Relation // of the first hop
	Hops     int
	From     Ref // the hit that the walk began at
}

// Around reads what a walk needs besides the parts.
type Around struct {
	Text    func(Ref) []byte                // the source of a unit, nil if it can't be had
	Imports func(r Ref, text []byte) []Edge // what imports tie to a unit of that source
	Names   *segment.Directory              // may know the parts
}

func segmentsOf(parts []Part) []*segment.Segment {
	out := make([]*segment.Segment, len(parts))
	for i := range parts {
		out[i] = parts[i].Segment
	}
	return out
}

// edgesOf returns the edges of some units. What is not safe for concurrent use
// is asked by one goroutine.
func edgesOf(front []Reached, names *meanings, around Around) [][]Edge {
	n := len(front)
	texts := make([][]byte, n)
	for i := range front {
		texts[i] = around.Text(front[i].Ref)
	}
	edges := make([][]Edge, 1+2*n) // what imports tie to all, what uses each one, and what each one uses
	tied := make([][]Edge, n)
	sideBySide(runtime.GOMAXPROCS(0), len(edges), func(_, k int) {
		switch {
		case k == 0:
			for i := range front {
				tied[i] = around.Imports(front[i].Ref, texts[i])
			}
		case k <= n:
			edges[k] = names.users(front[k-1].Ref)
		default:
			edges[k] = names.used(front[k-1-n].Ref, texts[k-1-n])
		}
	})
	for i := range tied {
		tied[i] = slices.Concat(edges[1+i], edges[1+n+i], tied[i])
	}
	return tied
}

// Walk goes up to depth hops from the hits along the graph of names, with half
// of the score lost at each, and returns the best that are no hits, at most n.
func Walk(parts []Part, hits []Hit, f Filter, depth, n int, around Around) []Reached {
	if n <= 0 || depth <= 0 {
		return nil
	}
	const (
		decay    = 0.5
		maxStart = 10   // hits that a walk begins at
		maxFront = 40   // units that a hop begins at
		maxSeen  = 2000 // units that are come to at all
	)
	best := map[Ref]*Reached{}
	isHit := map[Ref]bool{}
	byScore := func(a, b Reached) int {
		if a.Score != b.Score {
			return compare(b.Score, a.Score)
		}
		pa, pb := parts[a.Part], parts[b.Part]
		return cmp.Or(cmp.Compare(pa.Files[pa.Units[a.Unit].File].Path, pb.Files[pb.Units[b.Unit].File].Path), cmp.Compare(a.Unit, b.Unit))
	}
	names := meaningsOf(parts, around.Names)
	var front []Reached
	for i, h := range hits {
		isHit[h.Ref] = true
		if i < maxStart {
			front = append(front, Reached{Ref: h.Ref, Score: h.Score, From: h.Ref})
		}
	}
	for hop := 1; hop <= depth && len(front) > 0 && len(best) < maxSeen; hop++ {
		var next []Reached
		for i, edges := range edgesOf(front, names, around) {
			from := &front[i]
			for _, e := range edges {
				score := from.Score * decay * e.Weight
				if isHit[e.To] || score <= 0 {
					continue
				}
				if have := best[e.To]; have != nil {
					// Tied to several: likelier.
					if have.From != from.From && have.Hops == hop {
						have.Score = min(have.Score+score/4, hits[0].Score*decay*1.5)
					}
					continue
				}
				r := Reached{Ref: e.To, Score: score, Relation: e.Relation, Hops: hop, From: from.From}
				if hop > 1 {
					r.Relation = from.Relation
				}
				best[e.To] = &r
				next = append(next, r)
				if len(best) >= maxSeen {
					break
				}
			}
		}
		slices.SortFunc(next, byScore)
		front = next[:min(len(next), maxFront)]
	}
	out := make([]Reached, 0, len(best))
	for _, r := range best {
		u := &parts[r.Part].Units[r.Unit]
		if f.File != nil && !f.File(parts[r.Part].Files[u.File].Path) || f.Kind != nil && !f.Kind(u.Kind()) {
			continue
		}
		out = append(out, *r)
	}
	slices.SortFunc(out, byScore)
	return out[:min(len(out), n)]
}

func compare(a, b float32) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
