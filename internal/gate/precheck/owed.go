package precheck

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
)

// maxOwedTries bounds how often it is tried to find out what is owed.
const maxOwedTries = 6

// maxOwed bounds the files of a session whose edits are looked at later.
const maxOwed = 100

// owed is what a session is still to be told: what its edits of some files
// brought, as far as their results did not say it.
type owed struct {
	edits []workspace.Change // back to how the files were before the first of them
	dark  bool               // of one of them nothing was known
	told  []langserver.Problem
	last  int // counts the edits
	tries int
}

// debts is what each session is still to be told.
type debts struct {
	mu sync.Mutex
	of map[string]*owed // by session
}

// owe notes what a check of a session's edit left open, and returns whether the
// session is told later.
func (d *debts) owe(session string, changes []workspace.Change, check langserver.Check) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.of[session]
	if o != nil {
		o.last++
		o.told = append(o.told, check.New...)
	}
	if !check.Partial && len(check.Unknown) == 0 {
		return false
	}
	if o == nil {
		o = &owed{told: slices.Clone(check.New)}
	}
	edits := undoing(o.edits, changes)
	if len(edits) == 0 || len(edits) > maxOwed {
		return false
	}
	o.edits, o.tries = edits, 0
	o.dark = o.dark || len(check.Known) == 0
	d.of[session] = o
	return true
}

// undoing adds changes to edits, which say how files were before the first
// change of each.
func undoing(edits, changes []workspace.Change) []workspace.Change {
	out := slices.Clone(edits)
	add := func(name string, before []byte) {
		if !slices.ContainsFunc(out, func(c workspace.Change) bool { return c.Path == name }) {
			out = append(out, workspace.Change{Path: name, Before: bytes.Clone(before)})
		}
	}
	for _, c := range changes {
		switch {
		case c.Link():
		case c.From != "":
			add(c.From, c.Before)
			add(c.Path, nil)
		default:
			add(c.Path, c.Before)
		}
	}
	return out
}

// sessions are those that are owed something.
func (d *debts) sessions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.of))
}

// forgive ends all debts.
func (d *debts) forgive() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.of)
}

// get returns the debt of a session, and a copy of it as it is now.
func (d *debts) get(id string) (o *owed, now owed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o = d.of[id]
	return o, *o
}

// again counts tries, and reports whether another one is due.
func (d *debts) again(o *owed) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	o.tries++
	return o.tries <= maxOwedTries
}

// settle ends a debt, unless the session has edited meanwhile.
func (d *debts) settle(id string, o *owed, last int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of[id] != o || o.last != last {
		return false
	}
	delete(d.of, id)
	return true
}

// undone reports whether the files are as before the edits.
func undone(files workspace.Reader, edits []workspace.Change) bool {
	for _, c := range edits {
		now, err := files.ReadFile(c.Path)
		if (err == nil) != (c.Before != nil) || !bytes.Equal(now, c.Before) {
			return false
		}
	}
	return true
}

// late says what edits brought besides what was told; that it is nothing, only
// to who was promised an answer.
func late(edits []workspace.Change, check langserver.Check, told []langserver.Problem, promised bool) string {
	rest := slices.Clone(check.New)
	for _, t := range told {
		if i := slices.IndexFunc(rest, func(p langserver.Problem) bool { return p.Path == t.Path && p.Message == t.Message && p.Code == t.Code }); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	what := "Your edit of " + edits[0].Path
	if n := len(edits) - 1; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	kind := "new"
	if len(told) > 0 {
		kind = "more"
	}
	switch {
	case len(rest) > 0:
		found := dispatch.Checked{Total: len(rest), New: problemsOf(rest), By: check.By}
		return what + " brings " + found.Listed(kind)
	case promised && len(check.Unknown) > 0:
		return fmt.Sprintf("%s: what it breaks could not be found out (%v); build it, or ask get_diagnostics.", what, check.Unknown[0].Err)
	case promised:
		return fmt.Sprintf("%s brings no %s problems, says %s.", what, kind, strings.Join(check.By, ", "))
	}
	return ""
}

// maxNew bounds the problems that a result names.
const maxNew = 8

// problemsOf are the first problems of a list as results have them.
func problemsOf(list []langserver.Problem) (out []dispatch.Problem) {
	for _, p := range list[:min(len(list), maxNew)] {
		out = append(out, dispatch.Problem{Path: p.Path, Line: p.Line, Column: p.Column, Severity: string(p.Severity), Source: p.Source, Message: p.Message})
	}
	return out
}
