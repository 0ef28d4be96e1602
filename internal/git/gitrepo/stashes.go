package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// Stash is changes that were put away.
type Stash struct {
	Index   int       `json:"index" jsonschema:"what the argument index takes"`
	Message string    `json:"message" jsonschema:"as it was given, or git made it"`
	Time    time.Time `json:"time" jsonschema:"RFC 3339"`
}

// Stashes lists what was put away, the newest first.
func (r *Repo) Stashes(ctx context.Context) ([]Stash, error) {
	list := []Stash{}
	if hash, err := resolveRev(ctx, r.Git, "refs/stash"); err != nil || hash == "" {
		return list, err
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "stash-list"})
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00\x00") {
		f := strings.Split(entry, "\x00")
		if len(f) != 3 {
			continue
		}
		seconds, _ := strconv.ParseInt(f[1], 10, 64)
		list = append(list, Stash{Index: len(list), Message: gitcmd.Shown(f[2]), Time: time.Unix(seconds, 0).UTC()})
	}
	return list, nil
}

// LookAtStashPush looks at what putting the changes of tracked files away, below a
// directory or all, would change: they become as HEAD has them. It fails with
// Conflicted when there are none.
func (r *Repo) LookAtStashPush(ctx context.Context, message, below string) (*Move, error) {
	if strings.ContainsAny(message, "\x00\n") {
		return nil, gitcmd.Failf(gitcmd.Invalid, "message: must be one line")
	}
	if what := busy(r.GitDir); what != "" {
		return nil, gitcmd.Failf(gitcmd.Conflicted, "%s is in progress; finish or abort it first", what)
	}
	at, err := r.place(ctx)
	if err != nil {
		return nil, err
	}
	if at.commit == "" { // git says nothing at all then
		return nil, gitcmd.Failf(gitcmd.Conflicted, "there is no commit yet, and changes are put away against one; make a first commit")
	}
	files, err := r.putAway(ctx, r.Git, at.commit, below)
	if err != nil {
		return nil, err
	}
	return &Move{Files: files, Pin: at.commit, op: "stash-push", do: func(ctx context.Context, _ *moment) (string, error) {
		return "", r.stashPush(ctx, at, files, message, below)
	}}, nil
}

// stashPush puts away what looked at may be written for it.
func (r *Repo) stashPush(ctx context.Context, at place, looked []MovedFile, message, below string) error {
	h, err := r.hold()
	if err != nil {
		return err
	}
	defer h.Release()
	if err := r.still(ctx, at); err != nil {
		return err
	}
	a, err := r.aside(ctx, r.Dir, standing{branch: at.branch, commit: at.commit})
	if err != nil {
		return err
	}
	defer a.remove()
	if err := a.borrow(h); err != nil {
		return err
	}
	now, err := r.putAway(ctx, a.Git, at.commit, below)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(now, func(f MovedFile) bool { return !slices.Contains(looked, f) }) {
		return ErrMoved
	}
	c := gitcmd.Invocation{Op: "stash-push"}
	if message != "" {
		c.Args = []string{"--message=" + message}
	}
	if below != "" && below != "." {
		c.Paths = []string{below}
	}
	if _, err := a.Run(ctx, c); err != nil {
		return a.Explain(err)
	}
	ctx = context.WithoutCancel(ctx)
	made, err := a.resolve(ctx, "refs/stash")
	if err != nil {
		return err
	}
	if made == "" {
		return gitcmd.Failf(gitcmd.Conflicted, "there are no changes of tracked files to put away; new files stay where they are")
	}
	res, err := describeCommit(ctx, r.Git, made)
	if err == nil {
		_, err = r.Git.Run(ctx, gitcmd.Invocation{Op: "stash-store", Args: []string{"--message=" + res.Subject, made}})
	}
	if err != nil { // what was put away comes back
		return errors.Join(r.Git.Explain(err), a.run(ctx, "stash-apply", "--index", made))
	}
	return a.giveBack(ctx, h)
}

// putAway are the files below a directory that are not as HEAD has them, as far
// as git tracks them. What the index says of its files does not hide any.
func (r *Repo) putAway(ctx context.Context, g *gitcmd.Git, head, below string) ([]MovedFile, error) {
	c := gitcmd.Invocation{Op: "tracked-changes", Args: []string{head}}
	flags := gitcmd.Invocation{Op: "list-files", Args: []string{"-v"}}
	tree := gitcmd.Invocation{Op: "list-tree", Args: []string{head}}
	if below != "" && below != "." {
		c.Paths, flags.Paths, tree.Paths = []string{below}, []string{below}, []string{below}
	}
	out, err := g.Run(ctx, c)
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	list := parseRaw(string(out))
	marks, err := g.Run(ctx, flags)
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	var trusted []string // entries that git takes for unchanged without a look
	for line := range strings.SplitSeq(string(marks), "\x00") {
		if mark, path, ok := strings.Cut(line, " "); ok && (strings.ToLower(mark) == mark || mark == "S") {
			trusted = append(trusted, path)
		}
	}
	if len(trusted) > 0 {
		out, err := g.Run(ctx, tree)
		if err != nil {
			return nil, r.Git.Explain(err)
		}
		have := parseStage(string(out))
		for _, path := range trusted {
			if !slices.ContainsFunc(list, func(e entry) bool { return e.path == path }) {
				list = append(list, entry{path: path, oldMode: have[path].newMode, oldHash: have[path].newHash})
			}
		}
	}
	return r.moved(ctx, list, func(e entry) (mode, hash string) { return e.oldMode, e.oldHash })
}

// asStash makes stashes come back without a look for renames, so that nothing is
// written but the files that they hold.
const asStash = "[merge]\n\trenames = false\n\tdirectoryRenames = false\n"

// LookAtStashApply looks at what bringing a stash back would change. With pop it is
// dropped after that; it stays when there are conflicts.
func (r *Repo) LookAtStashApply(ctx context.Context, nth int, pop bool) (*Move, error) {
	if err := noConflicts(ctx, r.Git); err != nil {
		return nil, err
	}
	at, err := r.place(ctx)
	if err != nil {
		return nil, err
	}
	stash, err := stashAt(ctx, r.Git, nth)
	if err != nil {
		return nil, err
	}
	if stash == "" || at.commit == "" {
		return nil, gitcmd.Failf(gitcmd.NotFound, "there is no stash %d; git_stash with action list shows what there is", nth)
	}
	files, err := r.inStash(ctx, stash)
	if err != nil {
		return nil, err
	}
	return &Move{Files: files, Pin: stash, op: "stash-apply", do: func(ctx context.Context, _ *moment) (string, error) {
		if err := r.stashApply(ctx, at, stash, files, nth); err != nil || !pop {
			return "", err
		}
		ctx = context.WithoutCancel(ctx)
		if now, err := stashAt(ctx, r.Git, nth); err != nil || now != stash {
			return "the stash came back and is kept: the list of stashes changed meanwhile", err
		}
		return "", r.StashDrop(ctx, nth)
	}}, nil
}

// stashAt is the commit of a stash, "" when there is none.
func stashAt(ctx context.Context, git *gitcmd.Git, nth int) (string, error) {
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "resolve", Args: []string{stashName(nth) + "^{commit}"}})
	if exit := (*gitcmd.ExitError)(nil); errors.As(err, &exit) && exit.Stderr == "" {
		return "", nil // or there are fewer
	}
	return strings.TrimSpace(string(out)), git.Explain(err)
}

// inStash are the files that a stash writes: what was changed since the commit that
// it was made at, and the new files that it has besides.
func (r *Repo) inStash(ctx context.Context, stash string) ([]MovedFile, error) {
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "show-commit", Args: []string{stash}})
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	parents, _, _ := strings.Cut(string(out), "\x00")
	commits := strings.Fields(parents)
	if len(commits) < 2 {
		return nil, gitcmd.Failf(gitcmd.Failed, "%s is not what git stash makes", short(stash))
	}
	files, err := r.differ(ctx, commits[0], stash)
	if err != nil || len(commits) < 3 {
		return files, err
	}
	added, err := r.differ(ctx, "", commits[2])
	return append(files, added...), err
}

// stashApply brings back exactly a stash.
func (r *Repo) stashApply(ctx context.Context, at place, stash string, files []MovedFile, nth int) error {
	h, err := r.hold()
	if err != nil {
		return err
	}
	defer h.Release()
	a, err := r.aside(ctx, r.Dir, standing{branch: at.branch, commit: at.commit, config: asStash})
	if err != nil {
		return err
	}
	defer a.remove()
	if err := a.borrow(h); err != nil {
		return err
	}
	if err := r.noneInTheWay(ctx, a.Git, files); err != nil {
		return err
	}
	_, failed := a.Run(ctx, gitcmd.Invocation{Op: "stash-apply", Args: []string{stash}})
	ctx = context.WithoutCancel(ctx)
	if failed == nil {
		return a.giveBack(ctx, h)
	}
	conflicts, err := unmerged(ctx, a.Git)
	if err != nil || len(conflicts) == 0 {
		return r.Git.Explain(failed)
	}
	if err := a.giveBack(ctx, h); err != nil {
		return err
	}
	return gitcmd.Failf(gitcmd.Conflicted, "%s came back with conflicts, and is kept; %s", stashName(nth), inConflict(conflicts))
}

// StashDrop throws a stash away.
func (r *Repo) StashDrop(ctx context.Context, index int) error {
	_, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "stash-drop", Args: []string{stashName(index)}})
	return r.Git.Explain(err)
}

func stashName(index int) string { return fmt.Sprintf("stash@{%d}", index) }
