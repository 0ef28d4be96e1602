package gitrepo

import "context"

// diffByGit is Diff by the git command.
func (r *Repo) diffByGit(ctx context.Context, o DiffOptions, why error) (*Diff, error) {
	return nil, why
}
