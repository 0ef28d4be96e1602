package main

import (
	"slices"
	"testing"
)

// tangle makes a graph of files a, b, c, … with the arrows given as pairs.
func tangle(files int, arrows ...string) *graph {
	g := &graph{}
	for i := range files {
		g.names = append(g.names, string(rune('a'+i)))
		g.uses = append(g.uses, map[int]bool{})
	}
	for _, a := range arrows {
		g.uses[a[0]-'a'][int(a[1]-'a')] = true
	}
	return g
}

func TestOrder(t *testing.T) {
	for name, c := range map[string]struct {
		g  *graph
		up int
	}{
		"none":                 {tangle(3), 0},
		"a chain":              {tangle(4, "dc", "cb", "ba"), 0},
		"all from the last":    {tangle(4, "da", "db", "dc", "ab", "ac", "bc"), 0},
		"two use each other":   {tangle(2, "ab", "ba"), 1},
		"a circle":             {tangle(4, "ab", "bc", "cd", "da"), 1},
		"two circles, one arc": {tangle(4, "ab", "ba", "cd", "dc", "ac"), 2},
	} {
		order := c.g.order()
		if sorted := slices.Sorted(slices.Values(order)); len(sorted) != len(c.g.names) || len(slices.Compact(sorted)) != len(order) {
			t.Errorf("%s: order %v", name, order)
		}
		if up := c.g.up(order); len(up) != c.up {
			t.Errorf("%s: %d arrows run up in %v, want %d", name, len(up), order, c.up)
		}
	}
}

// TestRead: a file has an arrow to each file whose declarations it uses, methods
// and fields among them.
func TestRead(t *testing.T) {
	pkgs, exports, err := list(t.Context(), []string{"./testdata/three"})
	if err != nil || len(pkgs) != 1 {
		t.Fatal(pkgs, err)
	}
	g, err := read(pkgs[0], exports)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for from, to := range g.uses {
		for n := range to {
			got[g.names[from]+" "+g.names[n]] = true
		}
	}
	want := []string{"caller.go method.go", "caller.go type.go", "method.go type.go"}
	if len(got) != len(want) || slices.ContainsFunc(want, func(w string) bool { return !got[w] }) {
		t.Errorf("%v, want %v", got, want)
	}
}
