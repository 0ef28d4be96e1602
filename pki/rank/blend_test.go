package rank_test

import (
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// some are n hits of the words, best first, each half as likely as the one before.
func some(n int) []rank.Hit {
	out := make([]rank.Hit, n)
	score := float32(8)
	for i := range out {
		out[i] = rank.Hit{Ref: rank.Ref{Unit: uint32(i)}, Score: score}
		score *= 0.8
	}
	return out
}

func units(list []rank.Blended) (out []uint32) {
	for _, b := range list {
		out = append(out, b.Unit)
	}
	return out
}

func TestBlend(t *testing.T) {
	like := func(sims map[uint32]float32, rest float32) func(rank.Ref) (float32, bool) {
		return func(r rank.Ref) (float32, bool) {
			s, ok := sims[r.Unit]
			if !ok {
				s = rest
			}
			return s, s >= -1
		}
	}
	const none = -2 // no vector
	wide := make([]uint32, 70)
	for i := range wide {
		wide[i] = uint32(i)
	}
	for name, c := range map[string]struct {
		hits       int
		similarity func(rank.Ref) (float32, bool)
		near       []rank.Ref
		weight     float32
		want       []uint32
	}{
		"words alone":                         {3, nil, nil, 1, []uint32{0, 1, 2}},
		"all the same":                        {3, like(nil, 0.5), nil, 1, []uint32{0, 1, 2}},
		"no weight":                           {3, like(map[uint32]float32{2: 1}, 0), nil, 0, []uint32{0, 1, 2}},
		"the third is meant":                  {4, like(map[uint32]float32{2: 1}, 0), nil, 1, []uint32{2, 0, 1, 3}},
		"a little weight moves it less":       {4, like(map[uint32]float32{3: 1}, 0), nil, 0.4, []uint32{0, 1, 3, 2}},
		"without a vector nothing moves":      {3, like(map[uint32]float32{2: none}, 0.1), nil, 1, []uint32{0, 1, 2}},
		"one vector says nothing":             {3, like(map[uint32]float32{2: 1}, none), nil, 1, []uint32{0, 1, 2}},
		"found by vectors alone, at the end":  {2, like(nil, 0), []rank.Ref{{Unit: 9}, {Unit: 1}, {Unit: 8}}, 1, []uint32{0, 1, 9, 8}},
		"nothing by words":                    {0, like(nil, 1), []rank.Ref{{Unit: 4}, {Unit: 2}}, 1, []uint32{4, 2}},
		"beyond the window the words' stands": {70, like(map[uint32]float32{60: 1}, 0), nil, 1, wide},
	} {
		got := rank.Blend(some(c.hits), c.similarity, c.near, c.weight)
		if !slices.Equal(units(got), c.want) {
			t.Errorf("%s: %v, want %v", name, units(got), c.want)
		}
		for i, b := range got {
			if i > 0 && b.Score > got[i-1].Score {
				t.Errorf("%s: the score of %d is above that before it", name, b.Unit)
			}
			if near := slices.Contains(c.near, b.Ref); b.Vector != near || b.Words != (int(b.Unit) < c.hits) {
				t.Errorf("%s: %+v", name, b)
			}
		}
	}
}
