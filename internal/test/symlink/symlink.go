// Package symlink makes symbolic links for tests, which not everybody may on Windows,
// and Wine only says that it does.
package symlink

import (
	"io/fs"
	"os"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Make makes a link, or skips the test where there are none.
func Make(t testing.TB, target, name string) {
	t.Helper()
	err := ownfile.Symlink(target, name)
	if info, err2 := os.Lstat(name); err == nil && err2 == nil && info.Mode()&fs.ModeSymlink != 0 {
		return
	}
	if os.PathSeparator == '\\' {
		needs.Skip(t, needs.Links, "no symbolic links can be made here: ", err)
	}
	t.Fatal(err)
}
