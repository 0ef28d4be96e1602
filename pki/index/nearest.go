package index

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// near is how many units are taken by their vectors alone.
const near = 60

// closeness is what the vectors say about a question.
type closeness struct {
	near       []rank.Ref                     // the closest units, best first
	similarity func(rank.Ref) (float32, bool) // of any unit that has a vector
	weight     float32
	without    int // files with text that is not the disk's and not all vectors
}

// closest returns the units that mean what a question asks. A failure leaves the
// answer to the words.
func (x *Index) closest(ctx context.Context, text string, view workspace.Files, snap snapshot, f rank.Filter) closeness {
	m := x.meaning
	if m == nil || m.Client == nil || m.now().State == meaningFailing {
		return closeness{}
	}
	if m.meet(view, snap); m.vectors.Load().Len() == 0 {
		return closeness{}
	}
	without := m.without(snap) // before the search: some may come meanwhile
	asked, cancel := context.WithTimeout(ctx, m.Patience)
	defer cancel()
	c, err := m.compare(asked, text, snap, f)
	if err != nil {
		if ctx.Err() == nil {
			m.fail(err)
			m.hurry() // to find out when it is back
		}
		return closeness{}
	}
	c.without = without
	return c
}

// compare asks for the vector of a question and compares it with all others.
func (m *meaning) compare(ctx context.Context, text string, snap snapshot, f rank.Filter) (closeness, error) {
	asked, err := m.Client.Embed(ctx, embed.Query, []string{m.Hide(text[:min(len(text), maxPiece)])})
	if err != nil {
		return closeness{}, err
	}
	vectors := m.vectors.Load()
	found, err := embed.Nearest(vectors, asked[0], near, func(yield func(rank.Ref, embed.ID)) { m.each(snap.parts, f, yield) })
	if err != nil {
		return closeness{}, err
	}
	of, err := vectors.Similarity(asked[0])
	if err != nil {
		return closeness{}, err
	}
	c := closeness{weight: m.Weight, similarity: func(r rank.Ref) (float32, bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		ids := m.idsOf(snap.parts[r.Part].Segment)
		if ids == nil {
			return 0, false
		}
		return of(ids[r.Unit])
	}}
	for _, n := range found {
		c.near = append(c.near, n.Of)
	}
	return c, nil
}

// each yields the units of parts that have vectors and may be hits.
func (m *meaning) each(parts []rank.Part, f rank.Filter, yield func(rank.Ref, embed.ID)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, p := range parts {
		ids := m.idsOf(p.Segment)
		if ids == nil {
			continue
		}
		for file := range p.Files {
			rec := &p.Files[file]
			if p.Dead != nil && p.Dead(uint32(file)) || f.File != nil && !f.File(rec.Path) {
				continue
			}
			for u := rec.First; u < rec.First+rec.Count; u++ {
				if ids[u] != 0 && (f.Kind == nil || f.Kind(p.Units[u].Kind())) {
					yield(rank.Ref{Part: uint32(i), Unit: u}, ids[u])
				}
			}
		}
	}
}
