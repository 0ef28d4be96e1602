package rename_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/rename"
)

// TestFind: files are paired by what they hold, and a content that nobody knows
// the hash of is like no other by that. internal/git/gitrepo compares with git.
func TestFind(t *testing.T) {
	lines := strings.Repeat("a line that both have\n", 20)
	same, other := plumbing.Hash{1}, plumbing.Hash{2}
	failed := errors.New("unreadable")
	for _, c := range []struct {
		name       string
		gone, new  string
		hash, with plumbing.Hash
		mode       filemode.FileMode // of the new one
		fails      error
		want       []rename.Pair
	}{
		{name: "the same hash", gone: "x", new: "x", hash: same, with: same, want: []rename.Pair{{Score: rename.MaxScore}}},
		{name: "hashes that differ", gone: "x", new: "y", hash: same, with: other},
		{name: "no hash, other content", gone: "x\n", new: "y\n"},
		{name: "no hash, the same content", gone: lines, new: lines, want: []rename.Pair{{Score: rename.MaxScore}}},
		{name: "most of it", gone: lines, new: lines + "more\n", hash: same, with: other, want: []rename.Pair{{Score: rename.MaxScore * 440 / 445}}},
		{name: "a link", gone: "x", new: "x", hash: same, with: same, mode: filemode.Symlink},
		{name: "unreadable", gone: lines, new: lines, hash: same, with: other, fails: failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			mode := filemode.Regular
			if c.mode != 0 {
				mode = c.mode
			}
			found, err := rename.Find([]rename.File{{Path: "a", Mode: filemode.Regular, Hash: c.hash}}, []rename.File{{Path: "b", Mode: mode, Hash: c.with}},
				func(_ int, gone bool) ([]byte, error) {
					if gone {
						return []byte(c.gone), c.fails
					}
					return []byte(c.new), c.fails
				})
			if !errors.Is(err, c.fails) {
				t.Fatalf("got %v, want %v", err, c.fails)
			}
			if d := cmp.Diff(c.want, found); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
