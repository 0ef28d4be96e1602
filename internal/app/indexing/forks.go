package indexing

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// maxForks is how many other trees are remembered.
const maxForks = 4

// fork is the index of a tree that is not the main one: a shadow's.
type fork struct {
	dir  string
	disk *workspace.Disk // nil: a view that copies on write
	*index.Index
	watch *watch.Lazy // of disk
}

func (f fork) close() error {
	err := f.Close()
	if f.watch != nil {
		err = errors.Join(err, f.watch.Close())
	}
	return err
}
