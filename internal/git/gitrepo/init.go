package gitrepo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
)

// ExistsError says that a directory has a repository, or lies in one.
type ExistsError struct {
	Dir, Around string // Around is Dir itself if the repository is its own
}

func (e *ExistsError) Error() string {
	if e.Dir == e.Around {
		return e.Dir + " is a git repository already"
	}
	return fmt.Sprintf("%s lies in the git repository %s, which would not see its files any more", e.Dir, e.Around)
}

// Init makes a repository of a directory that is in none, and returns the name
// of its branch, which the user's settings may choose. It fails with an
// *ExistsError.
func Init(dir string) (branch string, err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	// Also one that may not be used is one.
	for at := real; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return "", &ExistsError{real, at}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	set, err := gitconfig.User("", "init.defaultbranch")
	if err != nil {
		return "", err
	}
	branch = cmp.Or(set["init.defaultbranch"], "main")
	if err := CheckBranchName(branch); err != nil {
		return "", fmt.Errorf("init.defaultBranch in your git settings: %w", err)
	}
	_, err = git.PlainInitWithOptions(real, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName(branch)}})
	return branch, err
}
