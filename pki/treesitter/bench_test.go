package treesitter

import (
	"bytes"
	"path/filepath"
	"testing"
)

// MB/s per language on the fixtures, repeated to about 100 KB.
func BenchmarkExtract(b *testing.B) {
	for _, file := range sources(b) {
		src := read(b, file)
		lang := Language(file, src)
		src = bytes.Repeat(append(src, '\n'), max(1, 100<<10/len(src)))
		if !survivable(lang, src) {
			src = src[:len(src)/10]
		}
		b.Run(filepath.Base(file), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Extract(lang, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
