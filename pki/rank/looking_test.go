package rank_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// TestLater: what the rarer terms put first has the score that it would have if
// the common ones had been looked at everywhere.
func TestLater(t *testing.T) {
	full, few := rank.Default(), rank.Default()
	full.Unit, full.File, few.Unit, few.File = rank.Judge{}, rank.Judge{}, rank.Judge{}, rank.Judge{}
	full.FewPlaces, few.FewPlaces = 1<<30, 1<<30 // none is left out
	few.FirstPlaces = 3000
	p := rank.Project{Parts: spread(madeUp(800, 60), 5)}
	later := 0
	for _, text := range madeUpQuestions {
		q := rank.New(full).Read(text)
		all, allFiles := rank.New(full).Candidates(q, p, rank.Filter{}, 1<<20, 1<<20)
		units, files := rank.New(few).Candidates(q, p, rank.Filter{}, 0, 0)
		if len(units) == 0 || len(files) == 0 {
			t.Fatalf("%q: %d units and %d files", text, len(units), len(files))
		}
		for what, c := range map[string]struct{ all, found []rank.Candidate }{"units": {all, units}, "files": {allFiles, files}} {
			at := 0
			for i := range c.found {
				// Each is there as it is among all, and in their order.
				n := slices.Index(c.all[at:], c.found[i])
				if n < 0 {
					t.Fatalf("%q: number %d of the %s is not as it is among all", text, i, what)
				}
				at += n + 1
			}
			if at > len(c.found) {
				later++ // something was not found without the common ones: it was not looked at
			}
		}
	}
	if later == 0 {
		t.Error("no question has common terms")
	}
}

// TestLaterAlone: where the rarer terms do not find enough, the common ones do.
func TestLaterAlone(t *testing.T) {
	full, few := rank.Default(), rank.Default()
	full.Unit, full.File, few.Unit, few.File = rank.Judge{}, rank.Judge{}, rank.Judge{}, rank.Judge{}
	full.FewPlaces, few.FewPlaces = 1<<30, 1<<30
	few.FirstPlaces = 1
	p := rank.Project{Parts: spread(madeUp(800, 3), 5)}
	q := rank.New(full).Read("tensor. lease.")
	for what, f := range map[string]rank.Filter{
		"all": {}, "below": {File: func(name string) bool { return strings.HasPrefix(name, "ticket/") }},
	} {
		want, wantFiles := rank.New(full).Candidates(q, p, f, 0, 0)
		rare, rareFiles := rank.New(full).Candidates(rank.New(full).Read("tensor."), p, f, 0, 0)
		if len(rare) >= len(want) && len(rareFiles) >= len(wantFiles) {
			t.Fatalf("%s: the rarer term finds %d units and %d files, with the other %d and %d", what, len(rare), len(rareFiles), len(want), len(wantFiles))
		}
		got, gotFiles := rank.New(few).Candidates(q, p, f, 0, 0)
		if !slices.Equal(got, want) || !slices.Equal(gotFiles, wantFiles) {
			t.Errorf("%s: %d units and %d files, want %d and %d", what, len(got), len(gotFiles), len(want), len(wantFiles))
		}
	}
}

// TestLaterKind: where the rarer terms find enough, but little of the kind that is
// asked for, the common ones find the rest of it.
func TestLaterKind(t *testing.T) {
	full, few := rank.Default(), rank.Default()
	full.Unit, full.File, few.Unit, few.File = rank.Judge{}, rank.Judge{}, rank.Judge{}, rank.Judge{}
	full.FewPlaces, few.FewPlaces = 1<<30, 1<<30
	few.FirstPlaces = 1
	files := madeUp(800, 6)
	for i := 0; i < len(files); i += 16 {
		files[i].text += "type lease_made interface { lease() }\n"
	}
	p := rank.Project{Parts: spread(files, 5)}
	for text, kinds := range map[string][]pki.Kind{"tensor. lease.": {pki.Interface, pki.Enum}, "lease tensor ledger": {pki.Interface}} {
		q := rank.New(full).Read(text)
		f := rank.Filter{Kind: func(k pki.Kind) bool { return slices.Contains(kinds, k) }}
		want, _ := rank.New(full).Candidates(q, p, f, 0, 0)
		got, gotFiles := rank.New(few).Candidates(q, p, f, 0, 0)
		if len(want) != 50 || !slices.Equal(got, want) {
			t.Errorf("%q: %d units, want %d", text, len(got), len(want))
		}
		for _, c := range got {
			if kind := p.Parts[c.Part].Units[c.ID].Kind(); !slices.Contains(kinds, kind) {
				t.Errorf("%q: a %s", text, kind)
			}
		}
		if len(gotFiles) != 80 { // whatever they have
			t.Errorf("%q: %d files", text, len(gotFiles))
		}
		below := rank.Filter{Kind: f.Kind, File: func(name string) bool { return strings.HasPrefix(name, "router/") }}
		want, wantFiles := rank.New(full).Candidates(q, p, below, 0, 0)
		got, gotFiles = rank.New(few).Candidates(q, p, below, 0, 0)
		if len(want) == 0 || len(wantFiles) == 80 || !slices.Equal(got, want) || !slices.Equal(gotFiles, wantFiles) {
			t.Errorf("%q below router: %d units and %d files, want %d and %d", text, len(got), len(gotFiles), len(want), len(wantFiles))
		}
		none := rank.Filter{Kind: func(k pki.Kind) bool { return k == pki.Enum }}
		if got, gotFiles := rank.New(few).Candidates(q, p, none, 0, 0); len(got) != 0 || len(gotFiles) != 80 {
			t.Errorf("%q: %d enums, %d files", text, len(got), len(gotFiles))
		}
	}
}

// TestTerms: of very many words, and of what is in very many units, the rarest
// count.
func TestTerms(t *testing.T) {
	w := rank.Default()
	w.Unit, w.File, w.FewPlaces = rank.Judge{}, rank.Judge{}, 1<<30
	p := rank.Project{Parts: spread(madeUp(200, 20), 1)}
	found := func(w rank.Weights, text string) []rank.Candidate {
		r := rank.New(w)
		units, _ := r.Candidates(r.Read(text), p, rank.Filter{}, 0, 0)
		return units
	}
	const rare, text = "cursor. tensor.", "cursor. tensor. lease."
	all := found(w, text)
	w.Terms = 2
	if two := found(w, text); slices.Equal(two, all) || !slices.Equal(two, found(w, rare)) {
		t.Error("two terms of three are not the rarest")
	}
	w.Terms, w.FewPlaces, w.Places = 60, 1, 0
	if one := found(w, text); !slices.Equal(one, found(w, "tensor")) {
		t.Error("where one term is too many already, the rarest is not what counts")
	}
}
