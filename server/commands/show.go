package commands

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// showReview writes the diff to a file of our own and has the editor open it.
func showReview(ctx context.Context, d *Deps, a review.FileArgs) (client.Shown, error) {
	q, err := queue(d)
	if err != nil {
		return client.Shown{}, err
	}
	diff, err := review.Diff(ctx, q, a)
	if err != nil {
		return client.Shown{}, err
	}
	path, err := putShown(d.StateDir, "review.diff", diff.Diff)
	if err != nil {
		return client.Shown{}, err
	}
	return d.Client.ShowFile(ctx, path, nil)
}

// shownDir is where files that are shown are, in the state directory.
const shownDir = "show"

// putShown writes a file that is to be shown into the state directory, and returns its
// path.
func putShown(dir, name, text string) (path string, err error) {
	if dir == "" {
		return "", errors.New("there is no place for what is to be shown: open a folder that can be written to")
	}
	dir = filepath.Join(dir, shownDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// Written aside and renamed, so that a link in its place is replaced, not
	// followed.
	f, err := os.CreateTemp(dir, "show-*.tmp") // made with 0600
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	path = filepath.Join(dir, name)
	return path, osfile.Rename(context.Background(), f.Name(), path)
}
