package dfa

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

func compile(t testing.TB, expr string, stripR bool) (*regexp.Regexp, *Program) {
	t.Helper()
	re, p, err := compiled(expr, stripR)
	if err != nil {
		t.Fatal(err)
	}
	return re, p
}

// compiled fails where there is no such expression, or a large one.
func compiled(expr string, stripR bool) (*regexp.Regexp, *Program, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, nil, err
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, nil, err
	}
	if len(prog.Inst) > 10_000 {
		return nil, nil, errors.New("too large")
	}
	return re, Compile(prog, stripR), nil
}

// check compares the lines that are found with those that regexp matches. It
// returns false when the matcher gave up.
func check(t *testing.T, re *regexp.Regexp, m *Matcher, data []byte, stripR bool) bool {
	t.Helper()
	var want, got []int // where the lines begin
	for from := 0; from < len(data); {
		to := len(data)
		if n := bytes.IndexByte(data[from:], '\n'); n >= 0 {
			to = from + n
		}
		line := data[from:to]
		if stripR {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if re.Match(line) {
			want = append(want, from)
		}
		from = to + 1
	}
	for from := 0; from < len(data); {
		at, ok := m.Find(data, from)
		if !ok || at == len(data) {
			if !ok {
				return false
			}
			break
		}
		got = append(got, from+bytes.LastIndexByte(data[from:at], '\n')+1)
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			break
		}
		from = at + n + 1
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Fatalf("%q in %q: lines at %v, regexp says %v", re, data, got, want)
	}
	return true
}

var exprs = []string{
	`a`, `^`, `$`, `^$`, `a*`, `a|b`, `^a`, `a$`, `^a$`, `\ba`, `a\b`, `\Ba\B`, `\b`, `\B`, `x*`, `(?i)kelvin`, `(?i)s+`, `.`, `.*`, `(?s).`, `[^a]`,
	`[a-z]+_\d{4}x\d+`, `\w+\s*=\s*\w+\[\d+\]`, `(get|put|set)_[a-z]+_(irq|dma)`, `é+`, `[é-ü]x`, `\x{FFFD}`, `[^\x00-\x7f]`, `\p{Greek}+`, `a.c`,
	`\r`, `\s$`, `a\r?$`, `(a+)+$`, `(a|aa)*b`, `a{2,5}b{0,3}`, `\Aab\z`, `(?m)^b`, `(?m:a$)`, `(^|x)a($|y)`, `\bfoo\b.*\bbar\b`, `[[:alpha:]]\d`, `(|a)b`, `()`, `[^\n]x`, `\D\W\S`,
}

var texts = []string{
	"", "\n", "a", "a\n", "\n\na\n", "ab\nba\n\nc", "a\r\nb\r\n", "\r\n\r\n", "a\r", "\ra", "a\r\r\n", "foo bar\nfoobar\n foo_bar bar", "Kelvin \u212aELVIN\n\u017f\n",
	"été\nüx\nx", "\xff\n\xffa\n\xc3\n\xc3\xa9", "\x00a", "get_my_irq set_dma\nput_x_dma", "abc_1234x5\nA_1234x5 = b[12]", "αβγ a.c\na\u00e9c a\nc", "aaaaaaaaab\naaaaaaac",
}

func TestSameAsRegexp(t *testing.T) {
	for _, expr := range exprs {
		for _, stripR := range []bool{true, false} {
			re, p := compile(t, expr, stripR)
			m := p.New()
			for range 2 { // the second time from memory
				for _, text := range texts {
					if !check(t, re, m, []byte(text), stripR) {
						t.Errorf("%q gave up", expr)
					}
				}
			}
		}
	}
}

// More states than there are pairs for, and states that are dropped on the way.
func TestManyStates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const letters = "aaabbbbaabbbbabaabababaaababbabbabaaaabbbabababbbbababbbabbaaabbabbabc\r\n\xe9"
	for _, c := range []struct {
		expr    string
		dropped bool
	}{{`a[ab]{9}b[ab]{0,3}c$`, false}, {`a[ab]{15}b[ab]{0,3}c$`, true}} {
		for _, stripR := range []bool{true, false} {
			re, p := compile(t, c.expr, stripR)
			m := p.New()
			for range 40 {
				text := make([]byte, 4<<10)
				for i := range text {
					text[i] = letters[r.IntN(len(letters))]
				}
				if !check(t, re, m, text, stripR) {
					t.Fatalf("%s: it gave up", c.expr)
				}
			}
			if room := (int(start) + maxPaired<<p.shift) << p.shift; len(m.pairs) != room {
				t.Errorf("%s: %d pairs, not %d", c.expr, len(m.pairs), room)
			}
			if len(m.states) < 2*maxPaired || c.dropped != (m.age > 1) {
				t.Errorf("%s: %d states, dropped %d times", c.expr, len(m.states), m.age-1)
			}
		}
	}
}

func FuzzSameAsRegexp(f *testing.F) {
	for i, expr := range exprs {
		f.Add(expr, texts[i%len(texts)]+texts[(i+7)%len(texts)], i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, expr, text string, stripR bool) {
		if len(expr) > 200 || len(text) > 1000 {
			return
		}
		re, p, err := compiled(expr, stripR)
		if err != nil {
			return
		}
		check(t, re, p.New(), []byte(text), stripR)
	})
}

// What a matcher remembers is bounded, and when remembering doesn't help it
// says so.
func TestMemoryIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	_, p := compile(t, `a[ab]{18}b[ab]{0,3}x`, true)
	m := p.New()
	gave := false
	for range 400 {
		text := make([]byte, 64<<10)
		for i := range text {
			text[i] = "ab"[r.IntN(2)]
		}
		if _, ok := m.Find(text, 0); !ok {
			gave = true
			break
		}
		if m.used > 2*maxBytes || len(m.wide) > maxWide {
			t.Fatalf("%d bytes, %d steps", m.used, len(m.wide))
		}
	}
	if !gave {
		t.Error("it never gave up")
	}
	if _, ok := m.Find([]byte("more"), 0); ok {
		t.Error("it has forgotten that it gave up")
	}
	// Source text needs few states.
	_, p = compile(t, `[a-z]+_\d{4}x\d+`, true)
	m = p.New()
	text := []byte(strings.Repeat("static int foo_1234 = bar_12x5; é\u212a\n", 1000))
	if at, ok := m.Find(text, 0); !ok || at != len(text) || m.used > 64<<10 {
		t.Errorf("%d, %v, %d bytes", at, ok, m.used)
	}
	// Neither do all characters that there are.
	var all strings.Builder
	for c := rune(0x80); c < 0x20000; c++ {
		all.WriteRune(c)
	}
	if at, ok := m.Find([]byte(all.String()), 0); !ok || at != all.Len() || len(m.wide) > maxWide {
		t.Errorf("%d, %v, %d steps", at, ok, len(m.wide))
	}
}

func BenchmarkFind(b *testing.B) {
	const line = "\tif (unlikely(ret = foo_bar(dev->priv, 0x1234, &x[12])) < 0) return -EINVAL; /* comment */\n"
	r := rand.New(rand.NewPCG(1, 2))
	chance := make([]byte, len(line)*2000)
	for i := range chance {
		chance[i] = "ab"[r.IntN(2)]
	}
	source := strings.Repeat(line, 2000)
	for _, c := range []struct{ name, expr, text string }{
		{"source", `[a-z]+_\d{4}x\d+`, source},
		{"source", `[a-z]+\s+[a-z]+\s*\([^)]*\)\s*$`, source},
		{"source", `\w+\s*=\s*\w+\[\d+\]\s*\+`, source},
		{"many classes", `(get|put|set)_[a-z]+_(irq|dma)q`, source},
		{"many states", `a[ab]{9}b[ab]{0,3}c$`, string(chance)},
		{"short lines", `[a-z]+_\d{4}x\d+`, strings.Repeat("if x {\r\n\r\n}\r\n", 12000)},
		{"wide", `[a-z]é[0-9]+x`, strings.Repeat("é", len(source)/2)},
	} {
		b.Run(c.name+"/"+c.expr, func(b *testing.B) {
			_, p := compile(b, c.expr, true)
			m, text := p.New(), []byte(c.text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Find(text, 0)
			}
		})
	}
}
