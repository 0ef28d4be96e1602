package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

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
	r, err := findAt(top, o)
	if r == nil || err != nil {
		return nil, err
	}
	r.Objects = object.NewStore(r.CommonDir, r.isPartial)
	r.storage = newStorage(r.GitDir, r.CommonDir, r.Objects)
	r.index = index.NewLast(filepath.Join(r.GitDir, "index"))
	r.Git = gitcmd.New(gitcmd.Tree{Dir: r.Dir, GitDir: r.GitDir, CommonDir: r.CommonDir}, gitcmd.Config{Git: o.Git, Programs: o.Programs, Trusted: o.Trusted, Index: r.index, Open: func(dir string) (*gitcmd.Git, error) {
		sub, err := Open(dir, o)
		if err != nil {
			return nil, err
		}
		return sub.Git, nil
	}})
	return r, nil
}

// findAt is openAt without a reader of objects.
func findAt(top string, o Options) (*Repo, error) {
	dot := filepath.Join(top, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && info.IsDir() && gitfile.IsGitDir(dot):
		return openDir(top, dot, o)
	case err == nil && info.Mode().IsRegular():
		target, err := gitfile.ReadPointer(dot, "gitdir: ", top)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: it does not link to a repository (%w)", dot, ErrRefused, err)
		}
		return openLinked(top, dot, target, o)
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return openLinked(top, dot, dot, o)
	case gitfile.IsGitDir(top):
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
	conf, err := gitconfig.OwnValues(gitDir)
	if err != nil {
		return nil, err
	}
	if path := conf["core.worktree"]; path != "" && !gitfile.SameFile(gitfile.Resolve(path, gitDir), top) {
		return nil, fmt.Errorf("%s: %w: its setting core.worktree names another directory", gitDir, ErrRefused)
	}
	if conf.Bool("core.bare", false) {
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
	if err != nil || !gitfile.IsGitDir(gitDir) {
		return nil, refuse("which is not a repository")
	}
	r := &Repo{Dir: top, GitDir: gitDir, CommonDir: gitDir, o: o}
	common, err := gitfile.ReadPointer(filepath.Join(gitDir, "commondir"), "", gitDir)
	if errors.Is(err, fs.ErrNotExist) { // a submodule
		conf, err := gitconfig.OwnValues(gitDir)
		if err != nil {
			return nil, err
		}
		if path := conf["core.worktree"]; path == "" || !gitfile.SameFile(gitfile.Resolve(path, gitDir), top) {
			return nil, refuse(fmt.Sprintf("which does not name this directory in turn (core.worktree); if it is the repository of this directory, git config -f %q core.worktree %q has it do so", filepath.Join(gitDir, "config"), top))
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
	if !gitfile.SameFile(filepath.Dir(gitDir), worktrees) {
		return nil, refuse("which is not among the working trees of its repository")
	}
	back, err := gitfile.ReadPointer(filepath.Join(gitDir, "gitdir"), "", gitDir)
	if err != nil || !gitfile.SameFile(back, dot) {
		return nil, refuse("which belongs to another working tree; git worktree repair mends one that was moved")
	}
	return r, r.checkOwner()
}
