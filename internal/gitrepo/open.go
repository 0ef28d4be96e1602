package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxPointer bounds the files that hold one path, in bytes.
const maxPointer = 64 << 10

// Open finds the working tree that dir is in, upwards from dir.
//
// A repository is used only where it says that it belongs: a .git file or link
// can come with the code and name any directory, so what it names must name the
// working tree in turn (a linked working tree by its gitdir file, a submodule by
// core.worktree). Bare repositories, which anybody can add to the code as plain
// files, and repositories of other users are refused.
func Open(dir string, o Options) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	top, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	device, known := deviceOf(top)
	for at := top; ; at = filepath.Dir(at) {
		if here, ok := deviceOf(at); known && ok && here != device {
			break // as git does, a search ends at a mount point
		}
		r, err := openAt(at, o)
		if err != nil || r != nil {
			return r, err
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return nil, fmt.Errorf("%s: %w", abs, ErrNoRepository)
}

// Rel returns the path of a directory of the operating system that is in the
// working tree, slash-separated and relative to its top: "." is the top.
func (r *Repo) Rel(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(r.Dir, real)
	return filepath.ToSlash(rel), err
}

// openAt opens the repository of the working tree top, or returns nil when
// there is none.
func openAt(top string, o Options) (*Repo, error) {
	dot := filepath.Join(top, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && info.IsDir() && isGitDir(dot):
		return openDir(top, dot, o)
	case err == nil && info.Mode().IsRegular():
		target, err := readPointer(dot, "gitdir: ", top)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: it is no link to a repository (%w)", dot, ErrRefused, err)
		}
		return openLinked(top, dot, target, o)
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return openLinked(top, dot, dot, o)
	case isGitDir(top):
		return nil, fmt.Errorf("%s: %w: it is a bare repository, which has no working tree", top, ErrRefused)
	}
	return nil, nil
}

// openDir opens a repository in its usual place.
func openDir(top, gitDir string, o Options) (*Repo, error) {
	r := &Repo{Dir: top, GitDir: gitDir, CommonDir: gitDir, o: o}
	if _, err := os.Lstat(filepath.Join(gitDir, "commondir")); err == nil {
		return nil, fmt.Errorf("%s: %w: it takes another repository's objects and settings (commondir)", gitDir, ErrRefused)
	}
	conf, err := ownSettings(gitDir)
	if err != nil {
		return nil, err
	}
	if path := conf["core.worktree"]; path != "" && !sameFile(resolve(path, gitDir), top) {
		return nil, fmt.Errorf("%s: %w: its setting core.worktree names another directory", gitDir, ErrRefused)
	}
	if conf.bool("core.bare", false) {
		return nil, fmt.Errorf("%s: %w: its setting core.bare says that it has no working tree", gitDir, ErrRefused)
	}
	return r, r.checkOwner()
}

// openLinked opens the repository that a .git file or link names.
func openLinked(top, dot, target string, o Options) (*Repo, error) {
	refuse := func(why string) error {
		return fmt.Errorf("%s: %w: it names %s, %s", dot, ErrRefused, target, why)
	}
	gitDir, err := filepath.EvalSymlinks(target)
	if err != nil || !isGitDir(gitDir) {
		return nil, refuse("which is no repository")
	}
	r := &Repo{Dir: top, GitDir: gitDir, CommonDir: gitDir, o: o}
	common, err := readPointer(filepath.Join(gitDir, "commondir"), "", gitDir)
	if errors.Is(err, fs.ErrNotExist) { // a submodule
		conf, err := ownSettings(gitDir)
		if err != nil {
			return nil, err
		}
		if path := conf["core.worktree"]; path == "" || !sameFile(resolve(path, gitDir), top) {
			return nil, refuse("which does not name this directory in turn (core.worktree)")
		}
		return r, r.checkOwner()
	}
	if err != nil {
		return nil, refuse("which is damaged")
	}
	if r.CommonDir, err = filepath.EvalSymlinks(common); err != nil {
		return nil, refuse("which has lost its repository")
	}
	// Only a directory that lies in the repository itself speaks for it.
	worktrees := filepath.Join(r.CommonDir, "worktrees")
	if !sameFile(filepath.Dir(gitDir), worktrees) {
		return nil, refuse("which is not among the working trees of its repository")
	}
	back, err := readPointer(filepath.Join(gitDir, "gitdir"), "", gitDir)
	if err != nil || !sameFile(back, dot) {
		return nil, refuse("which is the place of another working tree; git worktree repair mends one that was moved")
	}
	return r, r.checkOwner()
}

// isGitDir reports whether dir has what git takes a repository for.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if info, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil && info.Mode().IsRegular() {
		return true
	}
	for _, name := range [...]string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// readPointer reads a file that holds a path after a prefix.
func readPointer(file, prefix, base string) (string, error) {
	data, err := readSmall(file, maxPointer)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || path == "" || strings.IndexByte(path, 0) >= 0 {
		return "", fmt.Errorf("%s: %w", file, ErrCorrupt)
	}
	return resolve(path, base), nil
}

// readSmall reads a regular file that is not larger than limit.
func readSmall(file string, limit int64) ([]byte, error) {
	f, err := openRegular(file)
	if err != nil && isNull(file) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

// isNull reports whether a file is the null device, by whose name settings say
// that there is none: GIT_CONFIG_GLOBAL in git(1), for one.
func isNull(file string) bool {
	null, err1 := os.Stat(os.DevNull)
	info, err2 := os.Stat(file)
	return err1 == nil && err2 == nil && os.SameFile(info, null)
}

// readNoFollow is readSmall for what must not be a link.
func readNoFollow(file string, limit int64) ([]byte, error) {
	f, err := openNoFollow(file)
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

// readAll reads a file that is not larger than limit, and closes it.
func readAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: %w: it is larger than %d bytes", f.Name(), ErrCorrupt, limit)
	}
	return data, err
}

// ownSettings reads a repository's own settings, which tell where its working
// tree is, without what they include.
func ownSettings(gitDir string) (config, error) {
	list, err := readConfig(filepath.Join(gitDir, "config"))
	if err != nil {
		return nil, err
	}
	conf := config{}
	for _, s := range list {
		conf.set(s)
	}
	return conf, nil
}

func resolve(path, base string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
