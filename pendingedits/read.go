package pendingedits

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// List returns what is pending, of one session or, for "", of all. Of a file
// that several sessions have edited, a session has its own hunks.
func (s *Store) List(session string) List {
	_ = s.own(context.Background(), false) // Locked says it
	s.mu.Lock()
	defer s.mu.Unlock()
	var edits []Edit
	for _, e := range s.sorted() {
		if e, r := s.look(e, false); e != nil {
			if edit, ok := r.edit.of(session); ok {
				edits = append(edits, edit)
			}
		}
	}
	list := List{Revision: s.revision, Edits: edits}
	for _, q := range s.chosenCommits(Selection{Session: session}) {
		c := q.describe()
		c.Differs = s.differs(q)
		list.Commits = append(list.Commits, c)
	}
	return list
}

// Edit returns what is pending for a file, by its new or its old name, and the
// queue's revision.
func (s *guarded) Edit(name string) (edit Edit, revision int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	if err != nil {
		return Edit{}, s.revision, false
	}
	e, r := s.look(e, false)
	if e == nil {
		return Edit{}, s.revision, false
	}
	return r.edit, s.revision, true
}

// of is the part of an edit that is a session's; "" means all.
func (e Edit) of(session string) (Edit, bool) {
	if session == "" {
		return e, true
	}
	theirs := func(h Hunk) bool { return !slices.Contains(h.Sessions, session) }
	if !slices.ContainsFunc(e.Hunks, theirs) {
		return e, true
	}
	e.Hunks = slices.DeleteFunc(slices.Clone(e.Hunks), theirs)
	e.Added, e.Removed, e.State = 0, 0, Clean
	for _, h := range e.Hunks {
		e.Added, e.Removed = e.Added+h.NewLines, e.Removed+h.OldLines
		if h.State == Conflict || e.State == Clean {
			e.State = h.State
		}
	}
	return e, len(e.Hunks) > 0
}

// Diff returns a patch, in git's format, of what would be accepted for one
// file or, for "", for all. Conflicts stand in it as comments. It fails with
// fs.ErrNotExist when nothing is pending for the file.
func (s *Store) Diff(name string) (string, error) {
	_ = s.own(context.Background(), false) // Locked says it
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := s.sorted()
	if name != "" {
		e, err := s.find(name)
		if err != nil {
			return "", err
		}
		entries = []*entry{e}
	}
	var b strings.Builder
	for _, e := range entries {
		e, r := s.look(e, false)
		if e == nil {
			continue
		}
		describeConflicts(&b, &r.edit)
		if r.offered {
			b.WriteString(patch(e, r))
		}
	}
	return b.String(), nil
}

// describeConflicts writes the hunks that can't be in a patch as comments: git
// passes over lines before a patch.
func describeConflicts(b *strings.Builder, e *Edit) {
	for _, h := range e.Hunks {
		if h.State != Conflict {
			continue
		}
		fmt.Fprintf(b, "# %s: %s is in conflict with the text at line %d; it proposes\n", e.Name, h.ID, max(h.OldStart, 1))
		for line := range strings.Lines(h.Text) {
			fmt.Fprintf(b, "# %s\n", strings.TrimRight(line, "\r\n"))
		}
	}
}

// Text returns one side of what a diff editor shows. A side without a file,
// such as the base of a created one, is empty. It fails with fs.ErrNotExist
// when nothing is pending for the file.
func (s *Store) Text(name string, side Side) (string, error) {
	_ = s.own(context.Background(), false) // Locked says it
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	if err != nil {
		return "", err
	}
	e, r := s.look(e, false)
	switch {
	case e == nil:
		return "", missing(name)
	case side == Base:
		return string(r.live.data), r.live.trouble
	case side == Proposed && e.whole && !r.shown:
		return string(e.after), nil // what the conflict is about
	case side == Proposed:
		return string(r.text), nil
	case side == Taken:
		return string(r.withTaken(e)), nil
	}
	return "", fmt.Errorf("side is %q, want %q or %q", side, Base, Proposed)
}

// find returns the entry of a file by its new or its old name, or through a
// link.
func (s *queue) find(name string) (*entry, error) {
	e := cmp.Or(s.entries[name], s.from[name])
	if e == nil && len(s.entries) > 0 {
		if real, err := s.real(name); err == nil {
			e = cmp.Or(s.entries[real], s.from[real])
		}
	}
	if e == nil {
		return nil, missing(name)
	}
	return e, nil
}

func missing(name string) error {
	return &fs.PathError{Op: "review", Path: name, Err: errNoEdit{}}
}

// errNoEdit is an fs.ErrNotExist: not of a file, but of an edit of it.
type errNoEdit struct{}

func (errNoEdit) Error() string        { return "no edit is pending for it" }
func (errNoEdit) Is(target error) bool { return target == fs.ErrNotExist }
