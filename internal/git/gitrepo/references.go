package gitrepo

import (
	"context"
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// ErrNotThere says that a reference can't be made, now or later.
var ErrNotThere error = gitcmd.Failf(gitcmd.Conflicted, "the commit that it names is not in the repository, or the branch is another one by now")

// MakeBranch makes a branch at a commit, without switching to it. One that is there already is
// as good.
func MakeBranch(ctx context.Context, r *Repo, name, commit string) error {
	if err := CheckBranchName(name); err != nil {
		return err
	}
	made, err := RefMade(ctx, r, "refs/heads/"+name, commit)
	if err == nil && !made {
		err = free(ctx, r, "branch", "refs/heads/", name, commit)
	}
	if err != nil || made {
		return err
	}
	_, err = r.Git.Run(ctx, gitcmd.Invocation{Op: "move-ref", Args: []string{"branch: Created from " + short(commit), "refs/heads/" + name, commit, none(commit)}})
	return r.Git.Explain(err)
}

// MakeTag makes a tag at a commit: an annotated one where there is a message, which is not
// signed. One that is there already is as good.
func MakeTag(ctx context.Context, r *Repo, name, commit, message string) error {
	if err := CheckBranchName(name); err != nil { // the rules are the same
		return err
	}
	made, err := RefMade(ctx, r, "refs/tags/"+name, commit)
	if err == nil && !made {
		err = free(ctx, r, "tag", "refs/tags/", name, commit)
	}
	if err != nil || made {
		return err
	}
	c := gitcmd.Invocation{Op: "create-tag", Args: []string{name, commit}, Stdin: []byte(message)}
	if message == "" {
		c = gitcmd.Invocation{Op: "move-ref", Args: []string{"tag", "refs/tags/" + name, commit, none(commit)}}
	}
	_, err = r.Git.Run(ctx, c)
	return r.Git.Explain(err)
}

// none stands for no object, beside the name of one.
func none(hash string) string { return strings.Repeat("0", len(hash)) }

// free fails unless the repository has the commit, and nothing of the name yet.
func free(ctx context.Context, r *Repo, kind, prefix, name, commit string) error {
	is, err := resolveRev(ctx, r.Git, commit+"^{commit}")
	if err != nil {
		return err
	}
	if is != commit {
		return ErrNotThere
	}
	there, err := resolveRev(ctx, r.Git, prefix+name)
	if err == nil && there != "" {
		err = gitcmd.Failf(gitcmd.Conflicted, "there is a %s %s by now, on another commit; delete or rename it first", kind, gitcmd.Shown(name))
	}
	return err
}

// RefMade reports whether a reference names a commit, by its whole name.
func RefMade(ctx context.Context, r *Repo, ref, commit string) (bool, error) {
	there, err := resolveRev(ctx, r.Git, ref+"^{commit}")
	return there == commit && there != "", err
}

// SwitchTo checks out a branch that is at a commit, and makes it where it is new, without a
// change of any file: those are as their user accepted them, and the index has the commit's. It
// fails where something is staged.
func SwitchTo(ctx context.Context, r *Repo, name, commit string, isNew bool, hooks Hooks) error {
	if err := CheckBranchName(name); err != nil {
		return err
	}
	on, err := currentBranch(ctx, r.Git)
	before, headErr := r.Head(ctx)
	there, thereErr := resolveRev(ctx, r.Git, "refs/heads/"+name+"^{commit}")
	if err := errors.Join(err, headErr, thereErr); err != nil {
		return err
	}
	switch {
	case on == name && before == commit:
		return nil
	case on == name, before == "", there != commit && (there != "" || !isNew):
		return ErrNotThere
	}
	if err := committable(ctx, r); err != nil {
		return err
	}
	if err := r.notElsewhere(ctx, "refs/heads/"+name); err != nil {
		return err
	}
	if n, err := StagedCount(ctx, r); err != nil || n > 0 {
		return errors.Join(err, gitcmd.Failf(gitcmd.Conflicted, "something is staged, which a switch would take back; commit or unstage it first"))
	}
	if there == "" {
		if err := MakeBranch(ctx, r, name, commit); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx)
	was := on
	if was == "" {
		was = before
	}
	if _, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "attach", Args: []string{"checkout: moving from " + was + " to " + name, "HEAD", "refs/heads/" + name}}); err != nil {
		return r.Git.Explain(err)
	}
	err = settleSwitch(ctx, r, before, commit)
	r.moment("switch", hooks).after(ctx, "post-checkout", before, commit, "1")
	return err
}

// SwitchMade reports whether SwitchTo checked the branch out, for whoever does not know any more
// how far it came. When it did, the index is brought up to it.
func SwitchMade(ctx context.Context, r *Repo, since, name, commit string) (bool, error) {
	on, err := currentBranch(ctx, r.Git)
	head, headErr := r.Head(ctx)
	if err := errors.Join(err, headErr); err != nil || on != name || head != commit {
		return false, err
	}
	return true, settleSwitch(ctx, r, since, commit)
}

// settleSwitch gives the index the files of a commit that HEAD came to from another one.
func settleSwitch(ctx context.Context, r *Repo, before, commit string) error {
	if before == commit {
		return nil
	}
	changed, err := changedBy(ctx, r.Git, commit, []string{before})
	if err != nil || len(changed) == 0 {
		return err
	}
	var paths []PathState
	for _, e := range changed {
		paths = append(paths, PathState{Path: e.path})
	}
	return settleCommit(ctx, r.Git, before, commit, paths)
}

// mergeIndex commits an index as a merge of HEAD and other commits of the repository.
func mergeIndex(ctx context.Context, r *Repo, before, message, index string, merges []string) error {
	tree, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "write-tree", Env: []string{"GIT_INDEX_FILE=" + index}})
	if err != nil {
		return err
	}
	conf, err := r.Git.Settings(ctx)
	if err != nil {
		return err
	}
	c := gitcmd.Invocation{Op: "commit-tree", Stdin: []byte(message), Args: []string{"-p", before}}
	for _, other := range merges {
		if is, err := resolveRev(ctx, r.Git, other+"^{commit}"); err != nil || is != other {
			return errors.Join(err, ErrNotThere)
		}
		c.Args = append(c.Args, "-p", other)
	}
	if conf.Bool("commit.gpgsign") && r.Git.StrangeSigner(conf) == "" {
		c.Args = append(c.Args, "-S")
	}
	c.Args = append(c.Args, strings.TrimSpace(string(tree)))
	made, err := r.Git.Run(ctx, c)
	if err != nil {
		return err
	}
	title, _, _ := strings.Cut(message, "\n")
	_, err = r.Git.Run(context.WithoutCancel(ctx), gitcmd.Invocation{Op: "move-ref", Args: []string{"commit (merge): " + title, "HEAD", strings.TrimSpace(string(made)), before}})
	return err
}
