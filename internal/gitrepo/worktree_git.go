package gitrepo

import "context"

// AddWorktree has the git command make a linked working tree in dir, with its
// HEAD at commit and on no branch: where filters have to run, and in
// repositories of a kind that is not written in this process.
func (r *Repo) AddWorktree(ctx context.Context, dir string, commit OID) error {
	_ = ctx
	return ErrNoGit
}

// Smudged returns the bytes that the file of an object has in a working tree.
func (r *Repo) Smudged(ctx context.Context, path string, id OID) ([]byte, error) {
	_, _ = ctx, path
	return r.Blob(id)
}
