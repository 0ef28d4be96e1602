package worktree

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// Add has the git command make a linked working tree in dir, with its
// HEAD at commit and on no branch: where filters have to run, and in
// repositories of a kind that is not written in this process. It is locked,
// until its maker removes the file locked, so that it can be told from one that
// is complete.
func Add(ctx context.Context, r *gitrepo.Repo, dir string, commit plumbing.Hash) error {
	_, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "worktree-add", Args: []string{"--lock", dir, commit.String()}})
	return err
}

// Smudged returns the bytes that the file of an object has in a working tree.
func Smudged(ctx context.Context, r *gitrepo.Repo, path string, id plumbing.Hash) ([]byte, error) {
	return r.Git.Run(ctx, gitcmd.Invocation{Op: "smudged", Args: []string{"--path=" + path, id.String()}})
}
