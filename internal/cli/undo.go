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

// pastLine is an entry of what can be undone.
type pastLine struct {
	ID       string     `json:"id"`
	At       *time.Time `json:"at,omitempty"`
	Session  string     `json:"session"`
	Tool     string     `json:"tool"`
	What     string     `json:"what"`
	Files    []pastFile `json:"files"`
	Undoable bool       `json:"undoable"`
	Why      string     `json:"why,omitempty"`
}

type pastFile struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

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
		return reviewOutcome{What: r.What, Done: r.Restored, Failed: failureLines(r.Failed), Commits: commitLines(r.Commits)}, err
	}
}

func pastEdits(_ context.Context, w *app.Workspace, words reviewWords) ([]pastLine, error) {
	q, _, err := chosen(w, reviewWords{Dir: words.Dir})
	if err != nil {
		return nil, err
	}
	list := []pastLine{}
	for _, p := range q.History("", 0) {
		l := pastLine{ID: p.ID, Session: p.Session, Tool: p.Tool, What: p.What, Undoable: p.Undoable, Why: p.Why}
		if !p.At.IsZero() {
			l.At = &p.At
		}
		for _, f := range p.Files {
			l.Files = append(l.Files, pastFile(f))
		}
		list = append(list, l)
	}
	return list, nil
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
		if l.At != nil {
			at = l.At.Local().Format(time.DateTime)
		}
		var files []string
		for _, f := range l.Files {
			files = append(files, fmt.Sprintf("%s %s +%d −%d", f.Kind, f.Path, f.Added, f.Removed))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\tby %s\t%s\t%s\n", l.ID, at, l.What, l.Tool, strings.Join(files, ", "), l.Why)
	}
	return t.Flush()
}
