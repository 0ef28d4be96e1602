package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// gitMissing and gitEmpty are those of gitProtected that a directory or an empty file
// stands in for.
var (
	gitMissing = []string{"hooks", "info", "modules", "worktrees"}
	gitEmpty   = []string{"config", "config.worktree"}
)

// own protects the repository of the directory itself.
func (g *guard) own() error {
	git := filepath.Join(g.dir, ".git")
	if gitDir(g.host(g.dir)) { // a bare repository, or the git directory of another tree
		git = g.dir
	}
	info, err := os.Lstat(g.host(git))
	switch {
	case err != nil:
		return err
	case standsIn(info):
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return linkError(git)
	case !info.IsDir():
		g.readOnly = append(g.readOnly, git)
		g.see = linkedTree(git)
		return nil
	}
	return g.repository(git)
}

// nested protects a repository below the directory.
func (g *guard) nested(path string, whole bool) error {
	if path == g.dir || filepath.Dir(path) == g.dir && filepath.Base(path) == ".git" || slices.ContainsFunc(g.readOnly, func(dir string) bool { return within(path, dir) }) {
		return nil
	}
	info, err := os.Lstat(g.host(path))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink != 0:
		return nil // whoever looks after the command compares it
	case err != nil:
		return err
	case !info.IsDir() || whole || !gitDir(g.host(path)) && !linkedGitDir(g.host(path)):
		g.readOnly = append(g.readOnly, path)
		return nil
	case linkedGitDir(g.host(path)):
		g.keep = append(g.keep, path)
		return g.linked(path)
	}
	return g.repository(path)
}

// repository protects what makes git run something in a git directory.
func (g *guard) repository(git string) error {
	for _, name := range gitProtected {
		if info, err := os.Lstat(g.host(filepath.Join(git, name))); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			// Nothing can be mounted over a link, so it could be replaced.
			g.readOnly = append(g.readOnly, git)
			return nil
		}
	}
	if git != g.dir {
		g.keep = append(g.keep, git)
	}
	for _, name := range gitProtected {
		if err := g.readOnlyAt(filepath.Join(git, name)); err != nil {
			return err
		}
	}
	for _, name := range gitMissing {
		if err := g.standIn(filepath.Join(git, name)); err != nil {
			return err
		}
	}
	for _, name := range gitEmpty {
		if err := g.standInFile(filepath.Join(git, name)); err != nil {
			return err
		}
	}
	for _, name := range gitEmpty {
		g.settings = append(g.settings, filepath.Join(git, name))
	}
	if trap := filepath.Join(git, gitTrap); !exists(g.host(trap)) {
		g.traps = append(g.traps, trap)
	}
	return nil
}

// linked protects what leads git from the git directory of a linked working
// tree to settings.
func (g *guard) linked(git string) error {
	for _, name := range linkedProtected {
		if err := g.readOnlyAt(filepath.Join(git, name)); err != nil {
			return err
		}
	}
	if err := g.standIn(filepath.Join(git, "modules")); err != nil {
		return err
	}
	return g.standInFile(filepath.Join(git, "config.worktree"))
}
