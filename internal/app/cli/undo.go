package cli

import (
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
func turning(f func(*pendingedits.Store, context.Context, string) (pendingedits.UndoResult, error)) func(context.Context, *app.Workspace, reviewWords) (reviewOutcome, error) {
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
		r, err := f(q, ctx, to)
		if errors.Is(err, pendingedits.ErrNoItem) {
			err = fmt.Errorf("%w; `sidecar-ls review history` lists the entries", err)
		}
		return reviewOutcome{What: r.What, Done: r.Restored, Deleted: r.Deleted, Failed: failureLines(r.Failed), Commits: commitLines(r.Commits)}, err
	}
}

func pastEdits(_ context.Context, w *app.Workspace, words reviewWords) ([]pendingedits.Past, error) {
	q, _, err := chosen(w, reviewWords{Dir: words.Dir})
	if err != nil {
		return nil, err
	}
	return append([]pendingedits.Past{}, q.History("", 0)...), nil
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
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, l := range list {
		at := "some time ago"
		if !l.At.IsZero() {
			at = l.At.Local().Format(time.DateTime)
		}
		var files []string
		for _, f := range l.Files {
			files = append(files, fmt.Sprintf("%s %s +%d −%d", f.Kind, inLine(f.Path), f.Added, f.Removed))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\tby %s\t%s\t%s\n", l.ID, at, l.What, l.Tool, strings.Join(files, ", "), l.Why)
	}
	return t.Flush()
}
