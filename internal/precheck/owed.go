package precheck

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// maxOwed bounds the files of a session whose edits are looked at later.
const maxOwed = maxQueued

// owed is what a session is still to be told: what its edits of some files
// brought, as far as their results did not say it.
type owed struct {
	edits []workspace.Change // back to how the files were before the first of them
	dark  bool               // of one of them nothing was known
	told  []langserver.Problem
	last  int // counts the edits
	tries int
}

// owe notes what a check of a session's edit left open, and returns whether the
// session is told later.
func (k *Checker) owe(session string, changes []workspace.Change, check langserver.Check) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.owed[session]
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
	k.owed[session] = o
	k.QueueChanged()
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

// pay tells sessions what their edits brought. It reports whether nothing is
// owed any more that could be found out by trying again.
func (k *Checker) pay(ctx context.Context) bool {
	k.mu.Lock()
	sessions := slices.Sorted(maps.Keys(k.owed))
	k.mu.Unlock()
	if len(sessions) > 0 && k.refused() {
		k.mu.Lock()
		clear(k.owed) // no server may look
		k.mu.Unlock()
		return true
	}
	all := true
	for _, id := range sessions {
		k.mu.Lock()
		o := k.owed[id]
		edits, told, dark, last := o.edits, o.told, o.dark, o.last
		k.mu.Unlock()
		base, files := k.views()
		before := workspace.Undone(files, edits)
		if taken(files, edits) {
			k.settle(id, o, last)
			continue
		}
		check, ok := k.lookAll(ctx, base, before, files, namesIn(edits))
		if !ok || len(check.Unknown) > 0 && k.again(o) || !k.settle(id, o, last) {
			all = false
			continue
		}
		if text := late(edits, check, told, dark); text != "" {
			if s, err := k.o.Sessions.Get(id); err == nil {
				s.Tell(k.o.Hide.Text(text))
			}
		}
	}
	return all
}

// again counts tries, and reports whether another one is due.
func (k *Checker) again(o *owed) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	o.tries++
	return o.tries <= maxTries
}

// settle ends a debt, unless the session has edited meanwhile.
func (k *Checker) settle(id string, o *owed, last int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.owed[id] != o || o.last != last {
		return false
	}
	delete(k.owed, id)
	return true
}

// taken reports whether the files are as before the edits: they were taken back.
func taken(files workspace.Files, edits []workspace.Change) bool {
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
