package dispatch

import (
	"sync"
	"testing"
	"testing/synctest"
)

// TestWorkersEnd: all work is done beside each other, also after the end, and
// no goroutine stays then.
func TestWorkersEnd(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		w := newWorkers()
		for _, n := range []int{1, 3 * maxParked, 1} {
			var done, together sync.WaitGroup
			together.Add(n)
			for range n {
				done.Add(1)
				w.run(func() {
					defer done.Done()
					together.Done()
					together.Wait()
				})
			}
			done.Wait()
			synctest.Wait()
			if n > 1 {
				if len(w.parked) != maxParked {
					t.Errorf("%d wait for work, want %d", len(w.parked), maxParked)
				}
				w.close()
				w.close()
			}
		}
	})
}
