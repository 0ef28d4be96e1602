package pendingedits

import (
	"context"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// intent is a decision that changes the base: edits are accepted, or that is taken back or
// made again. Its record is written before the files change, as if all went well, so that a
// crash on the way leaves a queue that goes with the files; and after, as it went.
type intent struct {
	op      string // of its records, at the points where a process may die
	batch   bool   // all or nothing
	session string // whose batch it is
	steps   []step
	item    *undoItem // what is taken back, or made again; nil: edits are accepted
}

// step is what an intent does to one file.
type step struct {
	name   string  // of the file, as people know it
	change decided // of the base
	idle   bool    // the base has it already
	err    error   // why it can't be made, or was not

	picked picked   // what is accepted
	back   backward // what is taken back, or made again
}

// accept adds what was picked of an entry.
func (in *intent) accept(p picked) {
	c, err := p.change()
	in.steps = append(in.steps, step{name: p.e.name, change: p.decided(c), err: err, picked: p})
}

// carryOut makes the changes of an intent, with no lock held: all together, or, when that
// fails, one by one unless they are a batch. A step that is not made gets the reason; whole is
// the format of that where another file of the batch is in the way. An error says that nothing was
// done.
func (s *guarded) carryOut(ctx context.Context, in *intent, whole string) error {
	changes := in.planned(whole)
	if len(in.steps) > 0 && !slices.ContainsFunc(in.steps, step.ok) {
		return nil
	}
	if err := ctx.Err(); err != nil || len(in.steps) == 0 {
		return err // from here on it is made as a whole
	}
	if len(changes) == 0 {
		return s.write(in.op, func() (record, error) { return in.record(&s.queue) })
	}
	var plan record
	var revision int64 // of the plan
	err := s.write(in.op+".intent", func() (r record, err error) {
		plan, err = in.record(&s.queue)
		r, revision = plan, s.revision+1
		r.intent = true
		return r, err
	})
	if err != nil {
		return err
	}
	err = s.opts.Fail(in.op + ".apply")
	if err == nil {
		err = s.base.Apply(ctx, changes...)
	}
	for i := range in.steps {
		st := &in.steps[i]
		switch {
		case err == nil, st.idle, st.err != nil:
		case in.batch && isMade(s.base, st.change): // it failed, but not here
		case !in.batch && len(changes) > 1 && ctx.Err() == nil:
			st.err = s.base.Apply(ctx, st.change.Change)
		default:
			st.err = err
		}
	}
	all := err == nil
	err = s.opts.Fail(in.op + ".applied")
	if err == nil {
		err = s.write(in.op, func() (r record, err error) {
			if r = plan; !all || s.revision != revision {
				r, err = in.record(&s.queue)
			}
			r.ends = true
			return r, err
		})
	}
	if err != nil {
		// It is done all the same; the live text shows it.
		s.opts.Observer.Report(fmt.Sprintf("the files are changed, but that could not be written down, so it may not be possible to undo it: %v", err))
	}
	return nil
}

// planned returns the changes that can be made, and puts the steps that can't be first.
func (in *intent) planned(whole string) (changes []workspace.Change) {
	stuck := func(st step) bool { return !st.ok() }
	in.steps = slices.Concat(slices.DeleteFunc(slices.Clone(in.steps), step.ok), slices.DeleteFunc(slices.Clone(in.steps), stuck))
	for i := range in.steps {
		st := &in.steps[i]
		if first := in.steps[0]; in.batch && st.err == nil && first.err != nil {
			st.err = fmt.Errorf(whole, first.name, first.err)
		}
		if st.err == nil && !st.idle {
			changes = append(changes, st.change.Change)
		}
	}
	return changes
}

func (st step) ok() bool { return st.err == nil }

// record says what the steps come to that have no error.
func (in *intent) record(q *queue) (record, error) {
	if in.item != nil {
		return in.turned(q)
	}
	var r record
	item := undoItem{batch: in.batch}
	for _, st := range in.steps {
		if st.err != nil {
			continue
		}
		item.changes = append(item.changes, st.change)
		rest, less := st.picked.left(q.entries[st.name], true)
		switch {
		case less && rest == nil:
			r.drops = append(r.drops, st.name)
		case less:
			r.puts = append(r.puts, rest)
		}
	}
	if item.changes != nil {
		r.undo = []undoItem{item}
	}
	r.commits = q.landed(in.session, item.changes, false)
	return r, nil
}

// turned is record for what is taken back, or made again.
func (in *intent) turned(q *queue) (record, error) {
	stay, again := *in.item, *in.item
	again.undone, again.redone, again.turn = !stay.undone, stay.undone, 0
	stay.changes, again.changes = nil, nil
	var done []backward
	for _, st := range in.steps {
		switch {
		case st.err != nil:
			stay.changes = append(stay.changes, st.back.of)
			continue
		case !st.idle:
			again.changes = append(again.changes, st.change)
		}
		done = append(done, st.back)
	}
	if done == nil {
		return record{}, nil
	}
	r := record{quiet: true}
	var err error
	if !stay.applied {
		r, err = q.pendingAgain(done, stay.undone)
		r.commits = q.landed(in.session, again.changes, again.undone)
	}
	r.gone = []int64{stay.id}
	if stay.changes != nil && again.changes != nil {
		again.id = 0 // they are two from now on
	}
	for _, u := range []undoItem{stay, again} {
		if u.changes != nil {
			slices.Reverse(u.changes)
			r.undo = append(r.undo, u)
		}
	}
	return r, err
}

// outcome is what became of an intent, for people and agents.
type outcome struct {
	names  []string // of the files that are as it wants, sorted
	failed []Failure
	made   []Decided
	notes  []note
}

// outcome says what was done; say is the sentence about a step for a session.
func (in *intent) outcome(say func(st step, session string) string) (o outcome) {
	for _, st := range in.steps {
		if st.err != nil {
			o.failed = append(o.failed, Failure{st.name, st.err})
			continue
		}
		o.names = append(o.names, st.name)
		if !st.idle {
			o.made = append(o.made, st.change.told()...)
		}
		for _, session := range st.change.sessions() {
			o.notes = append(o.notes, note{session, say(st, session)})
		}
	}
	slices.Sort(o.names)
	return o
}
