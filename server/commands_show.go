package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

type showArgs struct {
	URI string `json:"uri,omitempty"`
}

type showResult struct {
	URI   string `json:"uri"`
	Shown bool   `json:"shown"` // false: the editor can't; uri is a file to open
}

// showReview writes the diff to a file of our own and has the editor open it.
func (s *Server) showReview(ctx context.Context, a showArgs) (showResult, error) {
	diff, err := s.diffReview(ctx, diffArgs(a))
	if err != nil {
		return showResult{}, err
	}
	path, err := s.putShown("review.diff", diff.Diff)
	if err != nil {
		return showResult{}, err
	}
	return s.showDocument(ctx, path, nil)
}

// shownDir is where files that are shown are, in the state directory.
const shownDir = "show"

// putShown writes a file that is to be shown, and returns its path.
func (s *Server) putShown(name, text string) (path string, err error) {
	dir := s.current().StateDir
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

// showDocument has the editor open a file, if it can, at a place in it.
func (s *Server) showDocument(ctx context.Context, path string, at *lsp.Range) (showResult, error) {
	res := showResult{URI: workspace.FileURI(path)}
	if s.client.can.showDocument {
		var answer lsp.ShowDocumentResult
		err := s.client.call(ctx, "window/showDocument", lsp.ShowDocumentParams{URI: res.URI, Selection: at}, &answer)
		if err != nil && !unsupported(err) {
			return showResult{}, err
		}
		res.Shown = answer.Success
	}
	return res, nil
}
