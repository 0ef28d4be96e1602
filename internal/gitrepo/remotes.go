package gitrepo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitconfig"
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
		return res, failf(Conflicted, "no branch is checked out, so there is nothing to push; make one with git_branch and switch to it")
	}
	if head, err := r.Head(ctx); err != nil || head == "" {
		return res, errors.Join(err, failf(Conflicted, "the branch %s has no commit yet; commit something first", branch))
	}
	conf, err := r.settings(ctx)
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
	out, err := r.git(ctx, invocation{op: "push", args: append(args, res.Remote, "refs/heads/"+branch+":"+res.To), network: true, hooks: true})
	res.To = strings.TrimPrefix(res.To, "refs/heads/")
	flag, summary := pushState(string(out))
	if err != nil {
		return res, r.refusedPush(err, flag, summary, res)
	}
	res.State = map[string]string{"=": "up to date", "*": "created"}[flag]
	if res.State == "" {
		res.State = "pushed"
	}
	if note := r.silenced(ctx, "push"); note != "" {
		res.Notes = append(res.Notes, note)
	}
	return res, nil
}

// pushTo decides where a branch is pushed.
func pushTo(conf settings, branch, remote string, setUpstream bool) (PushResult, error) {
	upstream, merge := conf.value("branch."+branch+".remote"), conf.value("branch."+branch+".merge")
	known := conf.remotes()
	res := PushResult{Branch: branch, To: "refs/heads/" + branch, Upstream: setUpstream}
	if len(known) == 0 {
		return res, failf(Conflicted, "the repository has no remote; the user can add one with git remote add")
	}
	switch {
	case remote != "":
		res.Remote = remote
	case conf.value("branch."+branch+".pushremote") != "":
		res.Remote = conf.value("branch." + branch + ".pushremote")
	case conf.value("remote.pushdefault") != "":
		res.Remote = conf.value("remote.pushdefault")
	case upstream != "" && upstream != ".":
		res.Remote = upstream
	case setUpstream || conf.bool("push.autosetupremote"):
		res.Remote, res.Upstream = known[0], true
		if slices.Contains(known, "origin") {
			res.Remote = "origin"
		}
	default:
		return res, failf(Conflicted, "the branch %s has no upstream; call again with set_upstream: true to push it and follow it from then on (remotes: %s)", branch, listed(known))
	}
	if !slices.Contains(known, res.Remote) {
		return res, failf(NotFound, "there is no remote %q; name one of: %s", shown(res.Remote), listed(known))
	}
	if !setUpstream && res.Remote == upstream && merge != "" && merge != res.To {
		if conf.value("push.default") != "upstream" {
			return res, failf(Conflicted, "the upstream of %s has another name, %s; call with set_upstream: true to push to %s instead", branch, shown(strings.TrimPrefix(merge, "refs/heads/")), branch)
		}
		res.To = merge
	}
	return res, nil
}

// remotes are the names of the remotes, in the order of the settings.
func (s settings) remotes() []string {
	var names []string
	for _, one := range s {
		if section, name, last := gitconfig.SplitKey(one.key); section == "remote" && last == "url" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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
	var exit *exitError
	if !errors.As(err, &exit) || flag != "!" {
		return r.explain(err)
	}
	switch {
	case strings.Contains(summary, "fetch first"), strings.Contains(summary, "non-fast-forward"):
		return failf(Conflicted, "%s has commits on %s that are not here, so nothing was pushed; git_pull first", shown(res.Remote), shown(res.To))
	case strings.Contains(summary, "remote rejected"):
		return failf(Failed, "%s refused the push: %s\n%s", shown(res.Remote), shown(summary), brief(exit.stderr))
	}
	return failf(Failed, "nothing was pushed: %s\n%s", shown(summary), brief(exit.stderr))
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
		return res, failf(Conflicted, "%s is in progress; finish or abort it first", what)
	}
	var err error
	if res.Branch, err = r.currentBranch(ctx); err != nil {
		return res, err
	}
	if res.Branch == "" {
		return res, failf(Conflicted, "no branch is checked out, so there is nothing to pull into; switch to one with git_branch")
	}
	if res.From, err = r.Head(ctx); err != nil {
		return res, err
	}
	c := invocation{op: "pull", network: true, hooks: true}
	if rebase != nil {
		c.args = []string{map[bool]string{true: "--rebase", false: "--no-rebase"}[*rebase]}
	}
	if _, err := r.git(ctx, c); err != nil {
		return res, r.takeBack(ctx, err)
	}
	if res.To, err = r.Head(ctx); err != nil {
		return res, err
	}
	if err := r.describePull(ctx, &res); err != nil {
		return res, err
	}
	if note := r.silenced(ctx, "pull"); note != "" {
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
	out, err := r.git(ctx, invocation{op: "list-commits", args: []string{"--max-count=1", "--parents", res.To}})
	if err != nil {
		return r.explain(err)
	}
	kept, err := r.git(ctx, invocation{op: "list-commits", args: []string{"--count", res.From, "^" + res.To}})
	if err != nil {
		return r.explain(err)
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

// timeToTakeBack is how long an abort may take, also after a cancellation.
const timeToTakeBack = 20 * time.Second

// takeBack aborts what a failed pull has begun.
func (r *Repo) takeBack(ctx context.Context, failed error) error {
	what := r.busy()
	if what == "" {
		return r.explain(failed)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeToTakeBack)
	defer cancel()
	var conflict *Failure
	_ = errors.As(r.noConflicts(ctx), &conflict)
	op := "merge-abort"
	if what == "a rebase" {
		op = "rebase-abort"
	}
	if _, err := r.git(ctx, invocation{op: op}); err != nil {
		return failf(Conflicted, "%s with the upstream broke off and could not be taken back (%v); the repository is in the middle of it, and nothing is lost", what, r.explain(err))
	}
	if conflict == nil {
		return r.explain(failed)
	}
	files, _, _ := strings.Cut(strings.TrimPrefix(conflict.Text, "these files are in conflict: "), ";")
	return failf(Conflicted, "%s with the upstream has conflicts in %s; it was taken back, and the branch is as it was", what, files)
}
