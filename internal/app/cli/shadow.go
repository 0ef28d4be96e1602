package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/shadowsetup"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// shadowVerbs are what `shadow` can do.
var shadowVerbs = map[string]struct {
	run func(context.Context, *cli, string) error
	id  bool // an id is needed
}{
	"create":  {run: createShadow},
	"fill":    {run: fillShadow, id: true},
	"list":    {run: listShadows},
	"diff":    {run: diffShadow, id: true},
	"merge":   {run: mergeShadow, id: true},
	"setup":   {run: setUpShadow},
	"discard": {run: discardShadow, id: true},
}

// What is asked about shadow workspaces.
var (
	shadowCreate = query[shadowNew, shadow.Shadow]{name: "shadow create", answer: func(ctx context.Context, w *app.Workspace, a shadowNew) (shadow.Shadow, error) {
		return w.ShadowsForPeople().Create(ctx, shadow.CreateRequest{ID: a.ID, Base: a.Base, IncludeUncommitted: a.Uncommitted, Lazy: a.Lazy})
	}}
	shadowFill = query[string, struct{}]{name: "shadow fill", answer: func(ctx context.Context, w *app.Workspace, id string) (struct{}, error) {
		return struct{}{}, w.ShadowsForPeople().Materialize(ctx, id)
	}}
	shadowList = query[struct{}, shadowsReply]{name: "shadow list", answer: shadowsOf}
	shadowDiff = query[string, shadow.Diff]{name: "shadow diff", answer: func(ctx context.Context, w *app.Workspace, id string) (shadow.Diff, error) {
		return w.ShadowsForPeople().Diff(ctx, id)
	}}
	shadowMerge = query[shadowInto, shadow.Merge]{name: "shadow merge", queue: app.QueueAlways, decides: true, answer: func(ctx context.Context, w *app.Workspace, a shadowInto) (shadow.Merge, error) {
		return w.ShadowsForPeople().Merge(ctx, a.ID, a.Into)
	}}
	shadowSetUp = query[string, shadow.Setup]{name: "shadow setup", answer: func(ctx context.Context, w *app.Workspace, id string) (shadow.Setup, error) {
		return w.ShadowsForPeople().SetUp(ctx, id, nil)
	}}
	shadowPlan = query[string, shadowsetup.Plan]{name: "shadow plan", answer: func(_ context.Context, w *app.Workspace, offer string) (shadowsetup.Plan, error) {
		return w.ShadowsForPeople().Plan(offer)
	}}
	shadowTake = query[shadowsetup.Plan, struct{}]{name: "shadow take", decides: true, answer: func(_ context.Context, w *app.Workspace, p shadowsetup.Plan) (struct{}, error) {
		return struct{}{}, w.ShadowsForPeople().Take(p)
	}}
	shadowDiscard = query[string, shadow.Discarded]{name: "shadow discard", decides: true, answer: func(ctx context.Context, w *app.Workspace, id string) (shadow.Discarded, error) {
		return w.ShadowsForPeople().Discard(ctx, id)
	}}
)

type shadowNew struct {
	ID          string `json:"id"`
	Base        string `json:"base"`
	Uncommitted bool   `json:"uncommitted"`
	Lazy        bool   `json:"lazy"`
}

type shadowInto struct {
	ID   string `json:"id"`
	Into string `json:"into"`
}

type shadowsReply struct {
	Shadows []shadow.Shadow `json:"shadows"`
	Damaged []string        `json:"damaged,omitempty"` // which can't be used, and why
}

// shadowCommand works with shadow workspaces.
func shadowCommand(ctx context.Context, c *cli) error {
	name, id := "list", ""
	if len(c.args) > 0 {
		name = c.args[0]
	}
	verb, ok := shadowVerbs[name]
	if !ok {
		return usagef("shadow has no verb %q; it has create, setup, fill, list, diff, merge and discard", name)
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
	case "", "review", shadow.IntoTree:
	default:
		return usagef("--into: review or tree is expected, not %q", c.into)
	}
	return verb.run(ctx, c, id)
}

func createShadow(ctx context.Context, c *cli, id string) error {
	made, err := ask(ctx, c, shadowCreate, shadowNew{id, c.base, c.uncommitted, c.lazy})
	if err != nil {
		return err
	}
	if c.json {
		out := map[string]any{"id": made.ID, "path": made.Path, "base": made.Base}
		if made.Setup != nil {
			out["setup"] = made.Setup
		}
		err = c.print(out)
	} else {
		fmt.Fprintf(c.Out, "%s\t%s\n", made.ID, made.Path)
		printSetup(c.Err, made.Setup, true)
	}
	if err == nil && !isSetUp(made.Setup) {
		err = errReported // the shadow workspace is there all the same
	}
	return err
}

func fillShadow(ctx context.Context, c *cli, id string) error {
	if _, err := ask(ctx, c, shadowFill, id); err != nil || !c.json {
		return err
	}
	return c.print(map[string]string{"filled": id})
}

func shadowsOf(ctx context.Context, w *app.Workspace, _ struct{}) (shadowsReply, error) {
	all, err := w.ShadowsForPeople().List(ctx)
	out := shadowsReply{Shadows: []shadow.Shadow{}}
	for _, i := range all {
		if i.Damage != nil {
			out.Damaged = append(out.Damaged, fmt.Sprintf("%s can't be used: %v", i.ID, i.Damage))
			continue
		}
		out.Shadows = append(out.Shadows, i)
	}
	return out, err
}

func listShadows(ctx context.Context, c *cli, _ string) error {
	list, err := ask(ctx, c, shadowList, struct{}{})
	if err != nil {
		return err
	}
	for _, text := range list.Damaged {
		fmt.Fprintln(c.Err, text)
	}
	if c.json {
		return c.print(map[string]any{"shadows": list.Shadows})
	}
	if len(list.Shadows) == 0 {
		fmt.Fprintln(c.Out, "There is no shadow workspace.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, i := range list.Shadows {
		fmt.Fprintf(t, "%s\t%.10s\t%s\t%d changed\t%s%s\n", i.ID, i.Base, i.CreatedAt.Local().Format(time.DateTime), i.Changed, setupState(i.Setup), i.Path)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, i := range list.Shadows {
		if i.Setup != nil && i.Setup.State != shadow.SetupDone {
			fmt.Fprintf(c.Out, "\n%s: ", i.ID)
			printSetup(c.Out, i.Setup, true)
		}
	}
	return nil
}

func diffShadow(ctx context.Context, c *cli, id string) error {
	d, err := ask(ctx, c, shadowDiff, id)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(d)
	}
	_, err = fmt.Fprint(c.Out, d.Text)
	return err
}

func mergeShadow(ctx context.Context, c *cli, id string) error {
	q := shadowMerge
	if c.into == shadow.IntoTree {
		q.queue = app.QueueNever
	}
	m, err := ask(ctx, c, q, shadowInto{id, c.into})
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
		return errReported
	}
	return nil
}

func discardShadow(ctx context.Context, c *cli, id string) error {
	d, err := ask(ctx, c, shadowDiscard, id)
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
