package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
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
	dir := s.current().StateDir
	if dir == "" {
		return showResult{}, errors.New("there is no place for the diff: use sidecar.review.diff")
	}
	dir = filepath.Join(dir, "show")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return showResult{}, err
	}
	// Written aside and renamed, so that a link in its place is replaced, not
	// followed.
	f, err := os.CreateTemp(dir, "review-*.tmp") // made with 0600
	if err != nil {
		return showResult{}, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.WriteString(diff.Diff)
	if err := errors.Join(err, f.Close()); err != nil {
		return showResult{}, err
	}
	path := filepath.Join(dir, "review.diff")
	if err := os.Rename(f.Name(), path); err != nil {
		return showResult{}, err
	}
	res := showResult{URI: workspace.FileURI(path)}
	if s.client.can.showDocument {
		var answer lsp.ShowDocumentResult
		err := s.client.call(ctx, "window/showDocument", lsp.ShowDocumentParams{URI: res.URI}, &answer)
		if err != nil && !unsupported(err) {
			return showResult{}, err
		}
		res.Shown = answer.Success
	}
	return res, nil
}
