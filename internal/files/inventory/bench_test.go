package inventory

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// BenchmarkLook looks at 100,000 files in 10,000 directories: for the first
// time, and again.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		for j := range 100 {
			at := filepath.Join(dir, fmt.Sprint("d", i), fmt.Sprint("e", j))
			if err := ownfile.MkdirAll(at, 0o755); err != nil {
				b.Fatal(err)
			}
			for k := range 10 {
				if err := ownfile.WriteFile(filepath.Join(at, fmt.Sprint("file", k, ".go")), nil, 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := New(dir).Look(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		tree := New(dir)
		if _, err := tree.Look(b.Context()); err != nil {
			b.Fatal(err)
		}
		for at := range tree.nodes() {
			at.sure = true // as it is when they are some seconds old
		}
		for b.Loop() {
			if _, err := tree.Look(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
