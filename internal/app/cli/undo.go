package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// turning takes edits back, or makes them again: down to the entry that is
// named, or the newest.
func turning(f func(context.Context, *pendingedits.Store, string) (pendingedits.UndoResult, error)) func(context.Context, *app.Workspace, reviewWords) (reviewOutcome, error) {
	return func(ctx context.Context, w *app.Workspace, words reviewWords) (reviewOutcome, error) {
		to := ""
		switch len(words.Chosen) {
		case 0:
		case 1:
			to = words.Chosen[0]
		default:
			return reviewOutcome{}, usagef("one entry is expected at most; everything from the newest down to it is taken")
		}
		q, _, err := chosen(w, reviewWords{Dir: words.Dir})
		if err != nil {
			return reviewOutcome{}, err
		}
		r, err := f(ctx, q, to)
		if errors.Is(err, pendingedits.ErrNoItem) {
			err = fmt.Errorf("%w; `sidecar-ls review history` lists the entries", err)
		}
		return reviewOutcome{What: r.What, Done: r.Restored, Deleted: r.Deleted, Failed: failureLines(r.Failed), Commits: commitLines(r.Commits), Of: r.Of}, err
	}
}

// undoTo takes back what an entry names or, without one, the newest decision: a rejection, too.
func undoTo(ctx context.Context, q *pendingedits.Store, to string) (pendingedits.UndoResult, error) {
	return q.UndoTo(ctx, cmp.Or(to, pendingedits.Last))
}

// redoTo makes again what was undone, down to an entry or only the newest.
func redoTo(ctx context.Context, q *pendingedits.Store, to string) (pendingedits.UndoResult, error) {
	return q.RedoTo(ctx, to)
}

// turned says which entry of the history was undone, or made again.
func turned(what string, p pendingedits.Past) string {
	did := map[string]string{"accept": "accepting an edit", "redo": "accepting an edit", "reject": "rejecting an edit", "apply": "an edit without review", "undo": "an undo"}[p.What]
	if what == "undo" {
		did = "undone: " + did
	} else if p.What == "undo" {
		did = "made again: what an undo had taken back"
	}
	line := fmt.Sprintf("%s by %s, %s", did, newAuthors().past(p.Session, p.Tool), pastFiles(p))
	switch {
	case what == "undo" && p.What == "reject":
		line += "; it waits again (redo makes accepted edits again, not rejections)"
	case what == "undo" && p.What != "apply":
		line += "; it waits again"
	}
	return line
}

// pastFiles are the files of an entry, with what it did to them.
func pastFiles(p pendingedits.Past) string {
	var files []string
	for _, f := range p.Files {
		files = append(files, fmt.Sprintf("%s %s +%d −%d", f.Kind, inLine(f.Path), f.Added, f.Removed))
	}
	return strings.Join(files, ", ")
}

// whyNothing says why nothing was undone, or made again; "" for other decisions.
func whyNothing(what string) string {
	switch what {
	case "undo":
		return ": no edit or decision is left to undo"
	case "redo":
		return ": nothing has been undone"
	}
	return ""
}

func pastEdits(_ context.Context, w *app.Workspace, words reviewWords) ([]pendingedits.Past, error) {
	q, _, err := chosen(w, reviewWords{Dir: words.Dir})
	if err != nil {
		return nil, err
	}
	return append([]pendingedits.Past{}, pendingedits.Decisions(q)...), nil
}

// decidedAs are the words for what was done: people decide on what agents made.
var decidedAs = map[string]string{
	"accept": "you accepted", "reject": "you rejected", "undo": "you undid", "redo": "you made again", "apply": "applied without review",
}

func showHistory(ctx context.Context, c *cli, w reviewWords) error {
	if len(w.Chosen) > 0 {
		return usagef("history takes no arguments")
	}
	list, err := ask(ctx, c, reviewHistory, w)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"entries": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(c.Out, "Nothing can be undone.")
		return nil
	}
	by := newAuthors()
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, l := range list {
		at := "some time ago"
		if !l.At.IsZero() {
			at = l.At.Local().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\tmade by %s\t%s\t%s\n", l.ID, at, cmp.Or(decidedAs[l.What], l.What), by.past(l.Session, l.Tool), pastFiles(l), l.Why)
	}
	return t.Flush()
}
