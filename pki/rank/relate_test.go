package rank_test

import (
	"fmt"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// TestUsesOverAllParts: that a name is used everywhere, which says nothing, is
// seen however the files are spread over segments.
func TestUsesOverAllParts(t *testing.T) {
	for users, says := range map[int]bool{300: true, 500: false} {
		files := []written{{path: "a.go", text: "func lease() {}\n"}}
		for i := range users {
			files = append(files, written{path: fmt.Sprintf("u%03d.go", i), text: fmt.Sprintf("func holder%d() { lease() }\n", i)})
		}
		for _, segments := range []int{1, 2, 5} {
			all := spread(files, segments)
			r := rank.New(rank.Default())
			units, _ := r.Candidates(r.Read("what does lease() do"), rank.Project{Parts: all}, rank.Filter{}, 10, 10)
			found := false
			for _, c := range units {
				if all[c.Part].Name(c.ID) == "lease" {
					found = true
					if got := c.Features[rank.UnitUsed] > 0; got != says {
						t.Errorf("%d users in %d segments: lease is used, it says: %v, want %v", users, segments, got, says)
					}
				}
			}
			if !found {
				t.Errorf("%d users in %d segments: lease is no candidate", users, segments)
			}
		}
	}
}
