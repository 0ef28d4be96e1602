package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The matcher looks at several places in a row; it must stop at those, and only
// at those, where looking at each by itself does.
func TestMatcherStops(t *testing.T) {
	m := &matcher{}
	for _, l := range []string{"ab", "abc", "bca", "--b", "Xy9"} {
		m.add(l, l == "Xy9", 0)
	}
	each := func(s string, from, to int) int {
		for ; from < min(to, len(s)-1); from++ {
			if m.may(s[from], s[from+1]) && (from+2 == len(s) || m.third[s[from+1]]&(1<<(s[from+2]&63)) != 0) {
				return from
			}
		}
		return -1
	}
	r := rand.New(rand.NewPCG(1, 2))
	stops := 0
	for range 3000 {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteByte("abcXy9- "[r.IntN(8)])
		}
		s := b.String()
		to := r.IntN(len(s) + 2)
		for from := 0; from <= len(s); from++ {
			got := m.next(s, from, to)
			if want := each(s, from, to); got != want {
				t.Fatalf("%q from %d to %d: %d, want %d", s, from, to, got, want)
			}
			if got >= 0 {
				stops++
			}
		}
	}
	if stops == 0 {
		t.Error("it never stopped")
	}
}

// The quick look at what follows a short prefix must not lose a token, also not
// one that goes on in the next line.
func TestQuickLookLosesNothing(t *testing.T) {
	quick, slow := New(), New()
	looks := 0
	for i := range slow.rules {
		if slow.rules[i].typ == "airtable-token" {
			slow.rules[i].may = nil
			looks++
		}
	}
	if looks != 1 {
		t.Fatalf("%d rules", looks)
	}
	const token = "patK3v9QzL1xW7mBd.4f0e9c1b7a6d5e3f2c8b9a0d1e7f6c5b4a3d2e1f"
	r := rand.New(rand.NewPCG(3, 4))
	hidden := 0
	for range 2000 {
		s := token
		for range r.IntN(3) {
			at := r.IntN(len(s))
			s = s[:at] + []string{"\n", "\r\n", "\n+  ", " ", "-", "\x1b[0m", "\\\n", "_"}[r.IntN(8)] + s[at:]
		}
		s = "path, " + s + "\npattern"
		got, want := quick.Text(s), slow.Text(s)
		if got != want {
			t.Fatalf("%q:\n%q, want\n%q", s, got, want)
		}
		if got != s {
			hidden++
		}
	}
	if hidden < 200 || hidden == 2000 {
		t.Errorf("%d hidden: the test shows nothing", hidden)
	}
}
