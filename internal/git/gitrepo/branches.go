package gitrepo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// LocalBranch is a branch of the repository.
type LocalBranch struct {
	Name     string `json:"name" jsonschema:"of the branch"`
	Current  bool   `json:"current,omitempty" jsonschema:"it is checked out"`
	Commit   string `json:"commit" jsonschema:"short hash"`
	Upstream string `json:"upstream,omitempty" jsonschema:"the branch that it follows"`
	Track    string `json:"track,omitempty" jsonschema:"ahead 1, behind 2; gone"`
}

// Branches lists the branches, the one that was committed to last first, and
// the branches of remotes as they were last seen.
func (r *Repo) Branches(ctx context.Context) (local []LocalBranch, remote []string, err error) {
	const format = "--format=%(refname:short)%00%(HEAD)%00%(objectname:short)%00%(upstream:short)%00%(upstream:track,nobracket)"
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "list-refs", Args: []string{format, "--sort=-committerdate", "--count=1000", "refs/heads"}})
	if errors.Is(err, gitcmd.ErrNoGit) {
		local, err = r.readBranches()
		return local, nil, err
	}
	if err != nil {
		return nil, nil, r.Git.Explain(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00"); len(f) == 5 {
			local = append(local, LocalBranch{Name: f[0], Current: f[1] == "*", Commit: f[2], Upstream: f[3], Track: f[4]})
		}
	}
	out, err = r.Git.Run(ctx, gitcmd.Invocation{Op: "list-refs", Args: []string{"--format=%(refname:short)", "--count=1000", "refs/remotes"}})
	if err != nil {
		return nil, nil, r.Git.Explain(err)
	}
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSuffix(line, "\n"); strings.Contains(name, "/") && !strings.HasSuffix(name, "/HEAD") {
			remote = append(remote, name)
		}
	}
	return local, remote, nil
}

// readBranches lists the branches without the git command: their names and
// commits, sorted by name.
func (r *Repo) readBranches() ([]LocalBranch, error) {
	h, err := r.head()
	if err != nil {
		return nil, err
	}
	repo, err := r.Repository()
	if err != nil {
		return nil, err
	}
	refs, err := repo.Branches()
	if err != nil {
		return nil, err
	}
	defer refs.Close()
	var list []LocalBranch
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			name := ref.Name().Short()
			list = append(list, LocalBranch{Name: name, Current: name == h.branch, Commit: short(ref.Hash().String())})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b LocalBranch) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// CreateBranch makes a branch at HEAD, without switching to it.
func (r *Repo) CreateBranch(ctx context.Context, name string) error {
	if err := CheckBranchName(name); err != nil {
		return err
	}
	_, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "create-branch", Args: []string{name}})
	return r.Git.Explain(err)
}

// StartBranch makes a branch at HEAD and checks it out, which changes no file. It does
// nothing where HEAD is on it. It fails when there is such a branch elsewhere.
//
// back undoes that, if nothing was committed since; it does nothing where HEAD was on no
// branch.
func StartBranch(ctx context.Context, r *Repo, name string) (back func(context.Context) error, err error) {
	back = func(context.Context) error { return nil }
	if err := CheckBranchName(name); err != nil {
		return back, err
	}
	on, err := currentBranch(ctx, r.Git)
	if err != nil || on == name {
		return back, err
	}
	if what := busy(r.GitDir); what != "" {
		return back, gitcmd.Failf(gitcmd.Conflicted, "%s is in progress; finish or abort it first", what)
	}
	there, err := resolveRev(ctx, r.Git, "refs/heads/"+name)
	if err != nil {
		return back, err
	}
	if there != "" {
		return back, gitcmd.Failf(gitcmd.Conflicted, "there is a branch %s by now, and the workspace is not on it; switch to it first", gitcmd.Shown(name))
	}
	head, err := r.Head(ctx)
	if err != nil {
		return back, err
	}
	if head != "" {
		if err := r.CreateBranch(ctx, name); err != nil {
			return back, err
		}
	}
	attach := func(ctx context.Context, why, to string) error {
		_, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "attach", Args: []string{why, "HEAD", "refs/heads/" + to}})
		return r.Git.Explain(err)
	}
	if on != "" {
		back = func(ctx context.Context) error {
			now, err := currentBranch(ctx, r.Git)
			at, headErr := r.Head(ctx)
			if err = errors.Join(err, headErr); err != nil || now != name || at != head {
				return err
			}
			if err := attach(ctx, "checkout: nothing was committed", on); err != nil || head == "" {
				return err
			}
			return r.DeleteBranch(ctx, name)
		}
	}
	return back, attach(ctx, "checkout: to begin a branch", name)
}

// LookAtSwitch looks at what the checkout of a branch would change: one that
// exists, or that exactly one remote has. Changes that are not committed come along,
// or stop it.
func (r *Repo) LookAtSwitch(ctx context.Context, name string) (*Move, error) {
	if err := CheckBranchName(name); err != nil {
		return nil, err
	}
	if what := busy(r.GitDir); what != "" {
		return nil, gitcmd.Failf(gitcmd.Conflicted, "%s is in progress; finish or abort it first", what)
	}
	from, err := r.place(ctx)
	if err != nil {
		return nil, err
	}
	ref := "refs/heads/" + name
	to, err := resolveRev(ctx, r.Git, ref+"^{commit}")
	if err != nil {
		return nil, err
	}
	remote := ""
	if to == "" {
		if remote, to, err = onlyRemote(ctx, r.Git, name); err != nil {
			return nil, err
		}
	}
	if err := r.notElsewhere(ctx, ref); err != nil {
		return nil, err
	}
	files, err := r.moves(ctx, from.commit, to)
	if err != nil {
		return nil, err
	}
	return &Move{Files: files, Pin: from.commit + " " + to, op: "switch", do: func(ctx context.Context, m *moment) (string, error) {
		err := r.moveTo(ctx, from, to, files, func() error {
			ctx := context.WithoutCancel(ctx)
			if remote != "" {
				if _, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "create-tracking", Args: []string{name, remote}}); err != nil {
					return r.Git.Explain(err)
				}
			}
			if now, err := resolveRev(ctx, r.Git, ref); err != nil || now != to {
				return errors.Join(err, ErrMoved)
			}
			was := from.branch
			if was == "" {
				was = from.commit
			}
			_, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "attach", Args: []string{"checkout: moving from " + was + " to " + name, "HEAD", ref}})
			return r.Git.Explain(err)
		})
		if err == nil {
			was := from.commit
			if was == "" {
				was = strings.Repeat("0", len(to))
			}
			m.after(context.WithoutCancel(ctx), "post-checkout", was, to, "1")
		}
		return "", err
	}}, nil
}

// onlyRemote is the branch of that name that one remote has, and its commit. As git
// does, it goes by the setting checkout.defaultRemote where several have one.
func onlyRemote(ctx context.Context, git *gitcmd.Git, name string) (ref, commit string, err error) {
	conf, err := git.Settings(ctx)
	if err != nil {
		return "", "", err
	}
	var found []string
	for _, remote := range conf.Remotes() {
		ref := "refs/remotes/" + remote + "/" + name
		hash, err := resolveRev(ctx, git, ref+"^{commit}")
		if err != nil {
			return "", "", err
		}
		if hash != "" && (len(found) == 0 || remote == conf.Value("checkout.defaultremote")) {
			found, commit = append(found, ref), hash
			if remote == conf.Value("checkout.defaultremote") {
				return ref, commit, nil
			}
		} else if hash != "" {
			found = append(found, ref)
		}
	}
	switch len(found) {
	case 0:
		return "", "", gitcmd.Failf(gitcmd.NotFound, "there is no branch %q, and no remote has one; git_branch with action list shows what there is", gitcmd.Shown(name))
	case 1:
		return found[0], commit, nil
	}
	return "", "", gitcmd.Failf(gitcmd.Conflicted, "several remotes have a branch %q: %s; the user can choose with git switch --track", gitcmd.Shown(name), listed(found))
}

// notElsewhere fails when another working tree has a branch checked out.
func (r *Repo) notElsewhere(ctx context.Context, ref string) error {
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "worktree-list"})
	if err != nil {
		return r.Git.Explain(err)
	}
	at := ""
	for line := range strings.SplitSeq(string(out), "\x00") {
		if dir, ok := strings.CutPrefix(line, "worktree "); ok {
			at = dir
		}
		if line == "branch "+ref && !gitfile.SameFile(at, r.Dir) {
			return gitcmd.Failf(gitcmd.Conflicted, "the branch is checked out in a working tree: %s", gitcmd.Shown(at))
		}
	}
	return nil
}

// DeleteBranch deletes a branch whose commits are in its upstream or in HEAD.
func (r *Repo) DeleteBranch(ctx context.Context, name string) error {
	if err := CheckBranchName(name); err != nil {
		return err
	}
	_, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "delete-branch", Args: []string{name}})
	return r.Git.Explain(err)
}

// currentBranch is the branch that HEAD is on, "" when it is on none.
func currentBranch(ctx context.Context, git *gitcmd.Git) (string, error) {
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "current-branch"})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 && exit.Stderr == "" {
		return "", nil
	}
	if err != nil {
		return "", git.Explain(err)
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), "refs/heads/")
	if !ok {
		return "", nil
	}
	return name, nil
}

// maxName bounds the name of a branch, in bytes: it becomes the name of a file.
const maxName = 200

// CheckBranchName checks a name by the rules of git check-ref-format --branch.
func CheckBranchName(name string) error {
	bad := func(why string) error {
		return gitcmd.Failf(gitcmd.Invalid, "%q can't be the name of a branch: it %s", gitcmd.Shown(name), why)
	}
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > maxName:
		return bad("is too long")
	case name[0] == '-':
		return bad("begins with a dash")
	case name == "@" || name == "HEAD" || strings.HasPrefix(name, "refs/"):
		return bad("means something else to git")
	case strings.Contains(name, ".."):
		return bad("holds two dots in a row")
	case strings.Contains(name, "@{"):
		return bad("holds @{")
	case strings.HasSuffix(name, "."):
		return bad("ends with a dot")
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return bad("holds a blank, a control character or one of ~ ^ : ? * [ \\")
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return bad("has an empty part between slashes")
		case part[0] == '.':
			return bad("has a part that begins with a dot")
		case strings.HasSuffix(part, ".lock"):
			return bad("has a part that ends with .lock")
		}
	}
	return nil
}
