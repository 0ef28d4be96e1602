package search

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

func runOf(t *testing.T, expr string) runs {
	t.Helper()
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return runsOf(tree)
}

// leastOf writes the least byte of each place.
func leastOf(r []byteSet) string {
	var b strings.Builder
	for i := range r {
		for c := range 256 {
			if r[i].has(byte(c)) {
				b.WriteByte(byte(c))
				break
			}
		}
	}
	return b.String()
}

func TestRequiredRun(t *testing.T) {
	for _, c := range []struct{ expr, best string }{
		{`[a-z]+_\d{4}x\d+`, "a_0000x0"},
		{`\w+\s*=\s*\w+\[\d+\]\s*\+`, "0]"},
		{`[A-F]{2}(\d|x)`, "AA0"},
		{`(a[0-3]|b[2-5])_`, "a0_"},
		{`(q1|z)_`, "1_"}, // of both ends
		{`(z|q1)9`, "19"},
		{`\d{20}`, "00000000000000000"},
		{`(\d_){3,}`, "0_0_0_"},
		{`^\s+\$?z\b`, "z"},
		{`(?i)q[x]`, "QX"},
		{`(?i)k9`, "9"}, // the Kelvin sign is a k
		{`é_9`, "_9"},
		{`.`, ""}, {`.*`, ""}, {`(_9)?`, ""}, {`(_9|)`, ""}, {`[^a]`, ""}, {`\D`, ""}, {`$`, ""}, {`[é-ü]`, ""}, {`x{0,3}`, ""},
	} {
		if got := leastOf(runOf(t, c.expr).best); got != c.best {
			t.Errorf("%s: %q, want %q", c.expr, got, c.best)
		}
	}
	for expr, want := range map[string]bool{`[a-z]+_\d{4}x\d+`: true, `[A-Z]{3}\d`: true, `\w+`: false, `[a-z] [a-z]`: false, ``: false} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := requiredRun(tree) != nil; got != want {
			t.Errorf("%s: rare %v", expr, got)
		}
	}
}

// expression makes one at random.
func expression(r *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "k", "1", "_", "é", ".", "[ab]", "[^a]", `\d`, `\w`, `\s`, `\b`, "^", "$", "[0-2é]", `\B`, "ab", "(?i:ab)", "(?i:ks)", `\x{FFFD}`}
	if depth == 0 || r.IntN(3) == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	sub := func() string { return expression(r, depth-1) }
	switch r.IntN(6) {
	case 0:
		return "(" + sub() + "|" + sub() + ")"
	case 1:
		return "(?:" + sub() + ")" + []string{"*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}"}[r.IntN(7)]
	}
	return sub() + sub()
}

// Whatever matches has the run, and the lines that are found by it are those
// that the automaton finds alone, at the same places.
func TestRunChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	matched, without := 0, 0
	for range 1500 {
		expr := expression(r, 3)
		var text []byte
		for range 200 {
			text = append(text, []string{"a", "b", "A", "k", "\u212a", "s", "1", "2", "_", "é", " ", "\xff", "\r", "\n"}[r.IntN(14)]...)
		}
		re, best := regexp.MustCompile(expr), runOf(t, expr).best
		if best == nil {
			continue
		}
		f := newFinder(needle{sets: best})
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			f.reset(line)
			switch found := f.index(0) < len(line); {
			case re.Match(line) && !found:
				t.Fatalf("%s: %q matches without %q", expr, line, leastOf(best))
			case re.Match(line):
				matched++
			case !found:
				without++
			}
		}
		p, err := compilePattern(expr, false, false)
		if err != nil || p.auto == nil {
			continue // it needs a line break, or is a plain text
		}
		p.needles, p.likely = nil, false
		want := lines(t, p, text)
		p.needles, p.likely = []needle{{sets: best}}, true
		if got := lines(t, p, text); !slices.Equal(want, got) {
			t.Fatalf("%s in %q: by the run %v, without %v", expr, text, got, want)
		}
	}
	if matched < 1000 || without < 1000 {
		t.Errorf("the control: %d lines match, %d have no run", matched, without)
	}
}

// lines returns what matches.
func lines(t *testing.T, p *pattern, text []byte) (out []match) {
	t.Helper()
	m := newMatcher(t.Context(), p)
	m.reset(text)
	for l, ok := m.next(0); ok; l, ok = m.next(l.end + 1) {
		out = append(out, l)
	}
	return out
}

// A run that is in every line is looked for no longer, which changes nothing.
func TestRunThatHelpsNothing(t *testing.T) {
	p, err := compilePattern(`[a-z]+_\d+x(y|$)`, false, false)
	if err != nil || !p.likely {
		t.Fatal(p, err)
	}
	text := []byte(strings.Repeat("a_1x_2x_3\n", 20_000) + "is_1x\nis_1xy\n")
	m := newMatcher(t.Context(), p)
	m.reset(text)
	l, ok := m.next(0)
	if at := len(text) - len("is_1x\nis_1xy\n"); !ok || l.start != at || m.finders != nil {
		t.Errorf("%+v %v, want the line at %d; still looking: %v", l, ok, at, m.finders != nil)
	}
	m = newMatcher(t.Context(), p)
	m.reset([]byte(strings.Repeat("nothing of the kind\n", 20_000)))
	if _, ok := m.next(0); ok || m.finders == nil {
		t.Error("the control: what is nowhere is looked for on and on")
	}
	both := lines(t, p, text)
	p.needles, p.likely = nil, false
	if alone := lines(t, p, text); !slices.Equal(both, alone) || len(both) != 2 {
		t.Errorf("%v, without a run %v", both, alone)
	}
}
