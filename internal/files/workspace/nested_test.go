package workspace

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// TestNestedFolders: a file of a folder that lies in another one has one name, and is met
// once.
func TestNestedFolders(t *testing.T) {
	top := t.TempDir()
	writeFiles(t, top, map[string]string{"x": "x", "lib/y": "y", "lib/deep/z": "z"})
	d, err := OpenDisk([]Folder{{"top", top}, {"deep", filepath.Join(top, "lib", "deep")}, {"lib", filepath.Join(top, "lib")}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	for given, want := range map[string]string{
		"top/x": "top/x", "top/lib/y": "lib/y", "lib/y": "lib/y", "top/lib/deep/z": "deep/z", "lib/deep/z": "deep/z", "top/lib": "lib", "top/lib/new": "lib/new",
		filepath.Join(top, "lib", "y"): "lib/y", filepath.Join(top, "lib", "deep", "z"): "deep/z",
	} {
		got, err := d.Resolve(given)
		if err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", given, got, err, want)
		}
		if real, err := d.RealName(got); err != nil || real != want {
			t.Errorf("%s: really %s %v", given, real, err)
		}
	}
	if real, err := d.RealName("top/lib/deep/z"); err != nil || real != "deep/z" {
		t.Errorf("real name %s %v", real, err)
	}
	for dir, want := range map[string][]string{
		".": {"deep/z", "lib/y", "top/x"}, "top": {"deep/z", "lib/y", "top/x"}, "lib": {"deep/z", "lib/y"}, "top/lib": {"deep/z", "lib/y"}, "deep": {"deep/z"},
	} {
		var mu sync.Mutex
		var got []string
		err := d.Walk(t.Context(), WalkOptions{Dir: dir}, func(e *Entry) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, e.Path)
			return nil
		})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("walk of %s: %q %v, want %q", dir, got, err, want)
		}
	}
	if err := d.Apply(t.Context(), Change{Path: "top/lib/y", Before: []byte("y"), After: []byte("Y")}); err != nil {
		t.Error(err)
	}
	if data, err := d.ReadFile("lib/y"); err != nil || string(data) != "Y" {
		t.Errorf("%q %v", data, err)
	}
}
