package review_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestNameWithALineBreak: a name that a file has already is one line of the list.
func TestNameWithALineBreak(t *testing.T) {
	if os.PathSeparator == '\\' {
		needs.Skip(t, needs.FileModes, "no name has a line break here")
	}
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "a\n"})
	if err := ownfile.WriteFile(filepath.Join(dir, "two\nlines"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	sh := e2e.Shell{T: t, Dir: dir}
	sh.Run(0, "call", "--mode", "review", "edit_file", `{"path": "two\nlines", "search": "one", "replace": "two"}`)
	sh.Says([]string{`"two\nlines"`}, "review")
	sh.Says([]string{`accepted "two\nlines"`}, "review", "accept")
	sh.Says([]string{`"two\nlines"`}, "review", "history")
}
