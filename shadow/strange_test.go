package shadow_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// TestStrange: what stands in a shadow's place and is not what was made is
// neither looked into nor removed; it is listed with what is wrong, and put
// back it is the shadow again.
func TestStrange(t *testing.T) {
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name          string
		do            func(dir, away, outside string) // the shadow, where it can be moved, a directory of somebody's
		undo          func(dir, away string)
		listed, usual bool
	}{
		{"nothing was done", func(string, string, string) {}, func(string, string) {}, true, true}, // the control
		{"a link to elsewhere", func(dir, away, outside string) { must(ownfile.Rename(dir, away), ownfile.Symlink(outside, dir)) }, func(dir, away string) { must(ownfile.Remove(dir), ownfile.Rename(away, dir)) }, true, false},
		{"a link to the shadow itself", func(dir, away, _ string) { must(ownfile.Rename(dir, away), ownfile.Symlink(away, dir)) }, func(dir, away string) { must(ownfile.Remove(dir), ownfile.Rename(away, dir)) }, true, false},
		{"a file", func(dir, away, _ string) { must(ownfile.Rename(dir, away), ownfile.WriteFile(dir, []byte("x"), 0o644)) }, func(dir, away string) { must(ownfile.Remove(dir), ownfile.Rename(away, dir)) }, true, false},
		{"an empty directory", func(dir, away, _ string) { must(ownfile.Rename(dir, away), ownfile.Mkdir(dir, 0o755)) }, func(dir, away string) { must(ownfile.Remove(dir), ownfile.Rename(away, dir)) }, true, false},
		{"nothing is there", func(dir, away, _ string) { must(ownfile.Rename(dir, away)) }, func(dir, away string) { must(ownfile.Rename(away, dir)) }, false, false},
		{"it names another repository", func(dir, away, outside string) {
			must(ownfile.Rename(dir+"/.git", away), ownfile.WriteFile(dir+"/.git", []byte("gitdir: "+outside+"\n"), 0o644))
		}, func(dir, away string) { must(ownfile.Rename(away, dir+"/.git")) }, true, false},
		{"a link in place of its .git", func(dir, away, _ string) { must(ownfile.Rename(dir+"/.git", away), ownfile.Symlink(away, dir+"/.git")) }, func(dir, away string) { must(ownfile.Rename(away, dir+"/.git")) }, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, "a", "1\n")
			_, w := h.create(shadow.CreateRequest{ID: "x"})
			w.Write("a", "2\n")
			h.create(shadow.CreateRequest{ID: "y"})
			outside := t.TempDir()
			must(ownfile.WriteFile(filepath.Join(outside, "a"), []byte("precious\n"), 0o644))
			dir, away := w.Path(""), filepath.Join(t.TempDir(), "away")
			c.do(dir, away, outside)
			try := func(what string, err error) {
				t.Helper()
				if c.usual && err != nil || !c.usual && c.listed && !errors.Is(err, shadow.ErrStrange) || !c.usual && err == nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := h.Diff(t.Context(), "x")
			try("diff", err)
			_, err = h.Merge(t.Context(), "x", h.main)
			try("merge", err)
			try("fill", h.Materialize(t.Context(), "x"))
			list, err := h.List(t.Context())
			if err != nil || len(list) != map[bool]int{true: 2, false: 1}[c.listed] || list[len(list)-1].ID != "y" || list[len(list)-1].Damage != nil {
				t.Fatalf("%+v, %v", list, err)
			}
			if c.listed && (list[0].ID != "x" || (list[0].Damage == nil) != c.usual) {
				t.Errorf("%+v", list[0])
			}
			if !c.usual {
				_, err = h.Discard(t.Context(), "x")
				try("discard", err)
				c.undo(dir, away)
			}
			if d, err := h.Diff(t.Context(), "x"); err != nil || len(d.Files) != 1 {
				t.Errorf("put back: %+v, %v", d, err)
			}
			if data, err := os.ReadFile(filepath.Join(outside, "a")); err != nil || string(data) != "precious\n" {
				t.Errorf("outside: %q, %v", data, err)
			}
		})
	}
}
