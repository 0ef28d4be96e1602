package shadow

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// leftOut adds to a merge what was done in repositories that lie in the
// shadow: submodules, and those that a task has made. None of it is a change
// of a file of the shadow's, and who discards it should know.
func (g *merging) leftOut() error {
	why := map[string]string{}
	for _, name := range g.c.t.inside {
		why[name] = "it is a repository of its own; what you want of it has to be taken out of the shadow workspace by hand"
	}
	base, err := g.began()
	if err != nil {
		return err
	}
	g.modules(modulesOf(base), why)
	for _, file := range slices.Sorted(maps.Keys(why)) {
		if name, ok := g.resolve(file); ok {
			g.skip(name, "%s", why[file])
		}
	}
	return nil
}

// modules finds the submodules that are not as the shadow began.
func (g *merging) modules(was map[string]plumbing.Hash, why map[string]string) {
	now, err := index.Read(filepath.Join(g.c.t.linked.GitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return // no file was made yet
	}
	if err != nil {
		for name := range was {
			why[name] = unseen + err.Error()
		}
		return
	}
	is := modulesOf(now)
	for name := range was {
		if _, ok := is[name]; !ok {
			why[name] = "the submodule was removed; submodules are not merged, so remove it in your tree"
		}
	}
	if len(is) == 0 {
		return
	}
	changed, err := g.c.t.changed(g.ctx)
	for name, at := range is {
		before, ok := was[name]
		switch {
		case !ok:
			why[name] = "it is a new submodule; submodules are not merged, so add it in your tree"
		case before != at:
			why[name] = "the submodule was set to the commit " + at.String()[:10] + "; submodules are not merged, so set it in your tree"
		case err != nil:
			why[name] = unseen + err.Error()
		case changed[name]:
			why[name] = "the submodule has changes or commits of its own; submodules are not merged, so push them from there"
		}
	}
}

const unseen = "the submodule can't be looked at: "

func modulesOf(x *index.Index) map[string]plumbing.Hash {
	found := map[string]plumbing.Hash{}
	for i := range x.Entries {
		if e := x.Entries[i]; e.Mode == filemode.Submodule {
			found[e.Name] = e.Hash
		}
	}
	return found
}

// changed are the files of the shadow, submodules among them, that are not as
// its own index has them.
func (t *tree) changed(ctx context.Context) (map[string]bool, error) {
	repo, err := gitrepo.Open(t.Path, gitrepo.Options{Programs: t.repo.Programs()})
	if err != nil {
		return nil, err
	}
	st, err := repo.Status(ctx, gitrepo.StatusOptions{})
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for _, f := range st.Files {
		changed[f.Path] = f.Changed != ' '
	}
	return changed, nil
}
