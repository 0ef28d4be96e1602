package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
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
	if len(c.args) > 1 || verb != "list" && verb != "verify" {
		return usagef("audit has the verbs list and verify, not %q", strings.Join(c.args, " "))
	}
	if verb == "verify" {
		return c.auditVerify(ctx)
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
