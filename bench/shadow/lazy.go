package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools/search"
)

// lazyRound is what one round with a shadow without files took.
type lazyRound struct {
	create, first, main, view, list, mainList, git cost.Cost
	bytes                                          int64 // in its directory
}

// absent is what is searched for: all files are read.
const absent = "xyzzy_plugh_42"

// lazily measures shadows without files: making one, the first search in it,
// which has to learn what there is, and then searches and lists beside those of
// the main tree.
func lazily(ctx context.Context, name, at string, rounds int) error {
	repo := filepath.Join(at, "repo")
	m, err := shadow.New(shadow.Options{Dir: repo, Settings: many{}, Prepare: func() error { return excludeFromIndex(repo) }})
	if err != nil {
		return err
	}
	defer m.Close()
	main, err := workspace.OpenDisk([]workspace.Folder{{Dir: repo}}, workspace.DiskOptions{})
	if err != nil {
		return err
	}
	defer main.Close()
	if _, err := m.List(ctx); err != nil { // it has tidied up then
		return err
	}
	var list []lazyRound
	for i := range rounds + 1 {
		r, err := lazyMeasure(ctx, m, main, repo, fmt.Sprintf("lazy%d", i))
		if err != nil {
			return err
		}
		if i > 0 {
			list = append(list, r)
		}
	}
	mid := func(f func(lazyRound) cost.Cost) string { return cost.Typical(each(list, f)).Text(1) }
	ratio := func(a, b func(lazyRound) cost.Cost) string { return cost.Ratio(each(list, a), each(list, b)) }
	var bytes int64
	for _, r := range list {
		bytes = max(bytes, r.bytes)
	}
	view, inMain := func(r lazyRound) cost.Cost { return r.view }, func(r lazyRound) cost.Cost { return r.main }
	listed, inMainList := func(r lazyRound) cost.Cost { return r.list }, func(r lazyRound) cost.Cost { return r.mainList }
	fmt.Printf("%-10s without files: made in %s, %d bytes copied; git worktree add --no-checkout %s; first search %s; search %s, main tree %s, ratio %s; list %s, main tree %s, ratio %s\n",
		name, mid(func(r lazyRound) cost.Cost { return r.create }), bytes, mid(func(r lazyRound) cost.Cost { return r.git }), mid(func(r lazyRound) cost.Cost { return r.first }),
		mid(view), mid(inMain), ratio(view, inMain), mid(listed), mid(inMainList), ratio(listed, inMainList))
	return nil
}

func lazyMeasure(ctx context.Context, m *shadow.Manager, main *workspace.Disk, repo, id string) (r lazyRound, err error) {
	tree := filepath.Join(filepath.Dir(repo), "bare-"+id)
	if r.git, err = git(ctx, repo, "worktree", "add", "-q", "--no-checkout", "--detach", tree, "HEAD"); err != nil {
		return r, err
	}
	var s shadow.Shadow
	if r.create, err = cost.Here(func() (err error) {
		s, err = m.Create(ctx, shadow.CreateRequest{ID: id, Lazy: true})
		return err
	}); err != nil {
		return r, err
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: s.Root}}, workspace.DiskOptions{})
	if err != nil {
		return r, err
	}
	defer disk.Close()
	var view workspace.View
	grep := func(files workspace.Files) func() error {
		return func() error {
			q := search.Query{Pattern: absent, Walk: workspace.WalkOptions{Workers: 2}}
			got, err := q.Run(ctx, files)
			if err == nil && got.Searched == 0 {
				err = errors.New("nothing was searched")
			}
			return err
		}
	}
	names := func(files workspace.Files) func() error {
		return func() error {
			_, _, err := search.Files(ctx, nil, files, workspace.WalkOptions{Workers: 2}, 1<<30, func(string) bool { return true })
			return err
		}
	}
	steps := []struct {
		into *cost.Cost
		do   func() error
	}{
		{&r.first, func() (err error) {
			if view, err = m.View(ctx, id, disk); err != nil {
				return err
			}
			return grep(view)()
		}},
		{&r.main, grep(main)}, {&r.view, func() error { return grep(view)() }},
		{&r.mainList, names(main)}, {&r.list, func() error { return names(view)() }},
	}
	for _, step := range steps {
		if *step.into, err = cost.Here(step.do); err != nil {
			return r, err
		}
	}
	err = filepath.WalkDir(s.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == filepath.Join(s.Path, ".git") {
			return err
		}
		info, err := e.Info()
		if err == nil {
			r.bytes += info.Size()
		}
		return err
	})
	return r, err
}
