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

func (r *Repo) branchesAlone() ([]LocalBranch, error) { return nil, ErrNoGit }

func (r *Repo) createBranchAlone(string) error { return ErrNoGit }
