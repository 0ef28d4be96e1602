package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitcmd"
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
	if hash, err := r.resolveRev(ctx, "refs/stash"); err != nil || hash == "" {
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

// StashPush puts the changes of tracked files away, below a directory or all.
// It fails with Conflicted when there are none.
func (r *Repo) StashPush(ctx context.Context, message, below string) (note string, err error) {
	if strings.ContainsAny(message, "\x00\n") {
		return "", gitcmd.Failf(gitcmd.Invalid, "message: must be one line")
	}
	if what := r.busy(); what != "" {
		return "", gitcmd.Failf(gitcmd.Conflicted, "%s is in progress; finish or abort it first", what)
	}
	if head, err := r.Head(ctx); err != nil {
		return "", err
	} else if head == "" { // git says nothing at all then
		return "", gitcmd.Failf(gitcmd.Conflicted, "there is no commit yet, and changes are put away against one; make a first commit")
	}
	before, err := r.resolveRev(ctx, "refs/stash")
	if err != nil {
		return "", err
	}
	c := gitcmd.Invocation{Op: "stash-push", Hooks: true}
	if message != "" {
		c.Args = []string{"--message=" + message}
	}
	if below != "" && below != "." {
		c.Paths = []string{below}
	}
	if _, err := r.Git.Run(ctx, c); err != nil {
		return "", r.Git.Explain(err)
	}
	after, err := r.resolveRev(ctx, "refs/stash")
	if err != nil {
		return "", err
	}
	if before == after {
		return "", gitcmd.Failf(gitcmd.Conflicted, "there are no changes of tracked files to put away; new files stay where they are")
	}
	return r.Git.Silenced(ctx, "stash-push"), nil
}

// StashApply brings a stash back, and drops it after that when pop is set. It
// stays when there are conflicts.
func (r *Repo) StashApply(ctx context.Context, index int, pop bool) (note string, err error) {
	op := "stash-apply"
	if pop {
		op = "stash-pop"
	}
	if err := r.noConflicts(ctx); err != nil {
		return "", err
	}
	if _, err := r.Git.Run(ctx, gitcmd.Invocation{Op: op, Args: []string{stashName(index)}, Hooks: true}); err != nil {
		var exit *gitcmd.ExitError
		if conflicts, _ := r.unmerged(ctx); errors.As(err, &exit) && len(conflicts) > 0 {
			return "", gitcmd.Failf(gitcmd.Conflicted, "%s came back with conflicts, and is kept; %s", stashName(index), inConflict(conflicts))
		}
		return "", r.Git.Explain(err)
	}
	return r.Git.Silenced(ctx, op), nil
}

// StashDrop throws a stash away.
func (r *Repo) StashDrop(ctx context.Context, index int) error {
	_, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "stash-drop", Args: []string{stashName(index)}, Hooks: true})
	return r.Git.Explain(err)
}

func stashName(index int) string { return fmt.Sprintf("stash@{%d}", index) }
