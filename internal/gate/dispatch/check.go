package dispatch

import (
	"context"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
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
		c.notes.add(note)
	}
}

// words are what the model is told.
func (f *Checked) words() string {
	var words string
	switch f.State {
	case "clean":
		words = "No new problems, says " + strings.Join(f.By, ", ")
		if f.Why != "" {
			words += "; " + f.Why + f.later("if there are any, a later result says so")
		}
		words += "."
	case "problems":
		words = "This edit brings " + f.Listed("new")
		if f.AtLeast {
			words += "\nNot all that depends on it was looked at in time" + f.later("if there are more, a later result says so") + "."
		}
	default:
		if !f.Later {
			return "" // there is no server that could say it
		}
		words = "What this edit breaks is not known yet (" + f.Why + ")" + f.later("a later result says it") + "."
	}
	if f.Open > 0 {
		words += fmt.Sprintf(" Still open from earlier edits: %s.", tools.Count(f.Open, "problem"))
	}
	return words
}

func (f *Checked) later(what string) string {
	if f.Later {
		return "; " + what
	}
	return ""
}

// Listed counts the problems and lists the first of them; kind says which they
// are, such as new.
func (f *Checked) Listed(kind string) string {
	var b strings.Builder
	if f.AtLeast {
		b.WriteString("at least ")
	}
	fmt.Fprintf(&b, "%s, says %s:", tools.Count(f.Total, kind+" problem"), strings.Join(f.By, ", "))
	for _, p := range f.New {
		fmt.Fprintf(&b, "\n%s:%d:%d: %s: %s", p.Path, p.Line, p.Column, p.Severity, p.Message)
	}
	if left := f.Total - len(f.New); left > 0 {
		fmt.Fprintf(&b, "\n%d more, see get_diagnostics", left)
	}
	return b.String()
}
