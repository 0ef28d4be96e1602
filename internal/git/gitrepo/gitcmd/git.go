package gitcmd

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// NoGit as Config.Git stands for a machine without the git command.
const NoGit = "-"

// ErrNoGit says that there is no git command, and that what was asked for
// can't be done without it.
var ErrNoGit = errors.New("the git command is not installed")

// Git runs the git command on one working tree. It is safe for concurrent use.
type Git struct {
	Tree

	bin      string
	programs *lookup.Finder
	besides  []string // further directories that are the repository's
	mayTrust func() bool
	open     func(dir string) (*Git, error)
	index    *index.Last
	runner   runner
}

// Tree is where a working tree and its repository are: see gitrepo.Repo.
type Tree struct {
	Dir, GitDir, CommonDir string
	Objects                string // "" is those of CommonDir
}

// Config says how git is run.
type Config struct {
	Git      string         // the git command; "" looks it up on PATH, and NoGit does without
	Programs *lookup.Finder // where it, and what it starts, may come from; nil: not from the repository
	Trusted  func() bool    // whether what the repository names may run; nil means no
	Index    *index.Last    // of the working tree

	// Open opens the submodule in a directory.
	Open func(dir string) (*Git, error)
}

// New runs git on a working tree.
func New(t Tree, c Config) *Git {
	if c.Programs == nil {
		c.Programs = lookup.New(lookup.Options{})
	}
	return &Git{Tree: t, bin: c.Git, programs: c.Programs, mayTrust: c.Trusted, open: c.Open, index: c.Index}
}

// Aside runs git on another working tree and directory, with what holds for g: what
// is the repository's stays so.
func (g *Git) Aside(t Tree, x *index.Last) *Git {
	return &Git{Tree: t, bin: g.bin, programs: g.programs, besides: g.own(), mayTrust: g.mayTrust, open: g.open, index: x}
}
