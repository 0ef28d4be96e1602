package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/auditlog"
)

// auditDir is where calls are written down.
func (c *core) auditDir() string { return filepath.Join(filepath.Dir(c.stateDir), "logs") }

// verifyAudit reads the audit log and says whether it is as it was written.
func (c *core) verifyAudit() (auditlog.Report, error) {
	if c.stateErr != nil {
		return auditlog.Report{}, c.stateErr
	}
	if c.audit != nil {
		if err := c.audit.Flush(); err != nil {
			return auditlog.Report{}, err
		}
	}
	return auditlog.Verify(c.auditDir())
}

// audit looks at what was written down, or checks that nobody changed it.
func audit(ctx context.Context, c *cli) error {
	verb := "list"
	if len(c.args) > 0 {
		verb = c.args[0]
	}
	if len(c.args) > 1 || verb != "list" && verb != "verify" {
		return usagef("audit has the verbs list and verify, not %q", strings.Join(c.args, " "))
	}
	k, err := c.core(ctx, queueNever)
	if err != nil {
		return err
	}
	defer k.close()
	if verb == "verify" {
		return c.auditVerify(k)
	}
	q := c.query
	if c.since != 0 {
		q.Since = time.Now().Add(-c.since)
	}
	if k.stateErr != nil {
		return k.stateErr
	}
	records, err := auditlog.Find(k.auditDir(), q)
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s by %s\t%s\t%s\n", r.Time.Local().Format(time.DateTime), r.Session, r.Tool, r.Outcome, r.By, outcome, strings.Join(paths, ", "))
	}
	return t.Flush()
}

func (c *cli) auditVerify(k *core) error {
	rep, err := k.verifyAudit()
	if err != nil {
		return err
	}
	if c.json {
		err = c.print(rep)
	} else {
		fmt.Fprintf(c.Out, "%d records in %d files, %d unfinished lines.\n", rep.Records, rep.Files, rep.Torn)
		for _, fault := range rep.Faults {
			fmt.Fprintln(c.Out, fault)
		}
		if len(rep.Faults) == 0 {
			fmt.Fprintln(c.Out, "Nothing was changed since it was written.")
		}
	}
	if err == nil && len(rep.Faults) > 0 {
		return errSaid
	}
	return err
}
