package scan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// TestParsed turns symbols into units: those with a text of their own, with
// what encloses them.
func TestParsed(t *testing.T) {
	src := []byte("/* doc */ class A { int x; void f() { void g() {} } }  int a, b;")
	at := func(text, name string) pki.Symbol {
		start := strings.Index(string(src), text)
		return pki.Symbol{Name: name, StartByte: start, EndByte: start + len(text), NameByte: start + strings.Index(text, name), BodyByte: start + len(text)}
	}
	with := func(s pki.Symbol, kind pki.Kind, container string) pki.Symbol {
		s.Kind, s.Container = kind, container
		return s
	}
	class := with(at("class A { int x; void f() { void g() {} } }", "A"), pki.Class, "")
	class.DocStart, class.DocEnd = 0, 9
	bad := with(at("int a", "a"), pki.Variable, "")
	bad.EndByte = len(src) + 1
	back := with(at("int a", "a"), pki.Variable, "")
	back.NameByte = back.StartByte - 1
	got := Parsed(src, []pki.Symbol{
		class, with(at("int x;", "x"), pki.Field, "A"), with(at("void f() { void g() {} }", "f"), pki.Method, "A"), with(at("void g() {}", "g"), pki.Function, "A.f"),
		with(at("int a, b;", "a"), pki.Variable, ""), with(at("int a, b;", "b"), pki.Variable, ""), bad, back, {Kind: pki.Function},
	}, nil)
	var lines []string
	for _, u := range got {
		lines = append(lines, fmt.Sprintf("%s %s in %q, parent %d, comment %q", u.Kind, u.Called, u.In, u.Parent, u.Doc.Of(src)))
	}
	want := []string{
		`class A in "", parent -1, comment "/* doc */"`, `method f in "A", parent 0, comment ""`,
		`variable a in "", parent -1, comment ""`, `variable b in "", parent -1, comment ""`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got %s", strings.Join(lines, "\n"))
	}
	check(t, "java", src, got)
}

// TestParsedAnything: places that lie anywhere make no unit outside of the text.
func TestParsedAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	src := []byte(strings.Repeat("word\n", 40))
	kept := 0
	for range 2000 {
		var symbols []pki.Symbol
		for range 1 + random.IntN(12) {
			place := func() int { return random.IntN(len(src)+20) - 10 }
			s := pki.Symbol{Name: strings.Repeat("n", random.IntN(30)), Kind: pki.Function, StartByte: place(), EndByte: place(), NameByte: place(), BodyByte: place(), DocStart: place(), DocEnd: place()}
			if random.IntN(2) == 0 { // one that may do
				s.StartByte, s.DocStart, s.DocEnd = random.IntN(len(src)), 0, 0
				s.EndByte = s.StartByte + random.IntN(len(src)-s.StartByte+1)
				s.NameByte, s.BodyByte = s.StartByte, s.EndByte
			}
			symbols = append(symbols, s)
		}
		slices.SortStableFunc(symbols, func(a, b pki.Symbol) int { return a.StartByte - b.StartByte })
		units := Parsed(src, symbols, nil)
		kept += len(units)
		check(t, "go", src, units)
	}
	if kept < 1000 {
		t.Errorf("only %d units", kept)
	}
}
