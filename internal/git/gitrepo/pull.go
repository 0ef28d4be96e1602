package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// PullResult is what a pull did.
type PullResult struct {
	Branch string          `json:"branch" jsonschema:"the one that is checked out"`
	State  string          `json:"state" jsonschema:"up to date, fast-forward, merged, rebased"`
	From   string          `json:"from" jsonschema:"hash before"`
	To     string          `json:"to" jsonschema:"hash after"`
	Files  []CommittedFile `json:"files" jsonschema:"that changed"`
	Notes  []string        `json:"-"`
}

// Pull fetches the upstream of the branch that is checked out and brings it in.
// rebase nil leaves the way to the user's settings. What would change in the working
// tree is made aside and looked at before: a pull that may not, or that ends in
// conflicts, leaves everything but what was fetched as it was.
func (r *Repo) Pull(ctx context.Context, rebase *bool, look func(context.Context, *Move) error, hooks Hooks) (PullResult, error) {
	res := PullResult{Files: []CommittedFile{}}
	if what := busy(r.GitDir); what != "" {
		return res, gitcmd.Failf(gitcmd.Conflicted, "%s is in progress; finish or abort it first", what)
	}
	at, err := r.place(ctx)
	if err != nil {
		return res, err
	}
	if at.branch == "" {
		return res, gitcmd.Failf(gitcmd.Conflicted, "no branch is checked out, so there is nothing to pull into; switch to a branch")
	}
	if err := noConflicts(ctx, r.Git); err != nil {
		return res, err
	}
	res.Branch, res.From, res.To = at.branch, at.commit, at.commit
	conf, err := r.Git.Settings(ctx)
	if err != nil {
		return res, err
	}
	if conf.Value("branch."+at.branch+".remote") == "" || conf.Value("branch."+at.branch+".merge") == "" {
		return res, gitcmd.Failf(gitcmd.NoUpstream, "the branch has no upstream to pull from")
	}
	way := wayOf(conf, at.branch, rebase)
	if way.rebase {
		if err := clean(ctx, r.Git, at.commit); err != nil {
			return res, err
		}
	}
	fork := ""
	if way.rebase && at.commit != "" {
		fork = forkPoint(ctx, r.Git, conf, at.branch)
	}
	if _, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "fetch", Network: true}); err != nil {
		return res, r.Git.Explain(err)
	}
	theirs, err := r.fetched(ctx)
	if err != nil {
		return res, err
	}
	op := "merge"
	if way.rebase {
		op = "rebase"
	}
	m := r.moment(op, hooks)
	if res.To, err = r.bringIn(ctx, at, theirs, way, fork, m); err != nil {
		return res, err
	}
	if err := r.pulled(ctx, at, res.To, look); err != nil {
		res.To = res.From
		return res, err
	}
	if err := describePull(ctx, r.Git, &res); err != nil || res.From == res.To {
		return res, err
	}
	if res.To == theirs.commit { // nothing was merged or made anew
		m.names = []string{"post-merge", "reference-transaction", "post-index-change"}
	}
	if !way.rebase || res.To == theirs.commit {
		m.after(context.WithoutCancel(ctx), "post-merge", "0")
	}
	res.Notes = append(res.Notes, m.said(ctx)...)
	return res, nil
}

// pulled has the branch and the working tree go to a commit, once somebody has
// looked at what that changes.
func (r *Repo) pulled(ctx context.Context, at place, to string, look func(context.Context, *Move) error) error {
	if at.commit == to {
		return nil
	}
	files, err := r.moves(ctx, at.commit, to)
	if err != nil {
		return err
	}
	m := &Move{Files: files, Pin: at.commit + " " + to, do: func(ctx context.Context, _ *moment) (string, error) {
		err := r.moveTo(ctx, at, to, files, func() error {
			was := at.commit
			if was == "" {
				was = strings.Repeat("0", len(to))
			}
			_, err := r.Git.Run(context.WithoutCancel(ctx), gitcmd.Invocation{Op: "move-ref", Args: []string{"pull", "refs/heads/" + at.branch, to, was}})
			return r.Git.Explain(err)
		})
		if err == nil && at.commit != "" {
			_, err = r.Git.Run(context.WithoutCancel(ctx), gitcmd.Invocation{Op: "move-ref", Args: []string{"pull", "ORIG_HEAD", at.commit}})
		}
		return "", r.Git.Explain(err)
	}}
	if look != nil {
		if err := look(ctx, m); err != nil {
			return err
		}
	}
	_, err = m.do(ctx, nil)
	return err
}

// way is how what was fetched is brought in.
type way struct {
	rebase, merges bool // merges: those of the branch are made again
	onlyForward    bool // nothing but a fast-forward
	mergeAlways    bool // not even a fast-forward
	undecided      bool // neither the call nor a setting says what is done with commits on both sides
}

// wayOf reads the settings as git pull does.
func wayOf(conf gitcmd.Settings, branch string, rebase *bool) (w way) {
	set := conf.Value("branch." + branch + ".rebase")
	if set == "" {
		set = conf.Value("pull.rebase")
	}
	ff := conf.Value("pull.ff")
	if ff == "" {
		ff = conf.Value("merge.ff")
	}
	switch {
	case rebase != nil:
		w.rebase = *rebase
	case set == "":
		w.undecided = conf.Value("pull.ff") == ""
	default:
		w.rebase = !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(set))
	}
	w.merges = w.rebase && (set == "merges" || set == "m")
	if !w.rebase {
		w.onlyForward = ff == "only" && rebase == nil
		w.mergeAlways = slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(ff))
	}
	return w
}

// clean fails when tracked files have changes, on which git makes no commit anew.
func clean(ctx context.Context, git *gitcmd.Git, head string) error {
	if head == "" {
		return nil
	}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "tracked-changes", Args: []string{head}})
	if err = git.Explain(err); err == nil && len(out) > 0 {
		err = gitcmd.Failf(gitcmd.Conflicted, "changes that are not committed are in the way, so nothing was done; commit or stash them first")
	}
	return err
}

// forkPoint is the last commit that the branch has of its upstream's, whatever that
// is by then; "" when it is not known.
func forkPoint(ctx context.Context, git *gitcmd.Git, conf gitcmd.Settings, branch string) string {
	name, ok := strings.CutPrefix(conf.Value("branch."+branch+".merge"), "refs/heads/")
	if !ok {
		return ""
	}
	upstream := "refs/remotes/" + conf.Value("branch."+branch+".remote") + "/" + name
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "fork-point", Args: []string{upstream, "refs/heads/" + branch}})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// theirs is what was fetched to be brought in.
type theirs struct{ commit, words string }

// maxFetched bounds what git says of a fetch.
const maxFetched = 64 << 20

// fetched reads what the last fetch brought for the branch that is checked out.
func (r *Repo) fetched(ctx context.Context) (t theirs, err error) {
	data, err := gitfile.ReadNoFollow(filepath.Join(r.GitDir, "FETCH_HEAD"), maxFetched)
	if err != nil {
		return t, err
	}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) != 3 || f[1] != "" {
			continue
		}
		if t.commit != "" {
			return t, gitcmd.Failf(gitcmd.Unavailable, "the branch has several upstreams, which is not done here; the user can run git pull")
		}
		if t.commit, err = resolveRev(ctx, r.Git, f[0]+"^{commit}"); err != nil {
			return t, err
		}
		t.words = f[2]
	}
	if t.commit == "" {
		return t, gitcmd.Failf(gitcmd.Conflicted, "the remote does not have the upstream branch any more")
	}
	return t, nil
}

// ancestor reports whether a commit is one, or an ancestor of another.
func ancestor(ctx context.Context, git *gitcmd.Git, a, b string) (bool, error) {
	_, err := git.Run(ctx, gitcmd.Invocation{Op: "is-ancestor", Args: []string{a, b}})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return false, nil
	}
	return err == nil, git.Explain(err)
}

// bringIn makes the commit that a pull ends at. The working tree has no part in it:
// git merges in an empty one, in which no file is missed.
func (r *Repo) bringIn(ctx context.Context, at place, t theirs, w way, fork string, m *moment) (string, error) {
	if at.commit == "" {
		return t.commit, nil
	}
	has, err := ancestor(ctx, r.Git, t.commit, at.commit)
	if err != nil || has {
		return at.commit, err
	}
	forward, err := ancestor(ctx, r.Git, at.commit, t.commit)
	switch {
	case err != nil:
		return "", err
	case forward && !w.mergeAlways:
		return t.commit, nil
	case w.undecided && !forward, w.onlyForward:
		return "", gitcmd.Failf(gitcmd.Diverged, "the branch and its upstream both have commits that the other has not")
	}
	empty, err := os.MkdirTemp("", "git-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(empty) }()
	a, err := r.aside(ctx, empty, standing{branch: at.branch, commit: at.commit})
	if err != nil {
		return "", err
	}
	defer a.remove()
	if err := a.run(ctx, "read-tree", at.commit); err != nil {
		return "", r.Git.Explain(err)
	}
	names, err := a.Run(ctx, gitcmd.Invocation{Op: "list-files"})
	if err == nil && len(names) > 0 {
		_, err = a.Run(ctx, gitcmd.Invocation{Op: "skip-all", Stdin: names})
	}
	if err != nil {
		return "", r.Git.Explain(err)
	}
	what := "a merge"
	if w.rebase {
		what = "a rebase"
		if err = m.beforeRebase(ctx, t.commit); err == nil {
			err = a.rebase(ctx, t, w, fork)
		}
	} else {
		message := "Merge " + t.words
		if at.branch != "master" {
			message += " into " + at.branch
		}
		if message, err = m.beforeMerge(ctx, message); err == nil {
			err = a.merge(ctx, t, message, w)
		}
	}
	if err == nil {
		return a.head(ctx)
	}
	if conflicts, _ := unmerged(ctx, a.Git); len(conflicts) > 0 {
		return "", gitcmd.Failf(gitcmd.Conflicted, "%s with the upstream has conflicts in %s, so nothing was done; the branch is as it was", what, listed(conflicts))
	}
	return "", r.Git.Explain(err)
}

func (a *aside) rebase(ctx context.Context, t theirs, w way, fork string) error {
	args := []string{"--onto=" + t.commit}
	if w.merges {
		args = append(args, "--rebase-merges")
	}
	if fork == "" {
		fork = t.commit
	}
	return a.run(ctx, "rebase", append(args, fork)...)
}

// beforeRebase runs the hook that may forbid a rebase.
func (m *moment) beforeRebase(ctx context.Context, onto string) error {
	list, err := m.there(ctx, "pre-rebase")
	if err != nil || len(list) == 0 {
		return err
	}
	list[0].Args = []string{onto}
	_, failed, err := m.run(ctx, HookRun{Hooks: list})
	if err == nil && failed != nil {
		err = gitcmd.Failf(gitcmd.Failed, "nothing was rebased: %v", failed)
	}
	return err
}

// beforeMerge runs the hooks that look at the message of a merge.
func (m *moment) beforeMerge(ctx context.Context, message string) (string, error) {
	list, err := m.there(ctx, "prepare-commit-msg", "commit-msg")
	if err != nil || len(list) == 0 {
		return message, err
	}
	for i := range list {
		list[i].Args = map[string][]string{"prepare-commit-msg": {MessageFile, "merge"}, "commit-msg": {MessageFile}}[list[i].Name]
	}
	end, failed, err := m.run(ctx, HookRun{Hooks: list, Message: &message})
	if err == nil && failed != nil {
		err = gitcmd.Failf(gitcmd.Failed, "nothing was merged: %v", failed)
	}
	if err != nil || m.silent != "" {
		return message, err
	}
	return CheckMessage(end.Message)
}

func (a *aside) merge(ctx context.Context, t theirs, message string, w way) error {
	args := []string{"-m", message}
	if w.mergeAlways {
		args = append(args, "--no-ff")
	}
	return a.run(ctx, "merge", append(args, t.commit)...)
}

// describePull tells from the commits before and after what happened.
func describePull(ctx context.Context, git *gitcmd.Git, res *PullResult) error {
	if res.From == res.To {
		res.State = "up to date"
		return nil
	}
	res.State = "fast-forward"
	if res.From == "" {
		return nil
	}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "list-commits", Args: []string{"--max-count=1", "--parents", res.To}})
	if err != nil {
		return git.Explain(err)
	}
	kept, err := git.Run(ctx, gitcmd.Invocation{Op: "list-commits", Args: []string{"--count", res.From, "^" + res.To}})
	if err != nil {
		return git.Explain(err)
	}
	switch parents := strings.Fields(string(out)); {
	case strings.TrimSpace(string(kept)) != "0":
		res.State = "rebased"
	case len(parents) > 2 && parents[1] == res.From:
		res.State = "merged"
	}
	files, err := changedBy(ctx, git, res.To, []string{res.From})
	for _, f := range files {
		res.Files = append(res.Files, CommittedFile{f.path, f.what})
	}
	return err
}
