package pendingedits

import (
	"context"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// change makes changes to the base, with no lock held: all together, or, when
// that fails, one by one unless they are a batch; it returns an error or nil
// for each. What it comes to is the record of outcome, which gets these errors,
// or nil before they are known: that is written down first, as an intent, so
// that a crash on the way leaves a queue that goes with the files. The error
// says that nothing was done.
func (s *Store) change(ctx context.Context, op string, changes []decided, batch bool, outcome func(failed []error) (record, error)) ([]error, error) {
	if err := ctx.Err(); err != nil || len(changes) == 0 {
		return nil, err // from here on it is made as a whole
	}
	if err := s.write(op+".intent", outcome, nil, func(r *record) { r.intent = true }); err != nil {
		return nil, err
	}
	errs := make([]error, len(changes))
	err := s.opts.Fail(op + ".apply")
	if err == nil {
		err = s.base.Apply(ctx, plain(changes)...)
	}
	for i, c := range changes {
		errs[i] = err
		switch {
		case err == nil:
		case batch && s.has(c):
			errs[i] = nil // it failed, but not here: what is told is what is there
		case !batch && len(changes) > 1 && ctx.Err() == nil:
			errs[i] = s.base.Apply(ctx, c.Change)
		}
	}
	err = s.opts.Fail(op + ".applied")
	if err == nil {
		err = s.write(op, outcome, errs, func(r *record) { r.ends = true })
	}
	if err != nil {
		// It is done all the same; the live text shows it.
		s.opts.Observer.Report(fmt.Sprintf("the files are changed, but that could not be written down, so it may not be possible to undo it: %v", err))
	}
	return errs, nil
}

func plain(changes []decided) []workspace.Change {
	out := make([]workspace.Change, len(changes))
	for i, c := range changes {
		out[i] = c.Change
	}
	return out
}

// has reports whether the base has what c makes of its file.
func (s *Store) has(c decided) bool {
	if c.Link() {
		now, err := s.readNode(c.Path)
		return err == nil && now.is(c.After, c.AfterLink)
	}
	now, err := s.readBeside(c.Path, oneOf(c.Path, c.From))
	if err != nil || !same(now, c.After) {
		return false
	}
	if c.changesMode() && workspace.IsExec(s.mode(c.Path)) != workspace.IsExec(c.Mode) {
		return false
	}
	if c.From == "" {
		return true
	}
	old, err := s.readBeside(c.From, oneOf(c.Path, c.From))
	return err == nil && old == nil
}

// hold makes agents that propose wait until release: between what a person
// chose and the files that have it, nothing may be proposed.
func (s *Store) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holding()
}

// holding is hold with s.mu held.
func (s *Store) holding() (release func()) {
	over := make(chan struct{})
	s.busy = over
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
// that it was interrupted in: those that were made are taken down.
//
// A batch of which some files have it is finished. One of which none has it may
// still be in the documents of an editor that has not opened them yet, because
// they are changed before the files: that stays in doubt until BaseChanged
// tells of one, or, with give up set, was not made.
func (s *Store) finishIntent(ctx context.Context, giveUp bool) error {
	if s.intent == nil {
		return nil
	}
	var item undoItem
	n := len(s.intent.undo)
	if n > 0 {
		item = s.intent.undo[n-1]
	}
	made := slices.DeleteFunc(slices.Clone(item.changes), func(d decided) bool { return !s.has(d) })
	if item.batch && len(made) < len(item.changes) {
		doubt := len(made) == 0 && !giveUp
		s.mu.Lock()
		s.doubt = doubt
		s.mu.Unlock()
		if doubt {
			return nil
		}
		if len(made) > 0 {
			made = s.goOn(ctx, item.changes)
		}
	}
	seq, err := s.endIntent(item, made)
	if err != nil {
		return err
	}
	return s.log.sync("finish", seq)
}

// goOn makes what is missing of a batch that was interrupted, and returns what
// is there then. It is not made where the file is not as it was.
func (s *Store) goOn(ctx context.Context, changes []decided) (made []decided) {
	missing := slices.DeleteFunc(slices.Clone(changes), s.has)
	err := s.opts.Fail("finish.apply")
	if err == nil {
		err = s.base.Apply(ctx, plain(missing)...)
	}
	if err != nil {
		s.opts.Observer.Report(fmt.Sprintf("accepting a batch was interrupted, and it could not be finished; what is missing is pending: %v", err))
	}
	return slices.DeleteFunc(slices.Clone(changes), func(d decided) bool { return !s.has(d) })
}

// endIntent writes down that of the intent, whose undo item is item, these
// changes were made.
func (s *Store) endIntent(item undoItem, made []decided) (seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubt = false
	r := record{ends: true}
	names := map[string]bool{}
	for _, d := range made {
		names[d.Path], names[d.From] = true, true
	}
	if len(made) > 0 {
		item.changes = made
		r.undone, r.gone = s.intent.undone, s.intent.gone
		r.undo = append(slices.Clone(s.intent.undo[:len(s.intent.undo)-1]), item)
		if !item.applied {
			r.commits = s.landed(item.of(), made, item.undone)
		}
	}
	// What an agent proposed meanwhile stands.
	current := func(name string) bool {
		e := s.entries[name]
		return names[name] && (e == nil || e.revision < s.intent.revision)
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
	return s.commit("finish", r)
}

// resume looks again whether an interrupted batch was begun.
func (s *Store) resume() {
	if !s.inDoubt() {
		return
	}
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	if !s.inDoubt() {
		return
	}
	defer s.hold()()
	if err := s.finishIntent(context.Background(), false); err != nil {
		s.opts.Observer.Report(fmt.Sprintf("accepting a batch was interrupted, and it could not be finished: %v", err))
	}
}

// endDoubt decides about an interrupted batch before a person decides again.
func (s *Store) endDoubt(ctx context.Context) error {
	if !s.inDoubt() {
		return nil
	}
	defer s.hold()()
	return s.finishIntent(ctx, true)
}

func (s *Store) inDoubt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt && !s.closed
}
