package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// Why a branch is not fast-forwarded, whenever it is tried again.
var (
	// ErrNotAsThere says that the paths are not as the commit has them.
	ErrNotAsThere error = gitcmd.Failf(gitcmd.Conflicted, "what was accepted is not all that the commit has, so the branch stays where it is")

	// ErrNotAhead says that the commit does not follow what the branch has.
	ErrNotAhead error = gitcmd.Failf(gitcmd.Conflicted, "the branch went on meanwhile and can't be fast-forwarded; merge the commit")
)

// FastForward moves the branch to a commit that follows it, if that differs from HEAD in
// exactly the paths, which the working tree has already. The index gets them as CommitPaths
// leaves it.
func FastForward(ctx context.Context, r *Repo, to string, paths []PathState, hooks Hooks) error {
	if err := committable(ctx, r); err != nil {
		return err
	}
	before, err := r.Head(ctx)
	branch, branchErr := currentBranch(ctx, r.Git)
	there, thereErr := resolveRev(ctx, r.Git, to+"^{commit}")
	if err := errors.Join(err, branchErr, thereErr); err != nil {
		return err
	}
	if branch == "" || before == "" || there != to {
		return ErrNotAhead
	}
	follows, err := ancestor(ctx, r.Git, before, to)
	if err == nil && !follows {
		err = ErrNotAhead
	}
	if err != nil {
		return err
	}
	same, err := wouldBe(ctx, r, to, paths)
	if err == nil && !same {
		err = ErrNotAsThere
	}
	if err != nil {
		return err
	}
	m := r.moment("merge", hooks)
	m.names = []string{"post-merge", "reference-transaction", "post-index-change"}
	if _, err := r.Git.Run(context.WithoutCancel(ctx), gitcmd.Invocation{Op: "move-ref", Args: []string{"merge: Fast-forward", "refs/heads/" + branch, to, before}}); err != nil {
		return r.Git.Explain(err)
	}
	err = settleCommit(context.WithoutCancel(ctx), r.Git, before, to, paths)
	m.after(context.WithoutCancel(ctx), "post-merge", "0")
	return err
}

// wouldBe reports whether a commit of the paths had the files of another commit.
func wouldBe(ctx context.Context, r *Repo, other string, paths []PathState) (bool, error) {
	dir, err := os.MkdirTemp("", "commit-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index := filepath.Join(dir, "index")
	if err := r.prepare(ctx, index, paths); err != nil {
		if errors.Is(err, ErrNothingToCommit) {
			err = nil
		}
		return false, err
	}
	tree, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "write-tree", Env: []string{"GIT_INDEX_FILE=" + index}})
	if err != nil {
		return false, r.Git.Explain(err)
	}
	want, err := resolveRev(ctx, r.Git, other+"^{tree}")
	return err == nil && strings.TrimSpace(string(tree)) == want, err
}

// FastForwarded reports whether FastForward moved the branch, for whoever does not know any
// more how far it came. When it did, the index is brought up to it.
func FastForwarded(ctx context.Context, r *Repo, since, to string, paths []PathState) (bool, error) {
	head, err := r.Head(ctx)
	if err != nil || head != to || since == to {
		return false, err
	}
	return true, settleCommit(ctx, r.Git, since, to, paths)
}
