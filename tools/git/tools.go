// Package git holds the tools over git repositories. What they may do and how
// is in package gitrepo; here are arguments, words and shapes.
package git

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
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

	// Hooks runs the hooks of a repository for a call in a root; nil: none is run.
	Hooks func(c *tools.Call, root string) Hooks

	// Committed says that a session has made a commit that names its models.
	Committed func(session string)
}

// Hooks are those of the repository, for one call.
type Hooks interface {
	gitrepo.Hooks
	Changes() []workspace.Change // of files, that they made
	Said() []string              // about what else they changed

	// Git runs git itself for a call that runs unasked, in its session's world. ok says that it
	// ended without an error.
	Git(ctx context.Context, args ...string) (said string, ok bool, err error)
}

// hooks are those of a call; Run is nil for a repository that is larger than the
// workspace, which programs of a session don't see.
type hooks struct {
	run gitrepo.Hooks
	its Hooks
}

func (d Deps) hooks(c *tools.Call, p repository) hooks {
	if d.Hooks == nil || p.below != "." {
		return hooks{}
	}
	its := d.Hooks(c, p.repo.Dir)
	return hooks{its, its}
}

// changes are what hooks made of files.
func (h hooks) changes() []workspace.Change {
	if h.its == nil {
		return nil
	}
	return h.its.Changes()
}

func (h hooks) said() []string {
	if h.its == nil {
		return nil
	}
	return h.its.Said()
}

const category = "git"

// Tools returns the tools of this family.
func Tools(d Deps) []*tools.Tool {
	return []*tools.Tool{
		newStatus(d), newDiff(d), newLog(d),
		newStage(d), newCommit(d), newPush(d), newPull(d), newStash(d), newBranch(d), newInit(),
	}
}
