package textindex

import (
	"context"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// List calls found for the names of the files that a walk of files with opts
// meets and that match, most of them in order, one at a time. It returns false
// when it doesn't know them.
func (x *Index) List(ctx context.Context, files workspace.Files, opts workspace.WalkOptions, match func(name string) bool, found func(name string)) (bool, error) {
	disk, over := files.Base()
	if x == nil || !x.covers(&opts, disk) {
		return false, nil
	}
	ask, ok, err := x.list(ctx, &opts, over, match, found)
	if err != nil || !ok || len(ask)+len(over) == 0 {
		return ok, err
	}
	// The view knows which of these it shows, and what else.
	opts.Names, opts.Workers = ask, 1
	return true, files.Walk(ctx, opts, func(e *workspace.Entry) error {
		if match(e.Path) {
			found(e.Path)
		}
		return nil
	})
}

// list returns the names that match and about which the view has to be asked.
func (x *Index) list(ctx context.Context, opts *workspace.WalkOptions, over []string, match func(string) bool, found func(string)) (ask []string, ok bool, err error) {
	if err := x.acquire(ctx); err != nil {
		return nil, false, err
	}
	defer x.unlock()
	if !x.worthwhile(opts) {
		return nil, false, nil
	}
	if err := x.refresh(ctx); err != nil {
		return nil, false, closing(err)
	}
	sc, ok := x.scope(opts)
	if !ok {
		return nil, false, nil
	}
	ask = []string{}
	t := &x.tree
	for i, name := range t.names {
		f := &t.files[i]
		if f.state == isGone || !match(name) || !sc.has(name) {
			continue
		}
		isOver := false
		if len(over) > 0 {
			_, isOver = slices.BinarySearch(over, name)
		}
		if isOver || f.secret {
			ask = append(ask, name)
		} else {
			found(name)
		}
	}
	return ask, true, nil
}

// Containing returns the names of all files of a view that may contain one of
// the words, and those that also is true for: for WalkOptions.Names, since
// only a look at the files tells. It returns nil when it doesn't know.
func (x *Index) Containing(ctx context.Context, files workspace.Files, words []string, also func(name string) bool) ([]string, error) {
	p, err := x.Plan(ctx, files, workspace.WalkOptions{}, Needed{words})
	if p == nil || err != nil {
		return nil, err
	}
	names := p.Names
	_, err = x.List(ctx, files, workspace.WalkOptions{}, also, func(name string) { names = append(names, name) })
	slices.Sort(names)
	return slices.Compact(names), err
}
