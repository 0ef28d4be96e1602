package dispatch

import (
	"context"
	"maps"
	"sync"
)

// sequence keeps edits of the same file in the order in which they came, and
// lets edits of different files run side by side, also while one of them
// waits for a person.
//
// An edit's files are known only once its tool has run. So an edit enters
// (which fixes its place), runs, and claims the paths that it found; it may go
// on when no earlier edit could still change one of them. What it read before
// that may be stale, so it runs again if it had to wait.
type sequence struct {
	mu      sync.Mutex
	waiting []*turn // in order of entry
}

type turn struct {
	paths map[string]bool // nil until they are known: then it may be any file
	known chan struct{}   // closed when paths is set
	done  chan struct{}   // closed by leave
	past  map[string]bool // paths of earlier turns that left since t's last claim
}

func (s *sequence) enter() *turn {
	t := &turn{known: make(chan struct{}), done: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	return t
}

func (s *sequence) leave(t *turn) {
	s.mu.Lock()
	for i, w := range s.waiting {
		if w == t {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			for _, later := range s.waiting[i:] {
				if later.past == nil {
					later.past = map[string]bool{}
				}
				maps.Copy(later.past, t.paths)
			}
			break
		}
	}
	if t.paths == nil {
		close(t.known) // nobody waits for what will never be known
	}
	s.mu.Unlock()
	close(t.done)
}

// claim says which files t changes (none known yet: nil) and waits until no
// earlier turn can change one of them. It reports whether one may have done so
// since t entered or claimed: what t read is stale then.
func (s *sequence) claim(ctx context.Context, t *turn, paths []string) (stale bool, err error) {
	set := make(map[string]bool, len(paths))
	for _, p := range paths {
		set[p] = true
	}
	s.mu.Lock()
	if paths != nil {
		if t.paths == nil {
			close(t.known)
		}
		t.paths = set
	}
	s.mu.Unlock()
	waited := false
	for {
		until := s.ahead(t, set)
		if until == nil {
			return s.stale(t, set) || waited, nil
		}
		waited = true
		select {
		case <-until:
		case <-ctx.Done():
			return waited, ctx.Err()
		}
	}
}

// stale reports whether an earlier turn that has left meanwhile changed one of
// paths, or anything when there are none, and forgets about it.
func (s *sequence) stale(t *turn, paths map[string]bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	past := t.past
	t.past = nil
	if len(paths) == 0 {
		return len(past) > 0
	}
	for p := range paths {
		if past[p] {
			return true
		}
	}
	return false
}

// ahead is closed when it is worth looking again whether an earlier turn
// stands in the way of t; nil means that none does.
func (s *sequence) ahead(t *turn, paths map[string]bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		if w == t {
			return nil
		}
		if len(paths) == 0 {
			return w.done
		}
		if w.paths == nil {
			return w.known
		}
		for p := range paths {
			if w.paths[p] {
				return w.done
			}
		}
	}
	return nil
}
