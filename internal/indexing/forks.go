package indexing

import (
	"context"
	"errors"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
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

// of returns the index of the tree that a view is of.
func (k *Knowledge) of(files workspace.Files) (*index.Index, error) {
	x, err := k.open()
	if err != nil {
		return nil, err
	}
	disk, _ := files.Base()
	if disk == k.o.Watch.Disk() {
		return x, nil
	}
	if _, err := files.Stat("."); err != nil {
		return nil, err // why there is no tree any more
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, errClosing
	}
	dir := files.Abs(".")
	i := slices.IndexFunc(k.forks, func(f fork) bool {
		return f.dir == dir && f.disk == disk && f.Status().Failed == "" // its files may have been closed, and opened again
	})
	if i >= 0 {
		f := k.forks[i]
		k.forks = append(slices.Delete(k.forks, i, i+1), f)
		return f.Index, nil
	}
	f := fork{dir: dir, disk: disk}
	if disk == nil {
		f.Index = x.Fork(k.guarded(files), nil)
	} else {
		f.watch = watch.NewLazy(disk)
		f.Index = x.Fork(k.guarded(disk), f.watch.Changes())
	}
	old := slices.DeleteFunc(slices.Clone(k.forks), func(o fork) bool { return o.dir != dir })
	k.forks = append(slices.DeleteFunc(k.forks, func(o fork) bool { return o.dir == dir }), f)
	if len(k.forks) > maxForks {
		old = append(old, k.forks[0])
		k.forks = slices.Delete(k.forks, 0, 1)
	}
	for _, o := range old {
		err = errors.Join(err, o.close())
	}
	return f.Index, err
}

// Search answers a question about the tree that a view is of.
func (k *Knowledge) Search(ctx context.Context, files workspace.Files, q index.Query) (index.Answer, error) {
	x, err := k.of(files)
	if err != nil {
		return index.Answer{}, err
	}
	return x.Search(ctx, files, q)
}
