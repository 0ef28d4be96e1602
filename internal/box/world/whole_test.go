package world

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestWriteWhole: a file follows no link in its way, and stays as it was where it can't be written.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	is := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := writeWhole(dir, "r", []byte("one")); err != nil {
		t.Fatal(err)
	}
	is("r", "one")
	if err := ownfile.WriteFile(filepath.Join(dir, "decoy"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink("decoy", filepath.Join(dir, "r.tmp")); err == nil { // Windows makes none without a privilege
		if err := writeWhole(dir, "r", []byte("two")); err != nil {
			t.Fatal(err)
		}
		is("decoy", "kept")
		is("r", "two")
	}
	before, err := os.ReadFile(filepath.Join(dir, "r"))
	if err != nil {
		t.Fatal(err)
	}
	if err := ownfile.MkdirAll(filepath.Join(dir, "r.tmp", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if writeWhole(dir, "r", []byte("three")) == nil {
		t.Error("it is written where it can't be")
	}
	is("r", string(before))
}

// TestWriteOver: only a file of the same length is written over, so that what is there is never
// cut, and no link out is followed.
func TestWriteOver(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		before string
		ok     bool
	}{"same": {"old", true}, "shorter": {"ol", false}, "longer": {"older", false}} {
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		want := c.before
		if c.ok {
			want = "new"
		}
		err := writeOver(dir, name, []byte("new"))
		if got, _ := os.ReadFile(filepath.Join(dir, name)); (err == nil) != c.ok || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := ownfile.Symlink("same", filepath.Join(dir, "link")); err == nil && writeOver(dir, "link", []byte("two")) == nil {
		t.Error("a link is written through")
	}
	if writeOver(dir, "missing", []byte("new")) == nil {
		t.Error("a file that is not there is written over")
	}
}
