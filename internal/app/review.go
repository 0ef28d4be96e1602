package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// reviewVerbs are what `review` can do.
var reviewVerbs = map[string]func(context.Context, *cli, *pendingedits.Store, pendingedits.Selection) error{
	"list":   reviewList,
	"diff":   reviewDiff,
	"accept": reviewAccept,
	"reject": reviewReject,
	"undo":   reviewUndo,
}

func reviewEdits(ctx context.Context, c *cli) error {
	verb := "list"
	if len(c.args) > 0 {
		verb = c.args[0]
	}
	f, ok := reviewVerbs[verb]
	if !ok {
		return usagef("review has no verb %q; it has list, diff, accept, reject and undo", verb)
	}
	if err := c.makeRoom(ctx); err != nil {
		return err
	}
	k, err := c.core(ctx, queueAlways)
	if err != nil {
		return err
	}
	defer k.close()
	if err := k.queueErr(); err != nil {
		return fmt.Errorf("%w; decide in the editor that holds the queue, or close it first", err)
	}
	sel, err := c.selection(k)
	if err != nil {
		return err
	}
	return f(ctx, c, k.review, sel)
}

// selection sorts the arguments into files and hunks: what is a hunk's id is a
// hunk.
func (c *cli) selection(k *core) (pendingedits.Selection, error) {
	var sel pendingedits.Selection
	if len(c.args) < 2 {
		return sel, nil
	}
	ids := map[string]bool{}
	for _, e := range k.review.List("").Edits {
		for _, h := range e.Hunks {
			ids[h.ID] = true
		}
	}
	for _, arg := range c.args[1:] {
		if ids[arg] {
			sel.Hunks = append(sel.Hunks, arg)
			continue
		}
		name, err := k.disk.Resolve(arg)
		if err != nil {
			return sel, err
		}
		sel.Names = append(sel.Names, name)
	}
	return sel, nil
}

func reviewList(_ context.Context, c *cli, q *pendingedits.Store, sel pendingedits.Selection) error {
	list := q.List("")
	if len(sel.Names) > 0 {
		list.Commits = nil
		list.Edits = slices.DeleteFunc(list.Edits, func(e pendingedits.Edit) bool { return !slices.Contains(sel.Names, e.Name) })
	}
	if c.json {
		return c.print(list)
	}
	if len(list.Edits)+len(list.Commits) == 0 {
		fmt.Fprintln(c.Out, "Nothing is pending.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, e := range list.Edits {
		by := e.Tool
		if e.Batch {
			by += ", batch of " + e.Session
		}
		fmt.Fprintf(t, "%s\t%s\t+%d −%d\t%s\tby %s\n", e.Name, e.Kind, e.Added, e.Removed, e.State, by)
		for _, h := range e.Hunks {
			fmt.Fprintf(t, "  %s\tline %d\t+%d −%d\t%s\n", h.ID, max(h.OldStart, 1), h.NewLines, h.OldLines, h.State)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, q := range list.Commits {
		fmt.Fprintf(c.Out, "commit %q, batch of %s: %s\n", subject(q.Message), q.Session, commitFiles(q))
		if q.Error != "" {
			fmt.Fprintf(c.Out, "  could not be made: %s\n", q.Error)
		}
	}
	return nil
}

// subject is the first line of a commit's message.
func subject(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

func commitFiles(q pendingedits.Commit) string {
	if len(q.Files) == 0 {
		return "what is staged"
	}
	return strings.Join(q.Files, ", ")
}

func reviewDiff(_ context.Context, c *cli, q *pendingedits.Store, sel pendingedits.Selection) error {
	names := sel.Names
	if len(names) == 0 {
		names = []string{""}
	}
	var all strings.Builder
	for _, name := range names {
		d, err := q.Diff(name)
		if err != nil {
			return err
		}
		all.WriteString(d)
	}
	if c.json {
		return c.print(map[string]string{"diff": all.String()})
	}
	_, err := io.WriteString(c.Out, all.String())
	return err
}

func reviewAccept(ctx context.Context, c *cli, q *pendingedits.Store, sel pendingedits.Selection) error {
	r, err := q.Accept(ctx, sel)
	if errors.Is(err, pendingedits.ErrBatch) {
		return fmt.Errorf("%w: `sidecar-ls review accept` without arguments", err)
	}
	if err != nil {
		return err
	}
	return c.outcome("accepted", r.Accepted, r.Failed, r.Commits)
}

func reviewReject(ctx context.Context, c *cli, q *pendingedits.Store, sel pendingedits.Selection) error {
	r, err := q.Reject(ctx, sel, c.reason)
	if err != nil {
		return err
	}
	if err := c.outcome("rejected", r.Rejected, nil, nil); err != nil || c.json {
		return err
	}
	for _, q := range r.Commits {
		fmt.Fprintf(c.Out, "rejected the commit %q\n", subject(q.Message))
	}
	return nil
}

func reviewUndo(ctx context.Context, c *cli, q *pendingedits.Store, _ pendingedits.Selection) error {
	r, err := q.Undo(ctx)
	if err != nil {
		return err
	}
	if len(r.Commits) > 0 && !c.json {
		fmt.Fprintln(c.Out, "The commits that were made stay:")
	}
	return c.outcome("restored", r.Restored, r.Failed, r.Commits)
}

// outcome prints what was done, and fails when something was left as it was.
func (c *cli) outcome(did string, names []string, failed []pendingedits.Failure, commits []pendingedits.CommitResult) error {
	if c.json {
		type failure struct {
			Path  string `json:"path"`
			Error string `json:"error"`
		}
		out := map[string]any{did: append([]string{}, names...)}
		list := []failure{}
		for _, f := range failed {
			list = append(list, failure{f.Name, f.Err.Error()})
		}
		out["failed"] = list
		if len(commits) > 0 {
			out["commits"] = commitLines(commits)
		}
		if err := c.print(out); err != nil {
			return err
		}
	} else if len(names) > 0 {
		fmt.Fprintf(c.Out, "%s %s\n", did, strings.Join(names, ", "))
	} else if len(failed)+len(commits) == 0 {
		fmt.Fprintf(c.Out, "Nothing was %s.\n", did)
	}
	bad := len(failed) > 0
	for _, f := range failed {
		fmt.Fprintf(c.Err, "%s: %v\n", f.Name, f.Err)
	}
	for _, q := range commitLines(commits) {
		if bad = bad || q.Error != ""; q.Error != "" {
			fmt.Fprintf(c.Err, "commit %q: %s\n", subject(q.Message), q.Error)
		} else if !c.json {
			fmt.Fprintf(c.Out, "commit %q: %s\n", subject(q.Message), q.ID)
		}
	}
	if bad {
		return errSaid
	}
	return nil
}

// commitLine is what became of a queued commit.
type commitLine struct {
	Message string `json:"message"`
	ID      string `json:"id,omitempty"`
	Error   string `json:"error,omitempty"`
}

func commitLines(commits []pendingedits.CommitResult) []commitLine {
	out := make([]commitLine, len(commits))
	for i, q := range commits {
		out[i] = commitLine{Message: q.Message, ID: q.ID}
		if q.Err != nil {
			out[i].Error = q.Err.Error()
		}
	}
	return out
}
