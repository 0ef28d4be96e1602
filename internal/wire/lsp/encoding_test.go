package lsp_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

var encodings = []lsp.Encoding{lsp.UTF8, lsp.UTF16, lsp.UTF32}

func TestOffset(t *testing.T) {
	const text = "a😀é\r\nb\rc\n"
	for _, test := range []struct {
		name      string
		enc       lsp.Encoding
		line, chr uint32
		want      int
	}{
		{"start", lsp.UTF16, 0, 0, 0},
		{"before the pair", lsp.UTF16, 0, 1, 1},
		{"inside the pair", lsp.UTF16, 0, 2, 1},
		{"after the pair", lsp.UTF16, 0, 3, 5},
		{"inside the rune", lsp.UTF8, 0, 3, 1},
		{"after the rune", lsp.UTF8, 0, 5, 5},
		{"after the rune, by runes", lsp.UTF32, 0, 2, 5},
		{"unset encoding is UTF-16", "", 0, 3, 5},
		{"past the end of the line", lsp.UTF16, 0, 99, 7},
		{"past 2^31", lsp.UTF8, 0, 1 << 31, 7},
		{"second line", lsp.UTF16, 1, 0, 9},
		{"a line that ends in \\r", lsp.UTF16, 1, 5, 10},
		{"after \\r", lsp.UTF16, 2, 1, 12},
		{"the empty last line", lsp.UTF16, 3, 0, 13},
		{"past the last line", lsp.UTF16, 4, 0, 13},
		{"line 2^32-1", lsp.UTF16, 1<<32 - 1, 7, 13},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := lsp.Position{Line: test.line, Character: test.chr}
			if got := lsp.Offset(text, p, test.enc); got != test.want {
				t.Errorf("Offset: %d, want %d", got, test.want)
			}
			if got := lsp.NewDocument(text).Offset(p, test.enc); got != test.want {
				t.Errorf("Document.Offset: %d, want %d", got, test.want)
			}
		})
	}
}

func TestPositionAtLineEnds(t *testing.T) {
	const text = "ab\r\nc"
	for offset, want := range []lsp.Position{{}, {Character: 1}, {Character: 2}, {Character: 2}, {Line: 1}, {Line: 1, Character: 1}} {
		if got := lsp.PositionAt(text, offset, lsp.UTF16); got != want {
			t.Errorf("offset %d: %v, want %v", offset, got, want)
		}
	}
}

func TestChooseEncoding(t *testing.T) {
	for _, test := range []struct {
		name  string
		offer []lsp.Encoding
		want  lsp.Encoding
	}{
		{"nothing offered", nil, lsp.UTF16},
		{"only unknown ones", []lsp.Encoding{"utf-7"}, lsp.UTF16},
		{"utf-8 wherever it stands", []lsp.Encoding{lsp.UTF32, lsp.UTF8, lsp.UTF16}, lsp.UTF8},
		{"the client's first otherwise", []lsp.Encoding{"utf-7", lsp.UTF32, lsp.UTF16}, lsp.UTF32},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := lsp.ChooseEncoding(test.offer); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// naivePosition counts from the start of the text, rune by rune.
func naivePosition(text string, offset int, enc lsp.Encoding) lsp.Position {
	var p lsp.Position
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := r == '\n' || r == '\r'
		if r == '\r' && strings.HasPrefix(text[i:], "\r\n") {
			size = 2
		}
		if i+size > offset {
			return p
		}
		i += size
		switch {
		case end:
			p.Line, p.Character = p.Line+1, 0
		case enc == lsp.UTF8:
			p.Character += uint32(size)
		case enc == lsp.UTF32:
			p.Character++
		default:
			p.Character += uint32(max(1, utf16.RuneLen(r)))
		}
	}
	return p
}

var texts = []string{
	"", "a", "\n", "\r", "\r\n", "\n\r", "a\r\r\nb", "é\n😀x\r\n\r", "\xff\n\xf0\x9f\x98", "a\u2028b\u0085c\fd", "no end", "\xed\xa0\xbd\n",
}

func FuzzPosition(f *testing.F) {
	for _, text := range texts {
		f.Add(text, len(text)/2, uint32(1), uint32(2))
	}
	f.Fuzz(func(t *testing.T, text string, offset int, line, character uint32) {
		doc := lsp.NewDocument(text)
		for _, enc := range encodings {
			inside := min(max(offset, 0), len(text))
			want := naivePosition(text, inside, enc)
			got := lsp.PositionAt(text, offset, enc)
			if got != want {
				t.Fatalf("PositionAt(%q, %d, %s) = %v, want %v", text, offset, enc, got, want)
			}
			if p := doc.Position(offset, enc); p != want {
				t.Fatalf("Document.Position(%q, %d, %s) = %v, want %v", text, offset, enc, p, want)
			}
			// There and back: the offset itself, or the start of what it is inside of.
			back := lsp.Offset(text, got, enc)
			if back > inside || naivePosition(text, back, enc) != got {
				t.Fatalf("%q: offset %d is %v is offset %d (%s)", text, inside, got, back, enc)
			}
			// Any position means a place in the text that is no part of a rune.
			p := lsp.Position{Line: line, Character: character}
			at := lsp.Offset(text, p, enc)
			if at != doc.Offset(p, enc) {
				t.Fatalf("%q: %v is %d and %d (%s)", text, p, at, doc.Offset(p, enc), enc)
			}
			if again := lsp.Offset(text, lsp.PositionAt(text, at, enc), enc); again != at {
				t.Fatalf("%q: %v is %d, which is %d (%s)", text, p, at, again, enc)
			}
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, text := range texts {
		f.Add(text, len(text)/2, len(text), "x\r")
		f.Add(text, 1, 1, "\n")
		f.Add(text, 0, 2, "")
	}
	f.Fuzz(func(t *testing.T, text string, start, end int, with string) {
		start = min(max(start, 0), len(text))
		end = min(max(end, start), len(text))
		doc := lsp.NewDocument(text)
		got := doc.Replace(start, end, with)
		want := text[:start] + with + text[end:]
		if got.Text() != want {
			t.Fatalf("text %q, want %q", got.Text(), want)
		}
		if diff := cmp.Diff(lines(lsp.NewDocument(want)), lines(got)); diff != "" {
			t.Fatalf("%q[%d:%d] = %q: lines (-want +got):\n%s", text, start, end, with, diff)
		}
		if doc.Text() != text {
			t.Fatal("the old document has changed")
		}
	})
}

func lines(d *lsp.Document) []int {
	starts := make([]int, d.Lines())
	for i := range starts {
		starts[i] = d.Offset(lsp.Position{Line: uint32(i)}, lsp.UTF8)
	}
	return starts
}

func TestDocumentChange(t *testing.T) {
	at := func(l1, c1, l2, c2 uint32) *lsp.Range {
		return &lsp.Range{Start: lsp.Position{Line: l1, Character: c1}, End: lsp.Position{Line: l2, Character: c2}}
	}
	for _, test := range []struct {
		name   string
		change lsp.ContentChange
		want   string
	}{
		{"whole text", lsp.ContentChange{Text: "new"}, "new"},
		{"insert at the start", lsp.ContentChange{Range: at(0, 0, 0, 0), Text: "x"}, "xone\ntwo\n"},
		{"a range", lsp.ContentChange{Range: at(0, 3, 1, 1), Text: "-"}, "one-wo\n"},
		{"the wrong way round", lsp.ContentChange{Range: at(1, 1, 0, 3), Text: "-"}, "one-wo\n"},
		{"past the end", lsp.ContentChange{Range: at(9, 9, 99, 99), Text: "x"}, "one\ntwo\nx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := lsp.NewDocument("one\ntwo\n").Change(test.change, lsp.UTF16).Text(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestApplyEdits(t *testing.T) {
	edit := func(c1, c2 uint32, text string) lsp.TextEdit {
		return lsp.TextEdit{Range: lsp.Range{Start: lsp.Position{Character: c1}, End: lsp.Position{Character: c2}}, NewText: text}
	}
	for _, test := range []struct {
		name  string
		edits []lsp.TextEdit
		want  string
		err   error
	}{
		{"none", nil, "abcdef", nil},
		{"in any order", []lsp.TextEdit{edit(4, 5, "E"), edit(0, 1, "A")}, "AbcdEf", nil},
		{"inserts at one place in their order", []lsp.TextEdit{edit(1, 1, "1"), edit(1, 1, "2"), edit(1, 2, "B")}, "a12Bcdef", nil},
		{"side by side", []lsp.TextEdit{edit(0, 2, "x"), edit(2, 4, "y")}, "xyef", nil},
		{"overlapping", []lsp.TextEdit{edit(0, 3, "x"), edit(2, 4, "y")}, "", lsp.ErrOverlap},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := lsp.ApplyEdits("abcdef", test.edits, lsp.UTF16)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

func BenchmarkDocumentChange(b *testing.B) {
	doc := lsp.NewDocument(strings.Repeat("a line of a file of ten thousand\n", 10_000))
	at := lsp.Position{Line: 5000, Character: 3}
	change := lsp.ContentChange{Range: &lsp.Range{Start: at, End: at}, Text: "x"}
	for b.Loop() {
		doc.Change(change, lsp.UTF16)
	}
}
