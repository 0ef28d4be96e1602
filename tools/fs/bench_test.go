package fs

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkEditFile10k is one exact edit in a file of 10,000 lines, result and
// diff included.
func BenchmarkEditFile10k(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d has some text in it\n", i)
	}
	c := project(b, map[string]string{"f.txt": text.String()})
	s, r := "line 5000 has some text", "line 5000 has another text"
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, _, err := editFile(b.Context(), c, EditFileArgs{Path: "f.txt", Search: &s, Replace: &r}); err != nil {
			b.Fatal(err)
		}
	}
}
