package pendingedits

import (
	"fmt"
	"slices"
)

// PartError says that a selection has a part of a batch, which is accepted as a
// whole or not at all.
type PartError struct {
	Hunk  bool // it is a hunk, else a file
	Index int  // among the hunks, or the names, of the selection
}

func (e *PartError) Error() string {
	what := "file"
	if e.Hunk {
		what = "hunk"
	}
	return fmt.Sprintf("%s %d is a part of a batch: %v", what, e.Index+1, ErrBatch)
}

// Unwrap is ErrBatch.
func (e *PartError) Unwrap() error { return ErrBatch }

// CheckParts fails with a PartError for a selection of a part of a batch. In a
// mode of batches (batches is true) so does any part that is not known to be of
// something else: it may become one.
func (s *Store) CheckParts(sel Selection, batches bool) error {
	names, hunks := map[string]bool{}, map[string]bool{} // whether each is of a batch
	for _, e := range s.List("").Edits {
		names[e.Name] = e.Batch
		if e.From != "" {
			names[e.From] = e.Batch
		}
		for _, h := range e.Hunks {
			hunks[h.ID] = e.Batch
		}
	}
	refused := func(known map[string]bool, key string) bool {
		batch, ok := known[key]
		return batch || !ok && batches
	}
	for i, name := range sel.Names {
		if refused(names, name) {
			return &PartError{Index: i}
		}
	}
	for i, id := range sel.Hunks {
		if refused(hunks, id) {
			return &PartError{Hunk: true, Index: i}
		}
	}
	return nil
}

// Refused says of each file of a selection that it was left as it was, and why.
func (s *Store) Refused(sel Selection, err error) AcceptResult {
	list := s.List(sel.Session)
	r := AcceptResult{Revision: list.Revision}
	all := len(sel.Names) == 0 && len(sel.Hunks) == 0
	for _, e := range list.Edits {
		chosen := all || slices.Contains(sel.Names, e.Name) ||
			slices.ContainsFunc(e.Hunks, func(h Hunk) bool { return slices.Contains(sel.Hunks, h.ID) })
		if chosen {
			r.Failed = append(r.Failed, Failure{Name: e.Name, Err: err})
		}
	}
	return r
}
