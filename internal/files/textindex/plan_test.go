package textindex

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// A reader goes on while another one keeps what it found out, and keeps its own
// with the next file after that.
func TestReaderGoesOn(t *testing.T) {
	if runtime.GOOS != "linux" {
		needs.Skip(t, needs.Linux, "the text index works on Linux alone")
	}
	dir := t.TempDir()
	const n = 2*manyFindings + 1
	for i := range n {
		if err := ownfile.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.txt", i)), []byte("some text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	w := watch.New(disk)
	defer w.Close()
	x := New(disk, w.Subscribe, Options{})
	defer x.Close()
	opts := workspace.WalkOptions{Workers: 1}
	p, err := x.Plan(t.Context(), disk, opts, nil)
	if err != nil || len(p.Names) != n {
		t.Fatal(p, err)
	}
	r, visited := p.Reader(), 0
	opts.Names = p.Names
	x.lock <- struct{}{}
	err = disk.Walk(t.Context(), opts, func(e *workspace.Entry) error {
		if visited++; visited == n {
			x.unlock()
		}
		r.Visit(e, func(e *workspace.Entry) { _, err = e.Read(nil) })
		return err
	})
	if err != nil || visited != n {
		t.Fatal(visited, err)
	}
	if known := x.Stats().Known; known != n {
		t.Errorf("of %d files %d are known before the reader is closed", n, known)
	}
}
