package lsp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func (r longResult) LongText() (any, string, string) {
	return shortResult{ID: r.ID, More: r.More}, "text", r.Text
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
			want, err := marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := marshalTo(&got, longResult(r)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	})
}

func BenchmarkLongText(b *testing.B) {
	r := longResult{Text: strings.Repeat(strings.Repeat("word ", 15)+"\n", 1<<20/76)}
	var buf bytes.Buffer
	for _, bench := range []struct {
		name   string
		result any
	}{{"apart", r}, {"in its place", shortResult(r)}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(r.Text)))
			for b.Loop() {
				buf.Reset()
				if err := marshalTo(&buf, bench.result); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
