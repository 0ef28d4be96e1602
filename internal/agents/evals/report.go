package evals

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is what came of tasks.
type Report struct {
	Tasks []Result `json:"tasks"`
	Sum   Sum      `json:"sum"`
}

// Sum is that of the tasks that were run.
type Sum struct {
	Tasks   int      `json:"tasks"`
	Solved  int      `json:"solved"`
	Share   float64  `json:"share"` // of Tasks that are solved, from 0 to 1
	Skipped int      `json:"skipped"`
	Steps   int64    `json:"steps"`
	Tokens  int64    `json:"tokens"`
	Cost    *float64 `json:"cost,omitempty"` // in US dollars, of those where it is known
	Seconds float64  `json:"seconds"`
	Refused int      `json:"editsRefused"`
}

func (r *Report) sum() {
	var s Sum
	for _, t := range r.Tasks {
		if t.Skipped != "" {
			s.Skipped++
			continue
		}
		s.Tasks++
		if t.Solved {
			s.Solved++
		}
		s.Steps, s.Tokens, s.Seconds, s.Refused = s.Steps+t.Steps, s.Tokens+t.Tokens, s.Seconds+t.Seconds, s.Refused+t.Refused
		if t.Cost != nil {
			if s.Cost == nil {
				s.Cost = new(float64)
			}
			*s.Cost += *t.Cost
		}
	}
	if s.Tasks > 0 {
		s.Share = float64(s.Solved) / float64(s.Tasks)
	}
	r.Sum = s
}

// Broken reports whether a task could not be run.
func (r *Report) Broken() bool {
	for _, t := range r.Tasks {
		if t.End == broken {
			return true
		}
	}
	return false
}

// Table writes a report for people.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TASK\tSOLVED\tSTEPS\tTOKENS\tCOST\tTIME\tEDITS REFUSED\tEND")
	for _, one := range r.Tasks {
		if one.Skipped != "" {
			fmt.Fprintf(t, "%s\tskipped\t\t\t\t\t\t%s\n", one.Task, line(one.Skipped))
			continue
		}
		end := one.End
		if one.Why != "" {
			end += ": " + line(one.Why)
		}
		if len(one.Vain) > 0 {
			end += "; what it changed in " + strings.Join(one.Vain, ", ") + " does not count"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%d\t%s\n", one.Task, yes(one.Solved), one.Steps, one.Tokens, dollars(one.Cost), took(one.Seconds), one.Refused, end)
	}
	s := r.Sum
	fmt.Fprintf(t, "all %d\t%d (%.0f %%)\t%d\t%d\t%s\t%s\t%d\t\n", s.Tasks, s.Solved, 100*s.Share, s.Steps, s.Tokens, dollars(s.Cost), took(s.Seconds), s.Refused)
	return t.Flush()
}

func yes(solved bool) string {
	if solved {
		return "yes"
	}
	return "no"
}

func dollars(cost *float64) string {
	if cost == nil {
		return "-"
	}
	return fmt.Sprintf("$%.4f", *cost)
}

func took(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

// line is the first line of a text, as far as a table has room for it.
func line(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(text); len(r) > 100 {
		text = string(r[:99]) + "…"
	}
	return text
}
