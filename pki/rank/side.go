package rank

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// sideBySide calls f for each of n things. k is the number of the one of several
// that do so at the same time. What panics in one of them panics here.
func sideBySide(several, n int, f func(k, i int)) {
	var next atomic.Int64
	work := func(k int) {
		for i := next.Add(1); i <= int64(n); i = next.Add(1) {
			f(k, int(i-1))
		}
	}
	var failed atomic.Pointer[error]
	var others sync.WaitGroup
	for k := 1; k < min(several, n); k++ {
		others.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					err := fmt.Errorf("%v\n%s", p, debug.Stack())
					failed.Store(&err)
				}
			}()
			work(k)
		})
	}
	defer func() {
		others.Wait()
		if err := failed.Load(); err != nil {
			panic(*err)
		}
	}()
	work(0)
}
