package pendingedits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// picked is what a person chose of one entry.
type picked struct {
	e   *entry
	r   *resolution
	ids idSet // of hunks
}

// pick finds what sel chooses, in the live text as it is now. Names that have
// no edit are failures; an unknown hunk or a stale revision is an error.
func (s *queue) pick(ctx context.Context, sel Selection) (picks []picked, failed []Failure, err error) {
	chosen := map[string]idSet{} // by name; nil is all
	for _, name := range sel.Names {
		e, err := s.find(name)
		if err != nil {
			failed = append(failed, Failure{name, err})
			continue
		}
		chosen[e.name] = nil
	}
	of := s.owningEntries(len(sel.Hunks))
	for _, id := range sel.Hunks {
		e := of[id]
		if e == nil {
			return nil, nil, gone(id)
		}
		ids, ok := chosen[e.name]
		if !ok {
			ids = idSet{}
			chosen[e.name] = ids
		}
		if ids != nil {
			ids[id] = true
		}
	}
	all := len(sel.Names) == 0 && len(sel.Hunks) == 0
	for _, e := range s.sorted() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		ids, ok := chosen[e.name]
		if !ok && !all {
			continue
		}
		p, err := s.pickOf(e, ids, sel)
		switch {
		case err == nil:
			picks = append(picks, p)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, err
		case !all:
			failed = append(failed, Failure{e.name, err})
		}
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

// pickOf picks of one entry the hunks with these ids, nil for all, as far as
// they are those of sel's session. It fails with fs.ErrNotExist when there is
// nothing to pick.
func (s *queue) pickOf(e *entry, ids idSet, sel Selection) (picked, error) {
	name := e.name
	e, r := s.look(e, true)
	if e == nil {
		return picked{}, missing(name)
	}
	if sel.Revision != 0 && r.edit.Revision > sel.Revision {
		return picked{}, fmt.Errorf("the edit of %s changed after revision %d; look at it again: %w", name, sel.Revision, workspace.ErrConflict)
	}
	p := picked{e: e, r: r, ids: idSet{}}
	found := 0
	for _, h := range r.edit.Hunks {
		if ids != nil && !ids[h.ID] {
			continue
		}
		found++
		switch {
		case sel.Session == "" || slices.Contains(h.Sessions, sel.Session):
			p.ids[h.ID] = true
		case ids != nil:
			return p, fmt.Errorf("hunk %s is not of session %s: %w", h.ID, sel.Session, fs.ErrNotExist)
		}
	}
	if found < len(ids) {
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			if !slices.ContainsFunc(r.edit.Hunks, func(h Hunk) bool { return h.ID == id }) {
				return p, gone(id)
			}
		}
	}
	if len(p.ids) == 0 {
		return p, fmt.Errorf("its edit is not of session %s: %w", sel.Session, fs.ErrNotExist)
	}
	return p, nil
}

func gone(id string) error {
	return fmt.Errorf("hunk %s is not pending any more; list the edits again: %w", id, workspace.ErrConflict)
}

// change returns what accepting p does to the base.
func (p picked) change() (workspace.Change, error) {
	e, r := p.e, p.r
	c := workspace.Change{Path: e.name, From: e.from, Before: r.live.data, BeforeLink: r.live.link}
	switch {
	case r.live.trouble != nil:
		return c, r.live.trouble
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
			c.Mode = r.live.stamp.mode // what it has again if this is undone
		}
		return c, nil
	}
	var chosen []hunk.Hunk
	for _, h := range r.placed.Ready {
		if p.ids.has(h) {
			chosen = append(chosen, h)
		}
	}
	open := len(p.ids) - len(chosen)
	if r.live.data != nil && e.modeID != "" && p.ids[e.modeID] {
		c.Mode = e.mode
		open--
	}
	if open > 0 {
		return c, fmt.Errorf("%d of %d hunks change lines that the user changed; accept the others one by one, or reject these: %w", open, len(p.ids), workspace.ErrConflict)
	}
	c.After = hunk.Apply(r.live.data, chosen)
	return c, nil
}

// left returns what of the entry e, which may have been replaced since p was
// picked, is left when p's hunks are gone, and whether that is less. They were
// applied to the base, or dropped.
func (p picked) left(e *entry, applied bool) (rest *entry, less bool) {
	switch {
	case e == nil || !slices.ContainsFunc(e.parts(), p.ids.has):
		return e, false
	case e.whole:
		return nil, true
	case applied:
		return e.without(p.ids.has, none), true
	}
	return e.without(none, p.ids.has), true
}

// maxPlaces bounds the places that an agent is told of.
const maxPlaces = 10

// say describes to a session what was chosen of its hunks: "your edit of a.go
// (line 3)", or "1 of 3 hunks in a.go (lines 10–14)".
func (p picked) say(session string) string {
	switch p.e.kind() {
	case "create":
		return "the new file " + p.e.name
	case "delete":
		return "the deletion of " + p.e.name
	case "rename":
		return fmt.Sprintf("the renaming of %s to %s", p.e.from, p.e.name)
	}
	own, chosen := 0, 0
	var places []string
	for _, h := range p.r.edit.Hunks {
		if !slices.Contains(h.Sessions, session) {
			continue
		}
		if own++; !p.ids[h.ID] {
			continue
		}
		if chosen++; chosen <= maxPlaces {
			places = append(places, h.lines())
		}
	}
	if chosen > maxPlaces {
		places = append(places, fmt.Sprintf("and %d more", chosen-maxPlaces))
	}
	text := "your edit of " + p.e.name
	if chosen < own {
		text = fmt.Sprintf("%d of %d hunks in %s", chosen, own, p.e.name)
	}
	if places = slices.DeleteFunc(places, func(s string) bool { return s == "" }); len(places) == 0 {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(places, ", "))
}

// lines says where a hunk is, or what it does where it is about no lines.
func (h Hunk) lines() string {
	if h.Says != "" || h.OldStart == 0 && h.NewStart == 0 {
		return h.Says
	}
	return lines(max(h.OldStart, 1), h.OldLines)
}

func lines(start, n int) string {
	if n < 2 {
		return fmt.Sprintf("line %d", start)
	}
	return fmt.Sprintf("lines %d–%d", start, start+n-1)
}

// rejected is what p would have changed.
func (p picked) rejected() decided {
	c, err := p.change()
	if err != nil {
		c = workspace.Change{Path: p.e.name, From: p.e.from}
	}
	return p.decided(c)
}

// decided is what p changes, and whose it was.
func (p picked) decided(c workspace.Change) decided {
	d := decided{Change: c, session: p.e.session, tool: p.e.tool}
	alone := []string{d.session}
	for _, h := range p.e.parts() {
		if !p.ids.has(h) || slices.Equal(h.By, alone) {
			continue
		}
		d.owners = p.owners()
		break
	}
	if all := d.sessions(); !slices.Contains(all, d.session) {
		d.session = all[0]
	}
	return d
}

// owners says which part of the live text is whose.
func (p picked) owners() (parts []hunk.Owned) {
	for i, h := range p.e.parts() {
		switch {
		case !p.ids.has(h):
		case p.e.whole, h.ID == p.e.modeID:
			parts = append(parts, hunk.Everywhere(h.By...)...)
		default:
			if p.e.modeID != "" {
				i--
			}
			start := p.r.placed.At[i].Start
			parts = append(parts, hunk.Owned{Start: start, End: start + len(h.Old), By: h.By})
		}
	}
	return parts
}
