package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

func TestAsError(t *testing.T) {
	of := func(path string, err error) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
	for what, c := range map[string]struct {
		err  error
		want Error
	}{
		"one of ours":        {fmt.Errorf("wrapped: %w", Errorf(NoMatch, "not there")), Error{Code: NoMatch, Message: "not there"}},
		"with a path":        {of("a.txt", fs.ErrNotExist), Error{Code: NotFound, Message: "a.txt: file does not exist; check the path with list_directory or search_files"}},
		"with an empty path": {of("", fs.ErrInvalid), Error{Code: InvalidArguments, Message: "invalid argument; give a workspace-relative path with / as separator"}},
		"without a path":     {workspace.ErrBinary, Error{Code: BinaryFile, Message: "the file is binary; only text files can be read and edited"}},
		"too large":          {of("a", workspace.ErrTooLarge), Error{Code: TooLarge, Message: "a: the file is too large; no tool for files opens one of this size; leave it as it is, or ask the user for the part you need"}},
		"any other":          {errors.New("odd"), Error{Code: Internal, Message: "odd"}},
	} {
		if d := cmp.Diff(&c.want, AsError(c.err)); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
}
