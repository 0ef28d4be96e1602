package gitrepo

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
)

// AddWorktree has the git command make a linked working tree in dir, with its
// HEAD at commit and on no branch: where filters have to run, and in
// repositories of a kind that is not written in this process. It is locked,
// until its maker removes the file locked, so that it can be told from one that
// is complete.
func (r *Repo) AddWorktree(ctx context.Context, dir string, commit plumbing.Hash) error {
	_, err := r.git(ctx, invocation{op: "worktree-add", args: []string{"--lock", dir, commit.String()}})
	return err
}

// Smudged returns the bytes that the file of an object has in a working tree.
func (r *Repo) Smudged(ctx context.Context, path string, id plumbing.Hash) ([]byte, error) {
	return r.git(ctx, invocation{op: "smudged", args: []string{"--path=" + path, id.String()}})
}
