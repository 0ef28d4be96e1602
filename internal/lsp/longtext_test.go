package lsp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"
)

// longResult is a result with its text set apart, shortResult the same without.
type (
	shortResult struct {
		ID   string `json:"id"`
		Text string `json:"text"`
		More any    `json:"more"`
	}
	longResult shortResult
)

// LongText gives the text in two pieces, cut where a character begins.
func (r longResult) LongText() (any, string, []string) {
	half := len(r.Text) / 2
	for half > 0 && !utf8.RuneStart(r.Text[half]) {
		half--
	}
	return shortResult{ID: r.ID, More: r.More}, "text", []string{r.Text[:half], r.Text[half:]}
}

// written is the body of a reply as the writer writes it.
func written(tb testing.TB, result any) string {
	f, err := resultFrame(jsonrpc2.NewNumberID(7), result)
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	w := newWriter(&out, 1<<30, time.Minute)
	if err := w.send(tb.Context(), f, 1<<30, false); err != nil {
		tb.Fatal(err)
	}
	w.close()
	w.run()
	if w.err != nil || w.unsent != 0 {
		tb.Fatalf("%v, %d bytes not written", w.err, w.unsent)
	}
	header, body, _ := strings.Cut(out.String(), "\r\n\r\n")
	if header != fmt.Sprintf("Content-Length: %d", len(body)) {
		tb.Fatalf("%s, but there are %d bytes", header, len(body))
	}
	return body
}

// A text is written in parts when it is long; where they end makes no
// difference.
func TestLongTextInParts(t *testing.T) {
	for _, unit := range []string{"a", "line\n", "\x00", "é", "日", "😀", "\xff", "\x80", "a\xf0\x9f", "tab\t\"quote\" \\u0041 "} {
		for shift := range 9 {
			r := shortResult{ID: "i", Text: "12345678"[:shift] + strings.Repeat(unit, 80_000/len(unit)), More: "end"}
			f := newFrame()
			if err := f.marshalLongText(longResult(r)); err != nil || len(r.Text) >= longFrom && f.text.size == 0 {
				t.Fatalf("%q: %v, %d bytes left out", unit, err, f.text.size)
			}
			want, got := written(t, r), written(t, longResult(r))
			if want != got {
				t.Errorf("%q × %d: differs after %d of %d bytes", unit, len(r.Text), sameBytes(want, got), len(want))
			}
		}
	}
}

// What stands before and behind a long text may be long too, and where a piece
// that is written at once ends is no place of its own.
func TestLongTextAmongLong(t *testing.T) {
	for _, before := range []int{1, coalesceBytes, 4 * coalesceBytes} {
		for _, size := range []int{longFrom, coalesceBytes - 1, coalesceBytes, coalesceBytes + 1, 3*coalesceBytes + quoteBytes} {
			for _, unit := range []string{"a", "\x00"} {
				r := shortResult{ID: strings.Repeat("i", before), Text: strings.Repeat(unit, size), More: strings.Repeat("m", before)}
				if want, got := written(t, r), written(t, longResult(r)); want != got {
					t.Errorf("%d × %q behind %d: differs after %d of %d bytes", size, unit, before, sameBytes(want, got), len(want))
				}
			}
		}
	}
}

func sameBytes(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// FuzzLongText: a text that is set apart gives the same bytes as in its place.
func FuzzLongText(f *testing.F) {
	for _, text := range []string{
		"", "a", "eight by", "nine byte", "tab\tquote\"back\\slash\r\n", "\x00\x1f\x20\x7f\b\f", "é日😀\u2028\u2029", "\xff\xc3",
		"1234567\xe6\x97", strings.Repeat("1234567\n", 9), `"text":""`, "1234567\x80\x01\x01\x01",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for shift := range 8 {
			text := "12345678"[:shift] + text
			r := shortResult{ID: `"text":""` + text, Text: text, More: map[string]string{"text": ""}}
			want, got := written(t, r), written(t, longResult(r))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	})
}

func BenchmarkLongText(b *testing.B) {
	r := longResult{Text: strings.Repeat(strings.Repeat("word ", 15)+"\n", 1<<20/76)}
	for _, bench := range []struct {
		name   string
		result any
	}{{"apart", r}, {"in its place", shortResult(r)}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(r.Text)))
			for b.Loop() {
				f, err := resultFrame(jsonrpc2.NewNumberID(7), bench.result)
				if err != nil {
					b.Fatal(err)
				}
				f.body()
				f.free()
			}
		})
	}
}

// TestRoomOfAReply: a reply that waits for a slow peer holds not much more
// memory than its text needs.
func TestRoomOfAReply(t *testing.T) {
	var f frame // not one that was used before
	text := strings.Repeat("line\n", 2000)
	if err := f.marshalLongText(longResult{ID: "x", Text: text}); err != nil || f.text.size != 0 {
		t.Fatal(err, f.text.size)
	}
	if got, most := f.buf.Cap(), 3*len(text); got > most {
		t.Errorf("room for %d bytes, want at most %d for a text of %d", got, most, len(text))
	}
}
