package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// BenchmarkApply changes 1,000 files in 50 directories; the bare loop is what
// the same would cost at least, one file after the other.
func BenchmarkApply(b *testing.B) {
	const n = 1000
	body := make([]byte, 4<<10)
	setup := func(b *testing.B) (dir string, names []string) {
		dir = b.TempDir()
		for i := range n {
			name := fmt.Sprintf("d%d/f%d", i%50, i)
			names = append(names, name)
			ownfile.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
			if err := ownfile.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil {
				b.Fatal(err)
			}
		}
		return dir, names
	}
	content := func(i int) []byte {
		return fmt.Appendf(nil, "%d%s", i, body)
	}
	b.Run("bare", func(b *testing.B) {
		dir, names := setup(b)
		for i := 0; b.Loop(); i++ {
			after := content(i)
			for _, name := range names {
				path := filepath.Join(dir, name)
				f, err := ownfile.Create(path + ".tmp")
				if err != nil {
					b.Fatal(err)
				}
				f.Write(after)
				f.Sync()
				f.Close()
				ownfile.Rename(path+".tmp", path)
			}
		}
	})
	b.Run("apply", func(b *testing.B) {
		dir, names := setup(b)
		d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{StateDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		defer d.Close()
		before := body
		for i := 0; b.Loop(); i++ {
			after := content(i)
			changes := make([]Change, n)
			for j, name := range names {
				changes[j] = Change{Path: name, Before: before, After: after}
			}
			if err := d.Apply(b.Context(), changes...); err != nil {
				b.Fatal(err)
			}
			before = after
		}
	})
}

func BenchmarkReadFile(b *testing.B) {
	d, dir := openTest(b, DiskOptions{}, map[string]string{"a.txt": "text", "1/2/3/4/5/6/7/a.txt": "text"})
	for _, name := range []string{"a.txt", "1/2/3/4/5/6/7/a.txt"} {
		b.Run(fmt.Sprint("disk depth ", 1+strings.Count(name, "/")), func(b *testing.B) {
			for b.Loop() {
				d.ReadFile(name)
			}
		})
		b.Run("guarded", func(b *testing.B) {
			g := Guard(NewOverlay(d, layer{"x": text("x")}), nil)
			for b.Loop() {
				g.ReadFile(name)
			}
		})
		b.Run("os", func(b *testing.B) {
			for b.Loop() {
				os.ReadFile(filepath.Join(dir, name))
			}
		})
	}
}
