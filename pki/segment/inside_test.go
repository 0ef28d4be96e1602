package segment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// common is a segment in which some words are in most of 3,000 units, some in
// every third, and some in few.
func common() *Segment {
	b := NewBuilder(false)
	for file := range 30 {
		var src strings.Builder
		for i := range 100 {
			fmt.Fprintf(&src, "func Walk%d_%d() { lease()", file, i)
			if i%3 == 0 {
				src.WriteString("; renew()")
			}
			if i%50 == 0 {
				src.WriteString("; revoke()")
			}
			src.WriteString(" }\n")
		}
		text := []byte(src.String())
		b.Add(File{Path: fmt.Sprintf("f%d.go", file)}, text, scan.Units("go", text, nil), nil)
	}
	return b.Finish()
}

// TestInside: in spans there are the same places as one finds by going through
// all of them, whether the segment was built, read back or merged.
func TestInside(t *testing.T) {
	built := common()
	read, _, err := Decode(built.Encode(nil))
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(5, 6))
	for what, s := range map[string]*Segment{
		"built": built, "read": read,
		"merged": Merge([]Source{{Segment: built, Dead: func(file uint32) bool { return file%5 == 0 }}, {Segment: common()}}),
	} {
		for _, word := range []string{"lease", "renew", "revoke", "walk", "go"} {
			p, ok := s.Postings(terms.Word(word))
			if !ok {
				t.Fatalf("%s: %s is nowhere", what, word)
			}
			if has := len(p.marks) > 0; has != (p.Units >= marked) {
				t.Fatalf("%s: %s is in %d units and has %d marks", what, word, p.Units, len(p.marks))
			}
			for range 200 {
				var spans []Span
				for at := uint32(chance.IntN(900)); int(at) < len(s.Units) && len(spans) < 9; at += 1 + uint32(chance.IntN(900)) {
					sp := Span{at, min(at+1+uint32(chance.IntN(150)), uint32(len(s.Units)))}
					spans, at = append(spans, sp), sp.End
				}
				var want, got []Posting
				p.Each(func(unit uint32, where byte) bool {
					if slices.ContainsFunc(spans, func(sp Span) bool { return sp.First <= unit && unit < sp.End }) {
						want = append(want, Posting(unit<<8|uint32(where)))
					}
					return true
				})
				in, block := p.Inside(spans), make([]Posting, 1+chance.IntN(100))
				for n := in.Read(block); n > 0; n = in.Read(block) {
					got = append(got, block[:n]...)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: %s in %v: %d places, want %d", what, word, spans, len(got), len(want))
				}
			}
		}
	}
}

// TestInsidePassesOver: what is far before the spans is not read.
func TestInsidePassesOver(t *testing.T) {
	s := common()
	p, _ := s.Postings(terms.Word("lease"))
	p.data = slices.Clone(p.data)
	for i := range len(p.data) / 2 {
		p.data[i] = 0xff
	}
	in, block := p.Inside([]Span{{2500, 2501}}), make([]Posting, 64)
	if n := in.Read(block); n != 1 || block[0].Unit() != 2500 {
		t.Errorf("%d places, the first in %d; want one in 2500", n, block[0].Unit())
	}
	c := p.Cursor()
	if n := c.Read(block); n > 0 && block[0].Unit() < 2500 {
		t.Errorf("what was overwritten can be read, which proves nothing")
	}
}
