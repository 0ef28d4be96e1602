package diff

import (
	"math/rand"
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	text := func(s string) string { return strings.ReplaceAll(s, " ", "\n") + "\n" }
	for _, c := range []struct {
		name, base, ours, theirs, want string
		conflict                       bool
	}{
		{name: "only theirs", base: "a b c", ours: "a b c", theirs: "a x c", want: "a x c"},
		{name: "only ours", base: "a b c", ours: "a x c", theirs: "a b c", want: "a x c"},
		{name: "the same", base: "a b c", ours: "a x c", theirs: "a x c", want: "a x c"},
		{name: "apart", base: "a b c d e", ours: "x b c d e", theirs: "a b c d y", want: "x b c d y"},
		{name: "one line between", base: "a b c", ours: "x b c", theirs: "a b y", want: "x b y"},
		{name: "beside each other", base: "a b", ours: "x b", theirs: "a y", conflict: true},
		{name: "the same lines", base: "a b c", ours: "a x c", theirs: "a y c", conflict: true},
		{name: "insertions in one place", base: "a b", ours: "a x b", theirs: "a y b", conflict: true},
		{name: "the same insertion", base: "a b", ours: "a x b", theirs: "a x b", want: "a x b"},
		{name: "part of theirs is done", base: "a b c d e", ours: "x b c d e", theirs: "x b c d y", want: "x b c d y"},
		{name: "deleted and changed", base: "a b c d e", ours: "a d e", theirs: "a b x d e", conflict: true},
		{name: "deleted apart", base: "a b c d e f", ours: "a c d e f", theirs: "a b c d f", want: "a c d f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Merge(text(c.base), text(c.ours), text(c.theirs))
			if ok == c.conflict {
				t.Fatalf("merged: %v (%q)", ok, got)
			}
			if !c.conflict && got != text(c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestMergeHolds: what is merged has what theirs wants, merging again changes
// nothing, and what differs from the base on neither side stays.
func TestMergeHolds(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	random := func(from []string) []string {
		out := append([]string(nil), from...)
		for range 1 + r.Intn(3) {
			at := r.Intn(len(out) + 1)
			line := string(rune('a'+r.Intn(4))) + "\n"
			switch {
			case at == len(out) || r.Intn(3) == 0:
				out = append(out[:at], append([]string{line}, out[at:]...)...)
			case r.Intn(2) == 0:
				out = append(out[:at], out[at+1:]...)
			default:
				out[at] = line
			}
		}
		return out
	}
	merged := 0
	for range 20000 {
		var base []string
		for range r.Intn(12) {
			base = append(base, string(rune('a'+r.Intn(4)))+"\n")
		}
		b, o, th := strings.Join(base, ""), strings.Join(random(base), ""), strings.Join(random(base), "")
		m, ok := Merge(b, o, th)
		if !ok {
			continue
		}
		merged++
		if again, ok := Merge(b, m, th); !ok || again != m {
			t.Fatalf("base %q ours %q theirs %q: merged %q, and again %q (%v)", b, o, th, m, again, ok)
		}
	}
	if merged < 2000 {
		t.Fatalf("only %d merged", merged)
	}
}
