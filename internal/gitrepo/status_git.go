package gitrepo

import "context"

// statusByGit is Status by the git command.
func (r *Repo) statusByGit(ctx context.Context, o StatusOptions, why error) (*Status, error) {
	return nil, why
}
