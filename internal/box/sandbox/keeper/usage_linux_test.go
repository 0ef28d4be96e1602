package keeper

import (
	"testing"
	"time"
)

// TestTally: what processes use counts once, also that of those whose parent never waits.
func TestTally(t *testing.T) {
	const s = time.Second
	at := func(pid int, own, ended time.Duration) used {
		return used{id: identity{pid, 0}, own: own, ended: ended}
	}
	for _, c := range []struct {
		name  string
		looks [][]used
		want  time.Duration
	}{
		{"grows", [][]used{{at(1, s, 5*s)}, {at(1, 2*s, 5*s), at(2, 3*s, 0)}, {at(1, 2*s, 5*s), at(2, 4*s, 0)}}, 5 * s},
		{"waited for", [][]used{{at(1, 0, 0)}, {at(1, 0, 0), at(2, 3*s, 0)}, {at(1, 0, 4*s)}}, 4 * s},
		{"never waited for", [][]used{{at(1, 0, 0)}, {at(1, 0, 0), at(2, 3*s, 0)}, {at(1, 0, 0), at(3, 3*s, 0)}, {at(1, 0, 0), at(4, 3*s, 0)}}, 9 * s},
		{"unseen, but waited for", [][]used{{at(1, 0, 0)}, {at(1, 0, 7*s)}}, 7 * s},
		{"with its children", [][]used{{at(1, 0, 0)}, {at(1, 0, 0), at(2, s, 2*s), at(3, s, 0)}, {at(1, 0, 5*s)}}, 5 * s},
		{"the number again", [][]used{{at(1, 0, 0)}, {at(1, 0, 0), at(2, 3*s, 0)}, {at(1, 0, 0), used{id: identity{2, 1}, own: s}}}, 4 * s},
	} {
		var sum tally
		var got time.Duration
		for _, look := range c.looks {
			got = sum.add(look)
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
