package gitcmd

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Command returns the path of the git command. It fails with ErrNoGit when there
// is none, or one that is too old.
func Command(ctx context.Context, programs *lookup.Finder) (path string, err error) {
	return New(Tree{}, Config{Programs: programs}).binary(ctx)
}
