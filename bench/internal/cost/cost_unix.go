//go:build unix

package cost

import (
	"syscall"
	"time"
)

// Processor is the time that this process has had of processors.
func Processor() time.Duration { return used(syscall.RUSAGE_SELF) }

// WithChildren is Processor with that of its children that have ended.
func WithChildren() time.Duration { return Processor() + used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(who, &u) // it fails for what is not one of the constants
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
