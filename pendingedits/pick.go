package pendingedits

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/diff"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// picked is what a person chose of one entry.
type picked struct {
	e   *entry
	r   *resolution
	ids []string // of hunks
}

// pick finds what sel chooses, in the live text as it is now. Names that have
// no edit are failures; an unknown hunk or a stale revision is an error. s.mu
// is held.
func (s *Store) pick(sel Selection) (picks []picked, failed []Failure, err error) {
	ids := map[string][]string{} // by name; nil is all
	for _, name := range sel.Names {
		e, err := s.find(name)
		if err != nil {
			failed = append(failed, Failure{name, err})
			continue
		}
		ids[e.name] = nil
	}
	for _, id := range sel.Hunks {
		e := s.owner(id)
		if e == nil {
			return nil, nil, gone(id)
		}
		if chosen, ok := ids[e.name]; !ok || chosen != nil {
			ids[e.name] = append(chosen, id)
		}
	}
	all := len(sel.Names) == 0 && len(sel.Hunks) == 0
	for _, e := range s.sorted() {
		name := e.name
		chosen, ok := ids[name]
		if !ok && !all {
			continue
		}
		if sel.Session != "" && e.session != sel.Session {
			if !all {
				failed = append(failed, Failure{name, fmt.Errorf("its edit is not of session %s: %w", sel.Session, fs.ErrNotExist)})
			}
			continue
		}
		e, r := s.resolve(e, true)
		if e == nil {
			if !all {
				failed = append(failed, Failure{name, missing(name)})
			}
			continue
		}
		if sel.Revision != 0 && r.edit.Revision > sel.Revision {
			return nil, nil, fmt.Errorf("the edit of %s changed after revision %d; look at it again: %w", name, sel.Revision, workspace.ErrConflict)
		}
		p := picked{e: e, r: r}
		for _, h := range r.edit.Hunks {
			if chosen == nil || slices.Contains(chosen, h.ID) {
				p.ids = append(p.ids, h.ID)
			}
		}
		for _, id := range chosen {
			if !slices.Contains(p.ids, id) {
				return nil, nil, gone(id)
			}
		}
		picks = append(picks, p)
	}
	for _, q := range s.chosenCommits(sel) {
		if sel.Revision != 0 && q.revision > sel.Revision {
			return nil, nil, fmt.Errorf("the commit %q was queued after revision %d; look at it again: %w", q.message, sel.Revision, workspace.ErrConflict)
		}
	}
	if sel.Revision > s.revision {
		return nil, nil, fmt.Errorf("revision %d is not of this queue, which is at %d; list the edits again: %w", sel.Revision, s.revision, workspace.ErrConflict)
	}
	return picks, failed, nil
}

// owner returns the entry that has the hunk, or nil.
func (s *Store) owner(id string) *entry {
	for _, e := range s.entries {
		if slices.ContainsFunc(e.parts(), func(h hunk) bool { return h.id == id }) {
			return e
		}
	}
	return nil
}

func gone(id string) error {
	return fmt.Errorf("hunk %s is not pending any more; list the edits again: %w", id, workspace.ErrConflict)
}

// change returns what accepting p does to the base.
func (p picked) change() (workspace.Change, error) {
	e, r := p.e, p.r
	c := workspace.Change{Path: e.name, From: e.from, Before: r.live, BeforeLink: r.liveLink}
	switch {
	case r.trouble != nil:
		return c, r.trouble
	case e.whole && r.state == Conflict:
		return c, fmt.Errorf("the user changed the file since the edit was proposed: %w", workspace.ErrConflict)
	case e.isLink():
		c.After, c.AfterLink, c.Mode = e.after, e.afterLink, e.mode
		return c, nil
	case e.whole:
		c.After = r.text
		switch {
		case c.Before == nil || e.changesMode(r):
			c.Mode = e.mode
		case c.After == nil:
			c.Mode = r.liveMode // what it has again if this is undone
		}
		return c, nil
	}
	var chosen []hunk
	for _, h := range r.ready {
		if slices.Contains(p.ids, h.id) {
			chosen = append(chosen, h)
		}
	}
	open := len(p.ids) - len(chosen)
	if r.live != nil && e.modeID != "" && slices.Contains(p.ids, e.modeID) {
		c.Mode = e.mode
		open--
	}
	if open > 0 {
		return c, fmt.Errorf("%d of %d hunks change lines that the user changed; accept the others one by one, or reject these: %w", open, len(p.ids), workspace.ErrConflict)
	}
	c.After = join(apply(diff.SplitLines(string(r.live)), chosen))
	return c, nil
}

// left returns what of the entry e, which may have been replaced since p was
// picked, is left when p's hunks are gone, and whether that is less. They were
// applied to the base, or dropped.
func (p picked) left(e *entry, applied bool) (rest *entry, less bool) {
	chosen := hasID(p.ids)
	switch {
	case e == nil || !slices.ContainsFunc(e.parts(), chosen):
		return e, false
	case e.whole:
		return nil, true
	case applied:
		return e.without(chosen, none), true
	}
	return e.without(none, chosen), true
}

// say describes p for the agent: "your edit of a.go", or "1 of 3 hunks in a.go
// (lines 10–14)".
func (p picked) say() string {
	if len(p.ids) < len(p.r.edit.Hunks) {
		text := fmt.Sprintf("%d of %d hunks in %s", len(p.ids), len(p.r.edit.Hunks), p.e.name)
		var places []string
		for _, h := range p.r.edit.Hunks {
			if slices.Contains(p.ids, h.ID) {
				places = append(places, lines(h.OldStart, h.OldLines))
			}
		}
		return fmt.Sprintf("%s (%s)", text, strings.Join(places, ", "))
	}
	switch p.e.kind() {
	case "create":
		return "the new file " + p.e.name
	case "delete":
		return "the deletion of " + p.e.name
	case "rename":
		return fmt.Sprintf("the renaming of %s to %s", p.e.from, p.e.name)
	}
	return "your edit of " + p.e.name
}

func lines(start, n int) string {
	if n < 2 {
		return fmt.Sprintf("line %d", start)
	}
	return fmt.Sprintf("lines %d–%d", start, start+n-1)
}
