package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// What is asked about the record.
var (
	auditList = query[auditlog.Query, []auditlog.Record]{name: "audit list", answer: func(_ context.Context, w *app.Workspace, q auditlog.Query) ([]auditlog.Record, error) {
		log, err := w.Home.Records()
		if err != nil {
			return nil, err
		}
		return log.Find(q)
	}}
	auditEffects = query[auditlog.Query, []effects.Effect]{name: "audit effects", answer: func(_ context.Context, w *app.Workspace, q auditlog.Query) ([]effects.Effect, error) {
		log, err := w.Home.Records()
		if err != nil {
			return nil, err
		}
		return effects.List(log, q.Session, cmp.Or(q.Limit, 100))
	}}
	auditVerify = query[struct{}, auditlog.Report]{name: "audit verify", answer: func(_ context.Context, w *app.Workspace, _ struct{}) (auditlog.Report, error) {
		log, err := w.Home.Records()
		if err != nil {
			return auditlog.Report{}, err
		}
		return log.Verify()
	}}
)

// audit looks at what was written down, or checks that nobody changed it.
func audit(ctx context.Context, c *cli) error {
	verb := "list"
	if len(c.args) > 0 {
		verb = c.args[0]
	}
	if len(c.args) > 1 || !slices.Contains([]string{"list", "verify", "effects"}, verb) {
		return usagef("audit has the verbs list, verify and effects, not %q", strings.Join(c.args, " "))
	}
	switch verb {
	case "verify":
		return c.auditVerify(ctx)
	case "effects":
		return listEffects(ctx, c)
	}
	q := c.query
	if c.since != 0 {
		q.Since = time.Now().Add(-c.since)
	}
	records, err := ask(ctx, c, auditList, q)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(records)
	}
	if len(records) == 0 {
		fmt.Fprintln(c.Out, "Nothing is written down.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, r := range records {
		outcome := "ok"
		if !r.OK {
			outcome = r.Code
		}
		var paths []string
		for _, ch := range r.Changes {
			paths = append(paths, ch.Kind+" "+ch.Path+" ("+ch.State+")")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s by %s\t%s\t%s\n", r.Time.Local().Format(time.DateTime), r.Session, toolOf(r), r.Outcome, r.By, outcome, strings.Join(paths, ", "))
	}
	return t.Flush()
}

// listEffects shows what left the sessions, the newest first.
func listEffects(ctx context.Context, c *cli) error {
	list, err := ask(ctx, c, auditEffects, c.query)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(c.Out, "Nothing left a session.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, e := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", e.At.Local().Format(time.DateTime), e.Session, e.Kind, e.Decision, e.What)
	}
	return t.Flush()
}

func (c *cli) auditVerify(ctx context.Context) error {
	rep, err := ask(ctx, c, auditVerify, struct{}{})
	if err != nil {
		return err
	}
	if c.json {
		err = c.print(rep)
	} else {
		fmt.Fprintf(c.Out, "%s in %s, %s.\n", tools.Count(int(rep.Records), "record"), tools.Count(rep.Files, "file"), tools.Count(rep.Torn, "unfinished line"))
		for _, fault := range rep.Faults {
			fmt.Fprintln(c.Out, fault)
		}
		if len(rep.Faults) == 0 {
			fmt.Fprintln(c.Out, "Nothing was changed since it was written.")
		}
	}
	if err == nil && len(rep.Faults) > 0 {
		return errReported
	}
	return err
}

// toolOf is a record's tool, and the agent's own that it stands for.
func toolOf(r auditlog.Record) string {
	if r.Own == "" {
		return r.Tool
	}
	return r.Tool + " (" + r.Own + ")"
}
