package rank

import (
	"strings"
	"sync/atomic"
	"testing"
)

// TestSideBySide: everything is done once, and what panics anywhere panics where
// it was asked for, so that one bad question ends no more than itself.
func TestSideBySide(t *testing.T) {
	for several := 1; several < 5; several++ {
		var done [100]atomic.Int32
		sideBySide(several, len(done), func(k, i int) {
			if k < 0 || k >= several {
				t.Errorf("%d of %d", k, several)
			}
			done[i].Add(1)
		})
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("%d was done %d times", i, n)
			}
		}
	}
	begun := make(chan bool)
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "the other one") {
			t.Errorf("%v", err)
		}
	}()
	sideBySide(2, 2, func(k, _ int) {
		if k == 1 {
			close(begun)
			panic("the other one")
		}
		<-begun
	})
	t.Error("nothing panicked")
}
