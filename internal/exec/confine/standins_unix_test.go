//go:build unix

package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestWithoutVCS: Go's builds don't ask git where there is no repository, and ask it where
// there is one, or the user says so.
func TestWithoutVCS(t *testing.T) {
	bare, repo := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(bare, ".git"), filepath.Join(repo, ".git"), filepath.Join(repo, "sub")} {
		if err := ownfile.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Chmod(filepath.Join(bare, ".git"), 0o755|os.ModeSticky); err != nil { // a stand-in
		t.Fatal(err)
	}
	for _, c := range []struct {
		root      string
		env, want []string
	}{
		{bare, []string{"A=b"}, []string{"A=b", "GOFLAGS=-buildvcs=false"}},
		{bare, []string{"GOFLAGS=-mod=mod"}, []string{"GOFLAGS=-mod=mod -buildvcs=false"}},
		{bare, []string{"GOFLAGS=-buildvcs=true"}, []string{"GOFLAGS=-buildvcs=true"}},
		{repo, []string{"A=b"}, []string{"A=b"}},
		{filepath.Join(repo, "sub"), []string{"GOFLAGS=-mod=mod"}, []string{"GOFLAGS=-mod=mod"}},
	} {
		if got := withoutVCS(c.env, c.root); !slices.Equal(got, c.want) {
			t.Errorf("%v in %s: %v, want %v", c.env, c.root, got, c.want)
		}
	}
}
