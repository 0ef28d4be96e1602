package inventory

import (
	"context"
	"runtime"
	"sync"
)

// walk is one look at a tree: a stack of directories that its workers share.
type walk struct {
	tree *Tree
	ctx  context.Context //nolint:containedctx // it lives as long as the call

	mu    sync.Mutex
	more  sync.Cond // there is work, or none is left
	stack []visit
	busy  int // workers that may add work
	items []Item
	err   error
}

// share is how many directories a worker keeps for itself: with fewer the
// stack's lock would cost more than they do.
const share = 64

// run looks at all directories.
func (w *walk) run() error {
	defer context.AfterFunc(w.ctx, func() { w.fail(w.ctx.Err()) })()
	n := max(2, runtime.GOMAXPROCS(0))
	w.busy = n
	var all sync.WaitGroup
	for range n {
		all.Go(w.work)
	}
	all.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	return w.err
}

// fail ends the walk. The first error is kept.
func (w *walk) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.stack = nil
	w.more.Broadcast()
}

// work is one worker.
func (w *walk) work() {
	var mine []visit
	var items []Item
	for {
		if len(mine) == 0 {
			if mine = w.add(items); mine == nil {
				return
			}
			items = nil
		}
		v := mine[len(mine)-1]
		mine = mine[:len(mine)-1]
		here, below, err := w.scan(v)
		if err != nil {
			w.fail(err)
			return
		}
		items, mine = append(items, here...), append(mine, below...)
		if len(mine) > 2*share {
			mine = w.give(mine)
		}
	}
}

// add hands in what was found and waits for work; nil is the end of it.
func (w *walk) add(items []Item) []visit {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.items = append(w.items, items...)
	w.busy--
	for len(w.stack) == 0 {
		if w.busy == 0 || w.err != nil {
			w.more.Broadcast()
			return nil
		}
		w.more.Wait()
	}
	if w.err != nil {
		return nil
	}
	w.busy++
	n := len(w.stack) - min(share, (len(w.stack)+1)/2)
	got := append([]visit(nil), w.stack[n:]...)
	w.stack = w.stack[:n]
	return got
}

// give leaves half of the work to others.
func (w *walk) give(mine []visit) []visit {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil
	}
	half := len(mine) / 2
	w.stack = append(w.stack, mine[:half]...)
	w.more.Broadcast()
	return append([]visit(nil), mine[half:]...)
}
