package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

func openOverlay(t *testing.T, links map[string]string) Files {
	t.Helper()
	d, dir := openTest(t, DiskOptions{}, map[string]string{
		"a.txt": "a", "gone.txt": "g", "d/b.txt": "b", "d/gone.txt": "g", "d/e/c.txt": "c", "ignored/x.txt": "x", ".gitignore": "ignored/\n*.log\n",
		"was/file": "f", "flat": "flat",
	})
	for link, target := range links {
		symlink.Make(t, target, filepath.Join(dir, link))
	}
	return NewOverlay(d, layer{
		"a.txt": text("pending a"), "d/b.txt": text(""), "gone.txt": nil, "d/gone.txt": nil, "never.txt": nil,
		"new/deep/f.txt": text("new"), "d/n.txt": text("n"), ".hidden/h.txt": text("h"), "x.log": text("log"), "ignored/y.txt": text("y"),
		"flat": nil, "flat/f.txt": text("in flat"),
	})
}

func TestOverlayFS(t *testing.T) {
	o := openOverlay(t, map[string]string{"link": "a.txt", "dir": "d"})
	if err := fstest.TestFS(o, "a.txt", "d/b.txt", "d/e/c.txt", "new/deep/f.txt", "d/n.txt", ".hidden/h.txt", "flat/f.txt"); err != nil {
		t.Error(err)
	}
}

// What lies over the disk is known through every layer and wrapper, without
// what may not be seen.
func TestOverlaid(t *testing.T) {
	d, _ := openTest(t, DiskOptions{}, map[string]string{"a": "a"})
	buffers := NewOverlay(d, layer{"b": text("b"), "a": text("x"), ".env": text("s")})
	pending := NewOverlay(buffers, layer{"a": nil, "c/d": text("c")})
	for name, c := range map[string]struct {
		files Files
		want  []string
	}{
		"disk":    {d, nil},
		"buffers": {buffers, []string{".env", "a", "b"}},
		"pending": {pending, []string{".env", "a", "b", "c/d"}},
		"wrapped": {struct{ Files }{Guard(pending, func(string) bool { return false })}, []string{"a", "b", "c/d"}},
		"allowed": {struct{ Files }{Guard(pending, func(string) bool { return true })}, []string{".env", "a", "b", "c/d"}},
	} {
		if diff := cmp.Diff(c.want, Overlaid(c.files)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if disk, _ := c.files.Base(); disk != d {
			t.Errorf("%s: another disk", name)
		}
	}
}

func TestOverlayReads(t *testing.T) {
	o := openOverlay(t, map[string]string{"link": "a.txt", "dir": "d", "todel": "gone.txt"})
	for name, want := range map[string]string{
		"a.txt": "pending a", "link": "pending a", "d/b.txt": "", "dir/b.txt": "", "dir/n.txt": "n", "d/e/c.txt": "c", "dir/e/c.txt": "c",
		"new/deep/f.txt": "new", "flat/f.txt": "in flat",
	} {
		data, err := o.ReadFile(name)
		if string(data) != want || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if info, err := o.Stat(name); err != nil || info.Size() != int64(len(want)) || info.IsDir() {
			t.Errorf("stat %s: %v, %v", name, info, err)
		}
		if len(data) > 0 {
			data[0] = '#' // the caller's copy
		}
		if again, _ := o.ReadFile(name); string(again) != want {
			t.Errorf("%s was changed by its reader", name)
		}
	}
	for _, name := range []string{"gone.txt", "d/gone.txt", "dir/gone.txt", "never.txt", "todel", "missing"} {
		_, read := o.ReadFile(name)
		_, stat := o.Stat(name)
		_, open := o.Open(name)
		for _, err := range []error{read, stat, open} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for dir, want := range map[string][]string{
		".":    {".gitignore", ".hidden", "a.txt", "d", "dir", "flat", "ignored", "link", "new", "todel", "was", "x.log"},
		"d":    {"b.txt", "e", "n.txt"},
		"dir":  {"b.txt", "e", "n.txt"},
		"new":  {"deep"},
		"flat": {"f.txt"},
	} {
		if diff := cmp.Diff(want, list(t, o, dir)); diff != "" {
			t.Errorf("list %s (-want +got):\n%s", dir, diff)
		}
	}
	for _, name := range []string{"a.txt", "gone.txt", "missing"} {
		if _, err := o.ReadDir(name); err == nil {
			t.Errorf("listed %s", name)
		}
	}
}

func TestOverlayWalk(t *testing.T) {
	o := openOverlay(t, map[string]string{"link": "a.txt", "dir": "d", "todel": "gone.txt"})
	for _, test := range []struct {
		name string
		opts WalkOptions
		want []string
	}{
		{"plain", WalkOptions{}, []string{"a.txt", "d/b.txt", "d/e/c.txt", "d/n.txt", "flat/f.txt", "new/deep/f.txt", "was/file"}},
		{"hidden", WalkOptions{Hidden: true}, []string{".gitignore", ".hidden/h.txt", "a.txt", "d/b.txt", "d/e/c.txt", "d/n.txt", "flat/f.txt", "new/deep/f.txt", "was/file"}},
		{"ignored", WalkOptions{IncludeIgnored: true}, []string{"a.txt", "d/b.txt", "d/e/c.txt", "d/n.txt", "flat/f.txt", "ignored/x.txt", "ignored/y.txt", "new/deep/f.txt", "was/file", "x.log"}},
		{"a directory", WalkOptions{Dir: "d"}, []string{"d/b.txt", "d/e/c.txt", "d/n.txt"}},
		{"a linked directory", WalkOptions{Dir: "dir"}, []string{"dir/b.txt", "dir/e/c.txt", "dir/n.txt"}},
		{"a new directory", WalkOptions{Dir: "new"}, []string{"new/deep/f.txt"}},
		{"a hidden directory", WalkOptions{Dir: ".hidden"}, []string{".hidden/h.txt"}},
		{"an ignored directory", WalkOptions{Dir: "ignored"}, []string{"ignored/x.txt", "ignored/y.txt"}},
		{"a file", WalkOptions{Dir: "a.txt"}, []string{"a.txt"}},
		{"a new file", WalkOptions{Dir: "d/n.txt"}, []string{"d/n.txt"}},
		{"kept", WalkOptions{Keep: func(name string, dir bool) bool { return !dir || name != "new" && name != "d/e" }}, []string{"a.txt", "d/b.txt", "d/n.txt", "flat/f.txt", "was/file"}},
	} {
		if diff := cmp.Diff(test.want, visited(t, o, test.opts)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	for _, dir := range []string{"gone.txt", "missing"} {
		if err := o.Walk(t.Context(), WalkOptions{Dir: dir}, func(*Entry) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("walk from %s: %v", dir, err)
		}
	}
	var mu sync.Mutex
	got := map[string]string{}
	if err := o.Walk(t.Context(), WalkOptions{Dir: "d"}, func(e *Entry) error {
		data, err := e.Read(nil)
		mu.Lock()
		defer mu.Unlock()
		got[e.Path] = string(data)
		return err
	}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"d/b.txt": "", "d/e/c.txt": "c", "d/n.txt": "n"}, got); diff != "" {
		t.Error(diff)
	}
	visits := 0
	if err := o.Walk(t.Context(), WalkOptions{Workers: 1}, func(*Entry) error { visits++; return fs.SkipAll }); err != nil || visits != 1 {
		t.Errorf("skip all: %d visits, %v", visits, err)
	}
}
