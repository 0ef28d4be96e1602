package mask

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// gitMissing and gitEmpty are those of gitProtected that a directory or an empty file
// stands in for.
var (
	gitMissing = []string{"hooks", "info", "modules", "worktrees"}
	gitEmpty   = []string{"config", "config.worktree"}
)

// own protects the repository of the directory itself.
func (g *Guard) own() error {
	git := filepath.Join(g.dir, ".git")
	if spec.GitDir(g.host(g.dir)) { // a bare repository, or the git directory of another tree
		git = g.dir
	}
	info, err := os.Lstat(g.host(git))
	switch {
	case err != nil:
		return err
	case StandsIn(info):
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return spec.LinkError(git)
	case !info.IsDir():
		g.readOnly = append(g.readOnly, git)
		g.see = spec.LinkedTree(git)
		return nil
	}
	return g.repository(git)
}

// nested protects a repository below the directory.
func (g *Guard) nested(path string, whole bool) error {
	if path == g.dir || filepath.Dir(path) == g.dir && filepath.Base(path) == ".git" || slices.ContainsFunc(g.readOnly, func(dir string) bool { return spec.Within(path, dir) }) {
		return nil
	}
	info, err := os.Lstat(g.host(path))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink != 0:
		return nil // whoever looks after the command compares it
	case err != nil:
		return err
	case !info.IsDir() || whole || !spec.GitDir(g.host(path)) && !spec.LinkedGitDir(g.host(path)):
		g.readOnly = append(g.readOnly, path)
		return nil
	case spec.LinkedGitDir(g.host(path)):
		g.keep = append(g.keep, path)
		return g.linked(path)
	}
	return g.repository(path)
}

// repository protects what makes git run something in a git directory.
func (g *Guard) repository(git string) error {
	for _, name := range spec.GitProtected {
		if info, err := os.Lstat(g.host(filepath.Join(git, name))); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			// Nothing can be mounted over a link, so it could be replaced.
			g.readOnly = append(g.readOnly, git)
			return nil
		}
	}
	if git != g.dir {
		g.keep = append(g.keep, git)
	}
	for _, name := range spec.GitProtected {
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
	if trap := filepath.Join(git, spec.GitTrap); !spec.Exists(g.host(trap)) {
		g.traps = append(g.traps, trap)
	}
	return nil
}

// linked protects what leads git from the git directory of a linked working
// tree to settings.
func (g *Guard) linked(git string) error {
	for _, name := range spec.LinkedProtected {
		if err := g.readOnlyAt(filepath.Join(git, name)); err != nil {
			return err
		}
	}
	if err := g.standIn(filepath.Join(git, "modules")); err != nil {
		return err
	}
	return g.standInFile(filepath.Join(git, "config.worktree"))
}
