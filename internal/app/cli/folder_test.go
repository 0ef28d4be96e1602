package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestProjectAround: what others put into a directory that all may write is no project
// around those below it; where it is where somebody stands, it is.
func TestProjectAround(t *testing.T) {
	top := t.TempDir()
	everybody := filepath.Join(top, "everybody")
	below := filepath.Join(everybody, "a", "b")
	for _, dir := range []string{below, filepath.Join(top, ".git"), filepath.Join(everybody, ".sidecar")} {
		if err := ownfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check := func(here, want string) {
		t.Helper()
		if got := projectAround(here); got != want {
			t.Errorf("around %s is %s, want %s", here, got, want)
		}
	}
	check(below, everybody)
	if err := ownfile.Chmod(everybody, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	check(below, below)
	check(everybody, everybody)
	check(top, top)
	if err := ownfile.Mkdir(filepath.Join(everybody, "a", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	check(below, filepath.Join(everybody, "a"))
}
