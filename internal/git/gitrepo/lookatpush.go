package gitrepo

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// PushPlan is what a push would do, as far as it is known without the remote.
type PushPlan struct {
	Remote, Branch, To string // names, without refs/heads/
	Commits            int    // that the remote did not have when it was last seen
	Known              bool   // Commits is known: the remote's branch was seen before
	New                bool   // the remote's branch was not seen before
}

// LookAtPush says what Push would do.
func LookAtPush(ctx context.Context, r *Repo, remote string, setUpstream bool) (PushPlan, error) {
	branch, err := currentBranch(ctx, r.Git)
	if err != nil {
		return PushPlan{}, err
	}
	if branch == "" {
		return PushPlan{}, gitcmd.Failf(gitcmd.Conflicted, "no branch is checked out")
	}
	conf, err := r.Git.Settings(ctx)
	if err != nil {
		return PushPlan{}, err
	}
	to, err := pushTo(conf, branch, remote, setUpstream)
	if err != nil {
		return PushPlan{}, err
	}
	p := PushPlan{Remote: to.Remote, Branch: branch, To: strings.TrimPrefix(to.To, "refs/heads/")}
	theirs, err := resolveRev(ctx, r.Git, "refs/remotes/"+p.Remote+"/"+p.To)
	if err != nil {
		return p, err
	}
	if theirs == "" {
		p.New = true
		return p, nil
	}
	ours, err := r.Head(ctx)
	if err != nil || ours == "" {
		return p, err
	}
	if p.Commits, _, err = between(ctx, r.Objects, plumbing.NewHash(ours), plumbing.NewHash(theirs)); err == nil {
		p.Known = true
	}
	return p, nil // a history that can't be read here leaves the number open
}

// CurrentBranch is the branch that HEAD is on; "" when it is on none.
func CurrentBranch(ctx context.Context, r *Repo) (string, error) {
	return currentBranch(ctx, r.Git)
}

// StagedCount is how many files a commit would change.
func StagedCount(ctx context.Context, r *Repo) (int, error) {
	list, err := r.stagedByGit(ctx, "")
	return len(list), err
}

// LookAtPull says what Pull would bring where: the upstream, and the branch that follows it.
func LookAtPull(ctx context.Context, r *Repo) (upstream, branch string, err error) {
	if branch, err = currentBranch(ctx, r.Git); err != nil {
		return "", "", err
	}
	conf, err := r.Git.Settings(ctx)
	if err != nil {
		return "", "", err
	}
	remote, merge := conf.Value("branch."+branch+".remote"), conf.Value("branch."+branch+".merge")
	if branch == "" || remote == "" || remote == "." || merge == "" {
		return "", "", gitcmd.Failf(gitcmd.NoUpstream, "the branch has no upstream")
	}
	return remote + "/" + strings.TrimPrefix(merge, "refs/heads/"), branch, nil
}
