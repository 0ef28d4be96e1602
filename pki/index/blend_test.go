package index_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// TestQualityWithVectors asks the questions of TestQuality beside models of every
// strength: a model is how far the similarity of the right function lies from the
// others', in standard deviations. One that knows nothing must not cost more than
// half a point of Hit@5, one that knows everything must gain.
func TestQualityWithVectors(t *testing.T) {
	slow.Rare(t) // it indexes the Go distribution
	d := distribution(t)
	seg, r, records := d.seg, rank.New(rank.Default()), slices.Concat(d.questions, d.comments)
	found := make([][]rank.Hit, len(records))
	wanted := make([]map[rank.Ref]bool, len(records))
	for i := range records {
		found[i], _ = r.Search(r.Read(records[i].Queries["full"]), rank.Project{Parts: []rank.Part{{Segment: seg}}}, rank.Filter{}, rank.Window, 1)
		wanted[i] = map[rank.Ref]bool{}
		for _, h := range found[i] {
			wanted[i][h.Ref] = right(seg, h.Unit, &records[i])
		}
	}
	const weight = 0.25 // the setting's default
	hit5 := func(strength float64, rounds int) float64 {
		figures, random := new(retrieval.Figures), rand.New(rand.NewPCG(1, 2))
		for range rounds {
			for i := range records {
				list := rank.Blend(found[i], func(ref rank.Ref) (float32, bool) {
					near := random.NormFloat64()
					if wanted[i][ref] {
						near += strength
					}
					return float32(near), true
				}, nil, weight)
				records[i].Judge(unitsOf(seg, list), new(retrieval.Figures), figures)
			}
		}
		return 100 * figures.Hit5 / float64(figures.N)
	}
	plain := new(retrieval.Figures)
	for i := range records {
		records[i].Judge(unitsOf(seg, rank.Blend(found[i], nil, nil, weight)), new(retrieval.Figures), plain)
	}
	without := 100 * plain.Hit5 / float64(plain.N)
	for _, c := range []struct {
		name     string
		strength float64
		rounds   int // so that chance has no say
		least    float64
	}{{"random", 0, 10, -0.5}, {"weak", 0.5, 10, -0.5}, {"fair", 2, 5, 2}, {"oracle", 100, 1, 10}} {
		with := hit5(c.strength, c.rounds)
		t.Logf("%s: Hit@5 %.1f, without %.1f", c.name, with, without)
		if with < without+c.least {
			t.Errorf("vectors of a %s model: Hit@5 %.1f, without %.1f", c.name, with, without)
		}
	}
}

func right(seg *segment.Segment, unit uint32, r *retrieval.Record) bool {
	file, name := seg.Files[seg.Units[unit].File].Path, seg.Qualified(unit)
	return slices.ContainsFunc(r.Symbols, func(g retrieval.Gold) bool { return g.File == file && g.Qual == name })
}

func unitsOf(seg *segment.Segment, hits []rank.Blended) (a retrieval.Answer) {
	for _, h := range hits {
		if len(a.Units) == 5 {
			break // the rest has no say in Hit@5
		}
		if u := &seg.Units[h.Unit]; u.Kind() != segment.FileKind {
			a.Units = append(a.Units, retrieval.Found{File: seg.Files[u.File].Path, Qual: seg.Qualified(h.Unit), Start: int(u.Start), End: int(u.End)})
		}
	}
	return a
}
