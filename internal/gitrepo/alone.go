package gitrepo

import "context"

// What is done without the git command.

func (r *Repo) stageAlone(context.Context, StageRequest) (StageResult, error) {
	return StageResult{}, ErrNoGit
}

func (r *Repo) commitAlone(context.Context, string, string) (CommitResult, error) {
	return CommitResult{}, ErrNoGit
}

func (r *Repo) headAlone() (string, error) { return "", ErrNoGit }
