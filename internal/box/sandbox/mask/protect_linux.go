package mask

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// Guard protects one directory while a command runs in it.
type Guard struct {
	Locks []*os.File // of the trees in which stand-ins are made
	dir   string
	host  func(string) string // where we find what the command sees

	see      []string // what must be visible besides
	keep     []string // directories that must not be renamed, in the order of their depth
	readOnly []string
	settings []string // of readOnly: files of repositories' settings
	traps    []string // files that must not be there afterwards
	stands   []string // our own, empty, that stand in for what is missing
}

// MaxRepositories is up to how many repositories in a directory are protected
// name by name, so that commits can be made there. Of more, the git directories
// are read only as a whole: each mount costs every command.
const MaxRepositories = 20

// Protect finds what is to be protected in a writable directory, and makes
// what must exist for that. Call release when the command has ended. Several
// commands, of several servers, may run in one directory: the last one tidies
// up, and a stand-in is known by its sticky bit. A command's keeper holds its
// locks, too, so that nobody tidies up while a command is ended whose server is
// gone. A lock is on the directory in which stand-ins are made: a command that has
// the workspace in a world, without a repository that is the disk's own, keeps nobody
// from tidying up on the disk. repositories
// are entries named .git, and git directories of other names.
func Protect(dir string, repositories []string, host func(string) string) (*Guard, error) {
	g := &Guard{dir: dir, host: host}
	g.lock(host(dir))
	if isReal := func(path string) bool { return host(path) == path }; !isReal(dir) && slices.ContainsFunc(append(slices.Clone(repositories), filepath.Join(dir, ".git")), isReal) {
		g.lock(dir)
	}
	err := g.find(repositories)
	if err != nil {
		g.Release()
		return nil, err
	}
	return g, nil
}

// lock keeps others from tidying up in a tree.
func (g *Guard) lock(at string) {
	f, err := os.Open(at)
	if err != nil {
		return
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_SH) != nil {
		f.Close() // a file system without locks
		return
	}
	g.Locks = append(g.Locks, f)
}

func (g *Guard) find(repositories []string) error {
	switch {
	case spec.LinkedGitDir(g.dir):
		return g.linked(g.dir)
	case slices.Contains(spec.GitData, filepath.Base(g.dir)) && spec.GitDir(filepath.Dir(g.dir)):
		return nil // nothing in it is run or obeyed
	}
	for _, name := range spec.Protected {
		if err := g.readOnlyAt(filepath.Join(g.dir, name)); err != nil {
			return err
		}
	}
	for _, name := range spec.Missing {
		if err := g.standIn(filepath.Join(g.dir, name)); err != nil {
			return err
		}
	}
	if err := g.own(); err != nil {
		return err
	}
	for _, path := range repositories {
		if err := g.nested(path, len(repositories) > MaxRepositories); err != nil {
			return err
		}
	}
	return nil
}

// readOnlyAt protects path if it exists.
func (g *Guard) readOnlyAt(path string) error {
	info, err := os.Lstat(g.host(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return spec.LinkError(path)
	case StandsIn(info):
		g.stands = append(g.stands, path)
	}
	g.readOnly = append(g.readOnly, path)
	return nil
}

// standIn puts a directory where there is nothing.
func (g *Guard) standIn(path string) error {
	return g.createStandIn(path, 0o755, func() error { return os.Mkdir(g.host(path), 0o755) })
}

// standInFile puts an empty file where there is nothing.
func (g *Guard) standInFile(path string) error {
	return g.createStandIn(path, 0o644, func() error {
		f, err := os.OpenFile(g.host(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			err = f.Close()
		}
		return err
	})
}

func (g *Guard) createStandIn(path string, perm fs.FileMode, make func() error) error {
	err := make()
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Lstat(g.host(path)); err != nil || !StandsIn(info) || slices.Contains(g.stands, path) {
			return err // readOnlyAt has it
		}
		err = nil // another command made it
	}
	if err != nil {
		return fmt.Errorf("%s can't be protected: %w", path, err)
	}
	g.stands = append(g.stands, path)
	g.readOnly = append(g.readOnly, path)
	return os.Chmod(g.host(path), perm|fs.ModeSticky)
}

// StandsIn reports whether something is one of ours: sticky, which no program
// makes a directory or an empty file in a workspace. Whether a directory is
// empty shows when it is removed.
func StandsIn(info fs.FileInfo) bool {
	return info.Mode()&fs.ModeSticky != 0 && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0)
}

// Release tidies up and returns the traps that were sprung: files that were
// removed because they must not be there.
func (g *Guard) Release() (removed []string) {
	for _, path := range g.traps {
		if at := g.host(path); spec.Exists(at) && os.RemoveAll(at) == nil {
			removed = append(removed, path)
		}
	}
	for _, f := range g.Locks {
		defer f.Close()
	}
	for _, f := range g.Locks {
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			return removed // another command runs here
		}
	}
	for _, path := range g.stands {
		unstand(g.host(path))
	}
	return removed
}

// unstand removes what stands in for a name, unless the user made something of
// it.
func unstand(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil || info.Mode()&fs.ModeSticky == 0:
	case info.IsDir():
		if err := unix.Rmdir(path); err == unix.ENOTEMPTY || err == unix.EEXIST {
			_ = os.Chmod(path, 0o755)
		}
	case info.Mode().IsRegular() && info.Size() == 0:
		_ = os.Remove(path)
	case info.Mode().IsRegular():
		_ = os.Chmod(path, 0o644)
	}
}

// Sweep removes what stands in for missing names in dir and in the git
// directories of it that are named, if no command runs there: what a server
// left behind that was killed together with the processes that keep its commands.
func Sweep(dir string, repositories ...string) {
	var stands []string
	look := func(dir string, lists ...[]string) {
		for _, name := range slices.Concat(lists...) {
			path := filepath.Join(dir, name)
			if info, err := os.Lstat(path); err == nil && StandsIn(info) {
				stands = append(stands, path)
			}
		}
	}
	repositories = append(repositories, filepath.Join(dir, ".git"))
	if spec.GitDir(dir) || spec.LinkedGitDir(dir) {
		repositories = append(repositories, dir)
	}
	for _, path := range repositories {
		look(path, gitMissing, gitEmpty)
	}
	look(dir, spec.Missing)
	if len(stands) == 0 {
		return
	}
	if f, err := os.Open(dir); err == nil {
		(&Guard{Locks: []*os.File{f}, dir: dir, host: Itself, stands: stands}).Release()
	}
}

// Itself is the host of what is seen as it is.
func Itself(path string) string { return path }
