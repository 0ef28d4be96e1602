// Package git holds the tools over git repositories. What they may do and how
// is in package gitrepo; here are arguments, words and shapes.
package git

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps are what the tools of this family need besides the files.
type Deps struct {
	// Open returns the repository that holds a directory of the operating
	// system. It fails with gitrepo.ErrNoRepository.
	Open func(ctx context.Context, dir string) (*gitrepo.Repo, error)

	// Models returns the names of the models that a session used since its
	// last commit, in order of their first use. nil means that none is known.
	Models func(session string) []string

	// Committed says that a session has made a commit that names its models.
	Committed func(session string)
}

const category = "git"

// Tools returns the tools of this family.
func Tools(d Deps) []*tools.Tool {
	return []*tools.Tool{
		newStatus(d), newDiff(d), newLog(d),
		newStage(d), newCommit(d), newPush(d), newPull(d), newStash(d), newBranch(d), newInit(),
	}
}
