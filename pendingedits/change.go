package pendingedits

import (
	"context"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// change makes changes to the base, with no lock held: all together, or, when
// that fails, one by one; it returns an error or nil for each. What it comes
// to is the record of outcome, which gets these errors, or nil before they are
// known: that is written down first, as an intent, so that a crash on the way
// leaves a queue that goes with the files. The error says that nothing was done.
func (s *Store) change(ctx context.Context, op string, changes []decided, outcome func(failed []error) (record, error)) ([]error, error) {
	if len(changes) == 0 {
		return nil, ctx.Err()
	}
	if err := s.write(op+".intent", outcome, nil, func(r *record) { r.intent = true }); err != nil {
		return nil, err
	}
	errs := make([]error, len(changes))
	plain := make([]workspace.Change, len(changes))
	for i, c := range changes {
		plain[i] = c.Change
	}
	err := s.opts.Fail(op + ".apply")
	if err == nil {
		err = s.base.Apply(ctx, plain...)
	}
	for i, c := range plain {
		errs[i] = err
		if err != nil && len(plain) > 1 && ctx.Err() == nil {
			errs[i] = s.base.Apply(ctx, c)
		}
	}
	err = s.opts.Fail(op + ".applied")
	if err == nil {
		err = s.write(op, outcome, errs, func(r *record) { r.ends = true })
	}
	if err != nil && s.opts.Report != nil {
		// It is done all the same; the live text shows it.
		s.opts.Report(fmt.Sprintf("the files are changed, but that could not be written down, so it may not be possible to undo it: %v", err))
	}
	return errs, nil
}

// hold makes agents that propose wait until release: between what a person
// chose and the files that have it, nothing may be proposed.
func (s *Store) hold() (release func()) {
	over := make(chan struct{})
	s.mu.Lock()
	s.busy = over
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		s.busy = nil
		s.mu.Unlock()
		close(over)
	}
}

// write makes the outcome durable.
func (s *Store) write(op string, outcome func([]error) (record, error), failed []error, mark func(*record)) error {
	s.mu.Lock()
	r, err := outcome(failed)
	var seq int64
	if err == nil {
		mark(&r)
		seq, err = s.commit(op, r)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.log.sync(op, seq)
}

// finishIntent is what a store that is opened does about changes to the base
// that it was interrupted in: those that were made are taken down. s is not
// shared yet.
func (s *Store) finishIntent() error {
	if s.intent == nil {
		return nil
	}
	r := record{ends: true}
	made := map[string]bool{}
	if n := len(s.intent.undo); n > 0 {
		item := undoItem{undone: s.intent.undo[n-1].undone}
		for _, d := range s.intent.undo[n-1].changes {
			now, err := s.read(d.Path)
			if err != nil || !same(now, d.After) {
				continue
			}
			if old, err := s.read(d.From); d.From != "" && (err != nil || old != nil) {
				continue
			}
			item.changes = append(item.changes, d)
			made[d.Path], made[d.From] = true, true
		}
		if item.changes != nil {
			r.undone, r.undo = s.intent.undone, append(slices.Clone(s.intent.undo[:n-1]), item)
		}
	}
	// What an agent proposed meanwhile stands.
	current := func(name string) bool {
		e := s.entries[name]
		return made[name] && (e == nil || e.revision < s.intent.revision)
	}
	for _, e := range s.intent.puts {
		if current(e.name) {
			r.puts = append(r.puts, e)
		}
	}
	for _, name := range s.intent.drops {
		if current(name) {
			r.drops = append(r.drops, name)
		}
	}
	seq, err := s.commit("finish", r)
	if err != nil {
		return err
	}
	return s.log.sync("finish", seq)
}
