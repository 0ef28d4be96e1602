//go:build cgo

package treesitter

import (
	"syscall"
	"time"
)

// spent is the processor's time that the thread has had so far. Other processes
// don't count, however many there are.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &u) // of this very process: it can't fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
