// Package gitrepo is the access to git repositories: what is read is read in
// this process, by go-git or by code of our own; what writes the index or needs
// hooks, filters, signing or the network is done by the git command, of which a
// closed list of operations is run with nothing in the environment and in the
// configuration that the repository could use to run programs.
package gitrepo

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Errors that callers branch on. They come wrapped in what they are about.
var (
	// ErrNoRepository says that a directory is in no working tree.
	ErrNoRepository = errors.New("not a git repository")

	// ErrRefused says that there is a repository, but that it is not where it
	// says, or not the user's, so that it isn't used.
	ErrRefused = errors.New("the repository is not used")
)

// Options has a useful zero value.
type Options struct {
	// Git is the git command; "" looks it up on PATH, and NoGit does without.
	Git string

	// Programs says where it and what it starts may come from; nil: not from the repository.
	Programs *lookup.Finder

	// Trusted reports whether the user trusts the workspace, so that hooks,
	// filters and drivers that its repository names may run; nil means no.
	Trusted func() bool
}

// Programs is where the repository's git may come from.
func (r *Repo) Programs() *lookup.Finder {
	if r == nil {
		return nil
	}
	return r.o.Programs
}

// Repo is one working tree and its repository. It is safe for concurrent use.
type Repo struct {
	Dir       string // top of the working tree: absolute, links resolved
	GitDir    string // what belongs to this working tree: .git, or .git/worktrees/<name> of the main one
	CommonDir string // what all working trees share: refs, objects, config

	o       Options
	Objects *object.Store
	storage storage
	configs gitconfig.Cache

	index *index.Last
	Git   *gitcmd.Git
}
