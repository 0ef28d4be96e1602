package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// protected are names in a root that a command must not make or change,
// because other programs run or trust what they hold. missing are those of
// them that are protected before they exist: a directory stands in for each of
// them, and goes when the command has ended.
var (
	missing = []string{".git", ".sidecar", ".vscode", ".idea", ".mcp.json", ".envrc", ".cursor", ".claude", ".devcontainer", ".husky"}

	protected = []string{".sidecar", ".vscode", ".idea", ".vs", ".fleet", ".zed", ".cursor", ".claude", ".codex", ".gemini", ".devcontainer",
		".devcontainer.json", ".husky", ".githooks", ".lefthook", ".direnv", ".ssh", ".gnupg", ".mcp.json", "mcp.json", ".envrc", ".bashrc",
		".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".gitconfig", ".gitmodules", ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".pre-commit-config.yaml",
		"lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".ripgreprc", ".gdbinit", ".lldbinit"}

	// gitProtected are the names in a git directory that make git run something.
	gitProtected = []string{"hooks", "config", "config.worktree", "info", "modules", "worktrees"}
	gitMissing   = []string{"hooks", "info", "modules"}
)

// gitTrap is a file that must not appear in a git directory. It says where git
// reads its settings and hooks, and git fails when anything else has its name:
// so nothing can stand in for it, and it is removed after the command.
const gitTrap = "commondir"

// guard is what protects one directory while a command runs in it.
type guard struct {
	lock *os.File
	dir  string

	see      []string // what must be visible besides
	keep     []string // directories that must not be renamed, in the order of their depth
	readOnly []string
	traps    []string // files that must not be there afterwards
	stands   []string // our own directories that stand in for what is missing
}

// protect finds what is to be protected in a writable directory, and makes
// what must exist for that. Call release when the command has ended. Several
// commands, of several servers, may run in one directory: the last one tidies
// up, and a stand-in is known by its sticky bit. A command's keeper holds its
// lock, too, so that nobody tidies up while a command is ended whose server is
// gone.
func protect(dir string) (*guard, error) {
	g := &guard{dir: dir}
	if f, err := os.Open(dir); err == nil {
		if unix.Flock(int(f.Fd()), unix.LOCK_SH) == nil {
			g.lock = f
		} else {
			f.Close() // a file system without locks
		}
	}
	err := g.find()
	if err != nil {
		g.release()
		return nil, err
	}
	return g, nil
}

func (g *guard) find() error {
	for _, name := range protected {
		if err := g.readOnlyAt(filepath.Join(g.dir, name)); err != nil {
			return err
		}
	}
	for _, name := range missing {
		if err := g.standIn(filepath.Join(g.dir, name)); err != nil {
			return err
		}
	}
	git := filepath.Join(g.dir, ".git")
	if gitDir(g.dir) { // a bare repository, or the git directory of another tree
		git = g.dir
	}
	info, err := os.Lstat(git)
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
	for _, name := range gitProtected {
		if info, err := os.Lstat(filepath.Join(git, name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
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
	if trap := filepath.Join(git, gitTrap); !exists(trap) {
		g.traps = append(g.traps, trap)
	}
	return nil
}

// gitDir reports whether dir is what git takes for a git directory.
func gitDir(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// readOnlyAt protects path if it exists.
func (g *guard) readOnlyAt(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return linkError(path)
	case standsIn(info):
		g.stands = append(g.stands, path)
	}
	g.readOnly = append(g.readOnly, path)
	return nil
}

func linkError(path string) error {
	return &RefusedError{fmt.Sprintf("%s is a link, which the sandbox can't protect from being replaced; make it a file or directory of its own, or set sidecar.sandbox.mode to off", path)}
}

// standIn puts a directory where there is nothing.
func (g *guard) standIn(path string) error {
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Lstat(path); err != nil || !standsIn(info) || slices.Contains(g.stands, path) {
			return err // readOnlyAt has it
		}
		err = nil // another command made it
	}
	if err != nil {
		return fmt.Errorf("%s can't be protected: %w", path, err)
	}
	g.stands = append(g.stands, path)
	g.readOnly = append(g.readOnly, path)
	return os.Chmod(path, 0o755|fs.ModeSticky)
}

// standsIn reports whether a directory is one of ours: sticky, which no
// program makes in a workspace. Whether it is empty shows when it is removed.
func standsIn(info fs.FileInfo) bool {
	return info.IsDir() && info.Mode()&fs.ModeSticky != 0
}

// release tidies up and returns the traps that were sprung: files that were
// removed because they must not be there.
func (g *guard) release() (removed []string) {
	for _, path := range g.traps {
		if exists(path) && os.RemoveAll(path) == nil {
			removed = append(removed, path)
		}
	}
	if g.lock != nil {
		defer g.lock.Close()
		if unix.Flock(int(g.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			return removed // another command runs here
		}
	}
	for _, path := range g.stands {
		if err := unix.Rmdir(path); err == unix.ENOTEMPTY || err == unix.EEXIST {
			_ = os.Chmod(path, 0o755) // the user made something of it
		}
	}
	return removed
}

// Sweep removes the directories that stand in for missing names in dir, if no
// command runs there: what a server left behind that was killed together with
// the processes that keep its commands.
func Sweep(dir string) {
	var stands []string
	look := func(dir string, names []string) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if info, err := os.Lstat(path); err == nil && standsIn(info) {
				stands = append(stands, path)
			}
		}
	}
	if gitDir(dir) {
		look(dir, gitMissing)
	} else {
		look(filepath.Join(dir, ".git"), gitMissing)
	}
	look(dir, missing)
	if len(stands) == 0 {
		return
	}
	if f, err := os.Open(dir); err == nil {
		(&guard{lock: f, dir: dir, stands: stands}).release()
	}
}

// above lists the directories from below root down to the parent of path:
// each of them could be renamed, and another one made in its place.
func above(root, path string) []string {
	var dirs []string
	for dir := filepath.Dir(path); dir != root && within(dir, root) && strings.Count(dir, "/") > 0; dir = filepath.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// linkedTree is the git directory that a linked working tree belongs to, if
// that directory knows the tree, too: a .git file alone may name any place.
func linkedTree(file string) []string {
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil || len(data) > 1<<16 {
			return ""
		}
		return strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir: "))
	}
	own := read(file)
	if !filepath.IsAbs(own) {
		own = filepath.Join(filepath.Dir(file), own)
	}
	back, err := filepath.EvalSymlinks(read(filepath.Join(own, "gitdir")))
	if err != nil || back != file {
		return nil
	}
	common := read(filepath.Join(own, "commondir"))
	if !filepath.IsAbs(common) {
		common = filepath.Join(own, common)
	}
	if common, err = filepath.EvalSymlinks(common); err != nil || !gitDir(common) {
		return nil
	}
	return []string{common}
}
