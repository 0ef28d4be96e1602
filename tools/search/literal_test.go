package search

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A finder finds what the standard library finds, at every alignment and
// length, in both cases, and with and without wide registers.
func TestFinder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 400)
	for range 3000 {
		for i := range text {
			text[i] = "abABxk@`[{"[r.IntN(10)]
		}
		data := text[r.IntN(70) : 70+r.IntN(330)]
		n := needle{fold: r.IntN(2) == 0}
		for range 1 + r.IntN(4) {
			n.text += string("abxk@"[r.IntN(5)])
		}
		hay := data
		if n.fold {
			hay = bytes.ToLower(data)
		}
		f := newFinder(n)
		f.reset(data)
		for from := 0; from < len(data); {
			want := len(data)
			if i := bytes.Index(hay[from:], []byte(n.text)); i >= 0 {
				want = from + i
			}
			got := f.index(from)
			if got != want {
				t.Fatalf("%q, fold %v in %q from %d: %d, want %d", n.text, n.fold, data, from, got, want)
			}
			if places := len(data) - f.off; places > 0 {
				if a, b := f.pair.index(data, places), f.indexGeneric(data, places); a != b {
					t.Fatalf("pair %+v in %q: %d and %d", f.pair, data, a, b)
				}
			}
			from = got + 1
		}
	}
}

// Text in any letter case is found in the lines in which package regexp finds
// it: also where a letter has a form beyond ASCII, and next to other letters.
func TestFoldedLiterals(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	letters := []rune("kKsSaAbx_ \u212a\u017f\u0130i\u00e9\u00c9")
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	found := 0
	for range 4000 {
		literal := text(1 + r.IntN(5))
		p, err := compilePattern(literal, true, true)
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{text(r.IntN(40)), strings.ToUpper(literal) + text(3), text(3) + strings.ToLower(literal), text(300)}
		m := newMatcher(t.Context(), p)
		m.reset([]byte(strings.Join(lines, "\n")))
		var got []string
		for from := 0; ; {
			l, ok := m.next(from)
			if !ok {
				break
			}
			got, from = append(got, string(m.data[l.start:l.end])), l.end+1
		}
		re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(literal))
		want := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !re.MatchString(line) })
		if found += len(want); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", literal, got, want)
		}
	}
	if found < 4000 {
		t.Errorf("only %d lines to find", found)
	}
}

func BenchmarkFinder(b *testing.B) {
	data := []byte(strings.Repeat("func (r *Reader) Read(p []byte) (n int, err error) { return r.in.Read(p) }\n", 1<<10))
	for name, n := range map[string]needle{"absent": {text: "zqxjkvwzz"}, "common bytes": {text: "intern"}, "either case": {text: "internet", fold: true}} {
		b.Run(name, func(b *testing.B) {
			f := newFinder(n)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				f.reset(data)
				if f.index(0) != len(data) {
					b.Fatal("found")
				}
			}
		})
	}
}
