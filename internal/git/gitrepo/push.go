package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
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
func (r *Repo) Push(ctx context.Context, remote string, setUpstream bool, hooks Hooks) (PushResult, error) {
	var res PushResult
	branch, err := currentBranch(ctx, r.Git)
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
	m := r.moment("push", hooks)
	if err := r.beforePush(ctx, m, conf, res); err != nil {
		return res, err
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "push", Args: append(args, res.Remote, "refs/heads/"+branch+":"+res.To), Network: true})
	res.To = strings.TrimPrefix(res.To, "refs/heads/")
	flag, summary := pushState(string(out))
	if err != nil {
		return res, refusedPush(r.Git, err, flag, summary, res)
	}
	res.State = map[string]string{"=": "up to date", "*": "created"}[flag]
	if res.State == "" {
		res.State = "pushed"
	}
	res.Notes = append(res.Notes, m.said(ctx)...)
	return res, nil
}

// beforePush runs the hook that comes before a push. What the remote has, it hears as
// it was last seen.
func (r *Repo) beforePush(ctx context.Context, m *moment, conf gitcmd.Settings, res PushResult) error {
	list, err := m.there(ctx, "pre-push")
	if err != nil || len(list) == 0 {
		return err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	theirs, err := resolveRev(ctx, r.Git, "refs/remotes/"+res.Remote+"/"+strings.TrimPrefix(res.To, "refs/heads/"))
	if err != nil {
		return err
	}
	if theirs == "" {
		theirs = strings.Repeat("0", len(head))
	}
	list[0].Args = []string{res.Remote, gitcmd.HideUserinfo(conf.Value("remote." + res.Remote + ".url"))}
	list[0].Stdin = fmt.Sprintf("refs/heads/%s %s %s %s\n", res.Branch, head, res.To, theirs)
	_, failed, err := m.run(ctx, HookRun{Hooks: list})
	if err == nil && failed != nil {
		err = gitcmd.Failf(gitcmd.Failed, "nothing was pushed: %v", failed)
	}
	return err
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
func refusedPush(git *gitcmd.Git, err error, flag, summary string, res PushResult) error {
	var exit *gitcmd.ExitError
	if !errors.As(err, &exit) || flag != "!" {
		return git.Explain(err)
	}
	switch {
	case strings.Contains(summary, "fetch first"), strings.Contains(summary, "non-fast-forward"):
		return gitcmd.Failf(gitcmd.Conflicted, "%s has commits on %s that are not here, so nothing was pushed; pull first", gitcmd.Shown(res.Remote), gitcmd.Shown(res.To))
	case strings.Contains(summary, "remote rejected"):
		return gitcmd.Failf(gitcmd.Failed, "%s refused the push: %s\n%s", gitcmd.Shown(res.Remote), gitcmd.Shown(summary), gitcmd.Brief(exit.Stderr))
	}
	return gitcmd.Failf(gitcmd.Failed, "nothing was pushed: %s\n%s", gitcmd.Shown(summary), gitcmd.Brief(exit.Stderr))
}
