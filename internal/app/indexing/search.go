package indexing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

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

// OfWorkspace returns the symbols of the project that fit a query, best first;
// none when the settings want no project index.
func (k *Knowledge) OfWorkspace(ctx context.Context, files workspace.Files, query string) ([]pki.Definition, error) {
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	const (
		maxHits = 200
		wait    = 5 * time.Second // for the first look at the files
	)
	a, err := k.Search(ctx, files, index.Query{Text: query, MaxHits: maxHits, Wait: wait})
	if errors.Is(err, ErrOff) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []pki.Definition
	for _, h := range a.Hits {
		container, name := "", h.Name
		if i := strings.LastIndexByte(h.Name, '.'); i > 0 && h.Kind != pki.Heading {
			container, name = h.Name[:i], h.Name[i+1:]
		}
		out = append(out, pki.Definition{Path: h.Path, Name: name, Container: container, Kind: h.Kind, Line: h.Start})
	}
	return out, nil
}
