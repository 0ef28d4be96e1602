package app

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// shadowVerbs are what `shadow` can do.
var shadowVerbs = map[string]struct {
	run   func(context.Context, *cli, *shadows, string) error
	id    bool // an id is needed
	queue bool // the review queue may be needed
}{
	"create":  {run: shadowCreate},
	"fill":    {run: shadowFill, id: true},
	"list":    {run: shadowList},
	"diff":    {run: shadowDiff, id: true},
	"merge":   {run: shadowMerge, id: true, queue: true},
	"discard": {run: shadowDiscard, id: true},
}

// shadowWork works with shadow workspaces.
func shadowWork(ctx context.Context, c *cli) error {
	name, id := "list", ""
	if len(c.args) > 0 {
		name = c.args[0]
	}
	verb, ok := shadowVerbs[name]
	if !ok {
		return usagef("shadow has no verb %q; it has create, fill, list, diff, merge and discard", name)
	}
	switch {
	case len(c.args) == 2 && name != "list":
		id = c.args[1]
	case len(c.args) > 1:
		return usagef("shadow %s: %q is too much", name, c.args[len(c.args)-1])
	case verb.id:
		return usagef("shadow %s takes the id of a shadow workspace; shadow list shows them", name)
	}
	switch c.into {
	case "", intoReview, intoTree:
	default:
		return usagef("--into: review or tree is expected, not %q", c.into)
	}
	queue := queueNever
	if verb.queue && c.into != intoTree {
		queue = queueAlways
	}
	k, err := c.core(ctx, queue)
	if err != nil {
		return err
	}
	defer k.close()
	return verb.run(ctx, c, k.shadows, id)
}

func shadowCreate(ctx context.Context, c *cli, s *shadows, id string) error {
	made, err := s.Create(ctx, shadow.CreateRequest{ID: id, Base: c.base, IncludeUncommitted: c.uncommitted, Lazy: c.lazy})
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"id": made.ID, "path": made.Path, "base": made.Base})
	}
	fmt.Fprintf(c.Out, "%s\t%s\n", made.ID, made.Path)
	return nil
}

func shadowFill(ctx context.Context, c *cli, s *shadows, id string) error {
	if err := s.m.Materialize(ctx, id); err != nil || !c.json {
		return err
	}
	return c.print(map[string]string{"filled": id})
}

func shadowList(ctx context.Context, c *cli, s *shadows, _ string) error {
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	var list []shadow.Shadow
	for _, i := range all {
		if i.Damage != nil {
			fmt.Fprintf(c.Err, "%s can't be used: %v\n", i.ID, i.Damage)
			continue
		}
		list = append(list, i)
	}
	if c.json {
		return c.print(map[string]any{"shadows": append([]shadow.Shadow{}, list...)})
	}
	if len(list) == 0 {
		fmt.Fprintln(c.Out, "There is no shadow workspace.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, i := range list {
		fmt.Fprintf(t, "%s\t%.10s\t%s\t%d changed\t%s\n", i.ID, i.Base, i.CreatedAt.Local().Format(time.DateTime), i.Changed, i.Path)
	}
	return t.Flush()
}

func shadowDiff(ctx context.Context, c *cli, s *shadows, id string) error {
	d, err := s.Diff(ctx, id)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(d)
	}
	_, err = fmt.Fprint(c.Out, d.Text)
	return err
}

func shadowMerge(ctx context.Context, c *cli, s *shadows, id string) error {
	m, err := s.Merge(ctx, id, c.into)
	if err != nil {
		return err
	}
	if c.json {
		if err := c.print(m); err != nil {
			return err
		}
	} else {
		for _, name := range m.Merged {
			fmt.Fprintln(c.Out, "merged", name)
		}
		if len(m.Merged)+len(m.Conflicts)+len(m.Skipped) == 0 {
			fmt.Fprintln(c.Out, "Nothing is new.")
		}
		for _, k := range m.Conflicts {
			fmt.Fprintf(c.Err, "conflict %s: %s\n", k.Path, k.Reason)
		}
		for _, k := range m.Skipped {
			fmt.Fprintf(c.Err, "skipped %s: %s\n", k.Path, k.Reason)
		}
	}
	if len(m.Conflicts)+len(m.Skipped) > 0 { // who discards it next should not think that all of it is merged
		return errSaid
	}
	return nil
}

func shadowDiscard(ctx context.Context, c *cli, s *shadows, id string) error {
	d, err := s.Discard(ctx, id)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(d)
	}
	for _, commit := range d.Commits {
		fmt.Fprintln(c.Err, "no branch has the commit", commit)
	}
	return nil
}
