package dispatch

import (
	"context"
	"fmt"
	"strings"
)

// check has an edit that is held for review looked at, and tells the model what
// it breaks. The edit stands whatever comes of it.
func (c *call) check(ctx context.Context) {
	if c.d.o.Check == nil || len(c.changes) == 0 || !c.mode.ToStore {
		return
	}
	found := c.d.o.Check(ctx, c.session.ID, c.changes)
	if found == nil {
		return
	}
	hide := c.d.o.Redact.Text
	for i := range found.New {
		found.New[i].Message = hide(found.New[i].Message)
	}
	found.Why = hide(found.Why)
	c.res.Checked = found
	if note := found.words(); note != "" {
		c.notes = append(c.notes, note)
	}
}

// words are what the model is told; nothing when nothing is known.
func (f *Checked) words() string {
	switch f.State {
	case "clean":
		words := "No new problems, says " + strings.Join(f.By, ", ")
		if f.Why != "" {
			words += "; " + f.Why
		}
		return words + "."
	case "problems":
		var b strings.Builder
		many := "s"
		if f.Total == 1 {
			many = ""
		}
		fmt.Fprintf(&b, "This edit brings %d new problem%s, says %s:", f.Total, many, strings.Join(f.By, ", "))
		for _, p := range f.New {
			fmt.Fprintf(&b, "\n%s:%d:%d: %s: %s", p.Path, p.Line, p.Column, p.Severity, p.Message)
		}
		if left := f.Total - len(f.New); left > 0 {
			fmt.Fprintf(&b, "\n%d more, see get_diagnostics", left)
		}
		return b.String()
	}
	return ""
}
