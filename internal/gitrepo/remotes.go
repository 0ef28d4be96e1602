package gitrepo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitcmd"
)

// PushResult is what a push did.
type PushResult struct {
	Remote   string   `json:"remote" jsonschema:"its name"`
	Branch   string   `json:"branch" jsonschema:"what was pushed"`
	To       string   `json:"to" jsonschema:"the remote's branch"`
	State    string   `json:"state" jsonschema:"pushed, created, up to date"`
	Upstream bool     `json:"upstream" jsonschema:"it was made the upstream"`
	Notes    []string `json:"-"`
}

// Push pushes the branch that is checked out, to its upstream or to the branch
// of the same name. It never forces.
func (r *Repo) Push(ctx context.Context, remote string, setUpstream bool) (PushResult, error) {
	var res PushResult
	branch, err := r.currentBranch(ctx)
	if err != nil {
		return res, err
	}
	if branch == "" {
		return res, gitcmd.Failf(gitcmd.Conflicted, "no branch is checked out, so there is nothing to push; create a branch and switch to it")
	}
	if head, err := r.Head(ctx); err != nil || head == "" {
		return res, errors.Join(err, gitcmd.Failf(gitcmd.Conflicted, "the branch %s has no commit yet; commit something first", branch))
	}
	conf, err := r.Git.Settings(ctx)
	if err != nil {
		return res, err
	}
	if res, err = pushTo(conf, branch, remote, setUpstream); err != nil {
		return res, err
	}
	args := []string{}
	if res.Upstream {
		args = append(args, "--set-upstream")
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "push", Args: append(args, res.Remote, "refs/heads/"+branch+":"+res.To), Network: true, Hooks: true})
	res.To = strings.TrimPrefix(res.To, "refs/heads/")
	flag, summary := pushState(string(out))
	if err != nil {
		return res, r.refusedPush(err, flag, summary, res)
	}
	res.State = map[string]string{"=": "up to date", "*": "created"}[flag]
	if res.State == "" {
		res.State = "pushed"
	}
	if note := r.Git.Silenced(ctx, "push"); note != "" {
		res.Notes = append(res.Notes, note)
	}
	return res, nil
}

// pushTo decides where a branch is pushed.
func pushTo(conf gitcmd.Settings, branch, remote string, setUpstream bool) (PushResult, error) {
	upstream, merge := conf.Value("branch."+branch+".remote"), conf.Value("branch."+branch+".merge")
	known := conf.Remotes()
	res := PushResult{Branch: branch, To: "refs/heads/" + branch, Upstream: setUpstream}
	if len(known) == 0 {
		return res, gitcmd.Failf(gitcmd.Conflicted, "the repository has no remote; the user can add one with git remote add")
	}
	switch {
	case remote != "":
		res.Remote = remote
	case conf.Value("branch."+branch+".pushremote") != "":
		res.Remote = conf.Value("branch." + branch + ".pushremote")
	case conf.Value("remote.pushdefault") != "":
		res.Remote = conf.Value("remote.pushdefault")
	case upstream != "" && upstream != ".":
		res.Remote = upstream
	case setUpstream || conf.Bool("push.autosetupremote"):
		res.Remote, res.Upstream = known[0], true
		if slices.Contains(known, "origin") {
			res.Remote = "origin"
		}
	default:
		return res, gitcmd.Failf(gitcmd.NoUpstream, "the branch %s has no upstream (remotes: %s)", branch, listed(known))
	}
	if !slices.Contains(known, res.Remote) {
		return res, gitcmd.Failf(gitcmd.NotFound, "there is no remote %q; name one of: %s", gitcmd.Shown(res.Remote), listed(known))
	}
	if !setUpstream && res.Remote == upstream && merge != "" && merge != res.To {
		if conf.Value("push.default") != "upstream" {
			return res, gitcmd.Failf(gitcmd.NoUpstream, "%s has no upstream of its own name, only %s", branch, gitcmd.Shown(strings.TrimPrefix(merge, "refs/heads/")))
		}
		res.To = merge
	}
	return res, nil
}

// pushState reads the line of git push --porcelain about the one branch: a
// flag, a tab, what goes where, a tab and a summary.
func pushState(out string) (flag, summary string) {
	for line := range strings.Lines(out) {
		if f := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(f) == 3 {
			return strings.TrimSpace(f[0]), f[2]
		}
	}
	return "", ""
}

// refusedPush says why a push did not happen.
func (r *Repo) refusedPush(err error, flag, summary string, res PushResult) error {
	var exit *gitcmd.ExitError
	if !errors.As(err, &exit) || flag != "!" {
		return r.Git.Explain(err)
	}
	switch {
	case strings.Contains(summary, "fetch first"), strings.Contains(summary, "non-fast-forward"):
		return gitcmd.Failf(gitcmd.Conflicted, "%s has commits on %s that are not here, so nothing was pushed; pull first", gitcmd.Shown(res.Remote), gitcmd.Shown(res.To))
	case strings.Contains(summary, "remote rejected"):
		return gitcmd.Failf(gitcmd.Failed, "%s refused the push: %s\n%s", gitcmd.Shown(res.Remote), gitcmd.Shown(summary), gitcmd.Brief(exit.Stderr))
	}
	return gitcmd.Failf(gitcmd.Failed, "nothing was pushed: %s\n%s", gitcmd.Shown(summary), gitcmd.Brief(exit.Stderr))
}

// PullResult is what a pull did.
type PullResult struct {
	Branch string          `json:"branch" jsonschema:"the one that is checked out"`
	State  string          `json:"state" jsonschema:"up to date, fast-forward, merged, rebased"`
	From   string          `json:"from" jsonschema:"hash before"`
	To     string          `json:"to" jsonschema:"hash after"`
	Files  []CommittedFile `json:"files" jsonschema:"that changed"`
	Notes  []string        `json:"-"`
}

// Pull fetches the upstream of the branch that is checked out and brings it
// in. rebase nil leaves the way to the user's settings. A pull that ends in
// conflicts is taken back.
func (r *Repo) Pull(ctx context.Context, rebase *bool) (PullResult, error) {
	res := PullResult{Files: []CommittedFile{}}
	if what := r.busy(); what != "" {
		return res, gitcmd.Failf(gitcmd.Conflicted, "%s is in progress; finish or abort it first", what)
	}
	var err error
	if res.Branch, err = r.currentBranch(ctx); err != nil {
		return res, err
	}
	if res.Branch == "" {
		return res, gitcmd.Failf(gitcmd.Conflicted, "no branch is checked out, so there is nothing to pull into; switch to a branch")
	}
	if res.From, err = r.Head(ctx); err != nil {
		return res, err
	}
	c := gitcmd.Invocation{Op: "pull", Network: true, Hooks: true}
	if rebase != nil {
		c.Args = []string{map[bool]string{true: "--rebase", false: "--no-rebase"}[*rebase]}
	}
	if _, err := r.Git.Run(ctx, c); err != nil {
		return res, r.abort(ctx, err)
	}
	if res.To, err = r.Head(ctx); err != nil {
		return res, err
	}
	if err := r.describePull(ctx, &res); err != nil {
		return res, err
	}
	if note := r.Git.Silenced(ctx, "pull"); note != "" {
		res.Notes = append(res.Notes, note)
	}
	return res, nil
}

// describePull tells from the commits before and after what happened.
func (r *Repo) describePull(ctx context.Context, res *PullResult) error {
	if res.From == res.To {
		res.State = "up to date"
		return nil
	}
	res.State = "fast-forward"
	if res.From == "" {
		return nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "list-commits", Args: []string{"--max-count=1", "--parents", res.To}})
	if err != nil {
		return r.Git.Explain(err)
	}
	kept, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "list-commits", Args: []string{"--count", res.From, "^" + res.To}})
	if err != nil {
		return r.Git.Explain(err)
	}
	switch parents := strings.Fields(string(out)); {
	case strings.TrimSpace(string(kept)) != "0":
		res.State = "rebased"
	case len(parents) > 2 && parents[1] == res.From:
		res.State = "merged"
	}
	files, err := r.changedBy(ctx, res.To, []string{res.From})
	for _, f := range files {
		res.Files = append(res.Files, CommittedFile{f.path, f.what})
	}
	return err
}

// maxAbort is how long an abort may take, also after a cancellation.
const maxAbort = 20 * time.Second

// abort ends what a failed pull has begun.
func (r *Repo) abort(ctx context.Context, failed error) error {
	what := r.busy()
	if what == "" {
		return r.Git.Explain(failed)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxAbort)
	defer cancel()
	conflicts, _ := r.unmerged(ctx)
	op := "merge-abort"
	if what == "a rebase" {
		op = "rebase-abort"
	}
	if _, err := r.Git.Run(ctx, gitcmd.Invocation{Op: op}); err != nil {
		return gitcmd.Failf(gitcmd.Conflicted, "%s with the upstream broke off and could not be aborted (%v); the repository is in the middle of it, and nothing is lost", what, r.Git.Explain(err))
	}
	if len(conflicts) == 0 {
		return r.Git.Explain(failed)
	}
	return gitcmd.Failf(gitcmd.Conflicted, "%s with the upstream has conflicts in %s; it was aborted, and the branch is as it was", what, listed(conflicts))
}
