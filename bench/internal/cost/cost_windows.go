package cost

import (
	"time"

	"golang.org/x/sys/windows"
)

// Processor is the time that this process has had of processors.
func Processor() time.Duration {
	var created, ended, kernel, user windows.Filetime
	_ = windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) // of this process it does not fail
	return span(kernel) + span(user)
}

// WithChildren is Processor: what children had is not known here once they ended.
func WithChildren() time.Duration { return Processor() }

// span is a time that is counted in steps of 100 ns.
func span(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
