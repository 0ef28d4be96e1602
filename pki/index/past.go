package index

import (
	"fmt"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
)

// past is what is known of the project's commits, read in the background once
// the files are, and again when questions come.
type past struct {
	known atomic.Pointer[history.History]
	wake  chan struct{} // has room for one
}

// remember keeps the history up to date until the index is closed.
func (x *Index) remember() {
	select {
	case <-x.Ready():
	case <-x.ctx.Done():
	}
	for x.ctx.Err() == nil {
		commits, news, more, err := x.o.History(x.ctx)
		if x.ctx.Err() != nil {
			return
		}
		if err != nil {
			x.problem(fmt.Errorf("not all of the project's commits are known: %w", err))
		}
		if news {
			x.past.known.Store(history.Of(commits))
			x.mu.Lock()
			x.status.Commits = len(commits)
			x.notify(true)
			x.mu.Unlock()
		}
		if more {
			continue
		}
		select {
		case <-x.past.wake:
		case <-x.ctx.Done():
		}
	}
}

// recall asks for another look at the commits.
func (x *Index) recall() {
	select {
	case x.past.wake <- struct{}{}:
	default:
	}
}
