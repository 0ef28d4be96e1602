package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestHardLinks writes a file that has two names, on every system that has that.
func TestHardLinks(t *testing.T) {
	d, dir := openTest(t, DiskOptions{StateDir: t.TempDir()}, map[string]string{"a": "old", "copy": "old"})
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := ownfile.Mkdir(at("d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Link(at("a"), at("d/b")); err != nil {
		needs.Skip(t, needs.Links, "a file can't have two names here: ", err)
	}
	linked := func(want map[string]bool) {
		t.Helper()
		got := map[string]bool{}
		for name := range want {
			info, err := os.Lstat(at(name))
			if err != nil {
				t.Fatal(err)
			}
			got[name] = Linked(at(name), info)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("linked (-want +got):\n%s", diff)
		}
		stamps, mu := map[string]bool{}, sync.Mutex{}
		err := d.Walk(t.Context(), WalkOptions{}, func(e *Entry) error {
			st, err := e.Stat()
			mu.Lock()
			defer mu.Unlock()
			if _, ok := want[e.Path]; ok {
				stamps[e.Path] = st.Linked
			}
			return err
		})
		delete(got, "d")
		if diff := cmp.Diff(got, stamps); err != nil || diff != "" {
			t.Errorf("stamps: %v (-want +got):\n%s", err, diff)
		}
	}
	linked(map[string]bool{"a": true, "d/b": true, "copy": false, "d": false})
	differ := []Change{{Path: "a", Before: text("old"), After: text("1")}, {Path: "d/b", Before: text("old"), After: text("2")}}
	if err := d.Apply(t.Context(), differ...); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("two texts for one file: %v", err)
	}
	copies := []Change{{Path: "a", Before: text("old"), After: text("1")}, {Path: "copy", Before: text("old"), After: text("2")}}
	if err := d.Apply(t.Context(), copies...); err != nil {
		t.Errorf("control: two texts for two files: %v", err)
	}
	same := func() bool {
		one, err1 := os.Stat(at("a"))
		two, err2 := os.Stat(at("d/b"))
		return errors.Join(err1, err2) == nil && os.SameFile(one, two)
	}
	if !same() {
		t.Error("the names were parted")
	}
	linked(map[string]bool{"a": true, "d/b": true, "copy": false})
	if err := d.Apply(t.Context(), Change{Path: "d/b", Before: text("1"), After: text("a longer text")}); err != nil {
		t.Error(err)
	}
	got := tree(t, dir)
	if got["a"] != "a longer text" || got["d/b"] != "a longer text" || got["copy"] != "2" || !same() {
		t.Errorf("files %v", got)
	}
	if err := d.Apply(t.Context(), Change{Path: "d/b", Before: text("a longer text")}); err != nil {
		t.Error(err)
	}
	linked(map[string]bool{"a": false, "copy": false})
}
