package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// hold opens a file as a program does that shares it for reading alone.
func hold(t *testing.T, name string) (release func()) {
	t.Helper()
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateFile(path, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = windows.CloseHandle(h) }
}

// TestApplyHeld changes files of which another program has one open: a batch waits for
// it, and is not made at all if that goes on.
func TestApplyHeld(t *testing.T) {
	changes := []Change{
		{Path: "a", Before: text("a"), After: text("A")}, {Path: "sub/b", Before: text("b"), After: text("B")}, {Path: "gone", Before: text("gone")},
	}
	for _, name := range []string{"sub/b", "gone"} {
		for _, released := range []bool{true, false} {
			state := t.TempDir()
			d, dir := openTest(t, DiskOptions{StateDir: state}, map[string]string{"a": "a", "sub/b": "b", "gone": "gone"})
			before := tree(t, dir)
			release := hold(t, filepath.Join(dir, filepath.FromSlash(name)))
			done := make(chan error, 1)
			go func() { done <- d.Apply(t.Context(), changes...) }()
			if released {
				release() // while it is tried, if not before
				if err := <-done; err != nil {
					t.Errorf("%s, released: %v", name, err)
				}
				if got := tree(t, dir); got["a"] != "A" || got["sub/b"] != "B" || len(got) != 3 {
					t.Errorf("%s, released: there is %v", name, got)
				}
				continue
			}
			err := <-done
			if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) || !strings.Contains(err.Error(), "apply "+name+": it seems to be open in another program: close it there") {
				t.Errorf("%s, held: %v", name, err)
			}
			if got := tree(t, dir); len(got) != len(before) || got["a"] != "a" || got["sub/b"] != "b" || got["gone"] != "gone" {
				t.Errorf("%s, held: there is %v", name, got)
			}
			if left := tree(t, state); len(left) > 0 {
				t.Errorf("%s, held: left in the state directory: %v", name, left)
			}
			release()
			if err := d.Apply(t.Context(), changes...); err != nil {
				t.Errorf("control: %s, free: %v", name, err)
			}
		}
	}
}
