package index

import (
	"context"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

const (
	// near is how many units the fusion takes of each order.
	near = 60
	// rankDamping is the constant of reciprocal rank fusion: Cormack, Clarke and
	// Büttcher, SIGIR 2009.
	rankDamping = 60
)

// nearest returns the units that mean what a question asks, closest first, and
// how many files with text that is not the disk's have not all their vectors. A
// failure leaves the answer to the words.
func (x *Index) nearest(ctx context.Context, text string, view workspace.Files, snap snapshot, f rank.Filter) (refs []rank.Ref, without int) {
	m := x.meaning
	if m == nil || m.Client == nil || m.now().State == meaningFailing {
		return nil, 0
	}
	if m.meet(view, snap); m.vectors.Load().Len() == 0 {
		return nil, 0
	}
	without = m.without(snap) // before it is looked: some may come meanwhile
	asked, cancel := context.WithTimeout(ctx, m.Patience)
	defer cancel()
	vectors, err := m.Client.Embed(asked, embed.Query, []string{m.Hide(text[:min(len(text), maxPiece)])})
	var found []embed.Near[rank.Ref]
	if err == nil {
		found, err = embed.Nearest(m.vectors.Load(), vectors[0], near, func(yield func(rank.Ref, embed.ID)) { m.each(snap.parts, f, yield) })
	}
	if err != nil {
		if ctx.Err() == nil {
			m.fail(err)
			m.hurry() // to find out when it is back
		}
		return nil, 0
	}
	for _, n := range found {
		refs = append(refs, n.Of)
	}
	return refs, without
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

// fused is a hit of either order.
type fused struct {
	rank.Hit
	words, meaning bool
}

// byWords are hits without vectors.
func byWords(words []rank.Hit) []fused {
	out := make([]fused, len(words))
	for i, h := range words {
		out[i] = fused{Hit: h, words: true}
	}
	return out
}

// fuse puts two orders together by the reciprocals of their ranks.
func fuse(words []rank.Hit, meaning []rank.Ref) []fused {
	at := map[rank.Ref]int{}
	var out []fused
	for i, h := range words {
		h.Score = 1 / float32(rankDamping+i+1)
		at[h.Ref] = len(out)
		out = append(out, fused{Hit: h, words: true})
	}
	for i, r := range meaning {
		score := 1 / float32(rankDamping+i+1)
		if k, ok := at[r]; ok {
			out[k].Score += score
			out[k].meaning = true
			continue
		}
		out = append(out, fused{Hit: rank.Hit{Ref: r, Score: score}, meaning: true})
	}
	slices.SortStableFunc(out, func(a, b fused) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	for i := range out {
		out[i].Score *= rankDamping // about 1 for the first of one order
	}
	return out
}
