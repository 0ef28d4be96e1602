package pendingedits

import (
	"context"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// finishIntent is what a store that is opened does about changes to the base
// that it was interrupted in: those that were made are taken down.
//
// A batch of which some files have it is finished. One of which none has it may
// still be in the documents of an editor that has not opened them yet, because
// they are changed before the files: that stays in doubt until BaseChanged
// tells of one, or, with give up set, was not made.
func (s *guarded) finishIntent(ctx context.Context, giveUp bool) error {
	if s.intent == nil {
		return nil
	}
	var item undoItem
	n := len(s.intent.undo)
	if n > 0 {
		item = s.intent.undo[n-1]
	}
	made, missing := divide(s.base, item.changes)
	if item.batch && len(missing) > 0 {
		doubt := len(made) == 0 && !giveUp
		s.mu.Lock()
		s.doubt = doubt
		s.mu.Unlock()
		if doubt {
			return nil
		}
		if len(made) > 0 {
			// What is missing is not made where the file is not as it was.
			err := s.opts.Fail("finish.apply")
			if err == nil {
				err = s.base.Apply(ctx, missing...)
			}
			if err != nil {
				s.opts.Observer.Report(fmt.Sprintf("accepting a batch was interrupted, and it could not be finished; what is missing is pending: %v", err))
			}
			made, _ = divide(s.base, item.changes)
		}
	}
	return s.write("finish", func() (record, error) {
		s.doubt = false
		return s.intentEnd(item, made), nil
	})
}

// divide tells the changes that the base has from those that it has not.
func divide(base workspace.View, changes []decided) (made []decided, missing []workspace.Change) {
	for _, d := range changes {
		if isMade(base, d) {
			made = append(made, d)
		} else {
			missing = append(missing, d.Change)
		}
	}
	return made, missing
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

func (s *guarded) inDoubt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt && !s.closed
}
