package main

import (
	"context"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// meaning answers with the vectors of an endpoint. It asks only for those of the
// first hits of each question, so a set takes minutes where all functions of its
// repositories would take days. So units that only vectors find don't count.
type meaning struct {
	client  *embed.Client
	weight  float32
	vectors *embed.Vectors
}

func newMeaning(o embed.Options, weight float64) (*meaning, error) {
	c, err := embed.New(o)
	return &meaning{c, float32(weight), embed.NewVectors()}, err
}

// ask answers a question about a state with these files.
func (m *meaning) ask(ctx context.Context, r *rank.Ranker, seg *segment.Segment, past *history.History, files map[string][]byte, question string) (retrieval.Answer, error) {
	hits, _ := r.Search(r.Read(question), rank.Project{Parts: []rank.Part{{Segment: seg}}, History: past}, rank.Filter{}, 2*depth, 0)
	keys := map[rank.Ref]embed.Key{}
	var missing []string
	for _, h := range hits[:min(len(hits), rank.Window)] {
		text := index.UnitText(seg, h.Unit, files[seg.Files[seg.Units[h.Unit].File].Path])
		keys[h.Ref] = embed.KeyOf(text)
		if _, ok := m.vectors.Find(keys[h.Ref]); !ok && text != "" {
			missing = append(missing, text)
		}
	}
	for batch := range slices.Chunk(missing, embed.MaxBatch) {
		got, err := m.client.Embed(ctx, embed.Document, batch)
		if err != nil {
			return retrieval.Answer{}, err
		}
		of := make([]embed.Key, len(batch))
		for i, text := range batch {
			of[i] = embed.KeyOf(text)
		}
		if err := m.vectors.Add(of, got); err != nil {
			return retrieval.Answer{}, err
		}
	}
	asked, err := m.client.Embed(ctx, embed.Query, []string{question})
	if err != nil {
		return retrieval.Answer{}, err
	}
	near, err := m.vectors.Similarity(asked[0])
	if err != nil {
		return retrieval.Answer{}, err
	}
	a := retrieval.Answer{Units: []retrieval.Found{}}
	for _, h := range rank.Blend(hits, func(r rank.Ref) (float32, bool) {
		id, _ := m.vectors.Find(keys[r])
		return near(id)
	}, nil, m.weight) {
		if u := &seg.Units[h.Unit]; u.Kind() != segment.FileKind {
			a.Units = append(a.Units, foundUnit(seg, h.Unit))
		}
	}
	return a, nil
}
