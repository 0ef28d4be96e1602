package worker

import (
	"syscall"
	"time"
)

// dieWithParent ends a child with the server, however that ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// limitMyself bounds this process in memory and processor time, and leaves no
// core file behind. A limit that can't be set leaves the time-out.
func limitMyself() {
	for _, l := range []struct {
		what int
		most uint64
	}{{syscall.RLIMIT_AS, maxMemory}, {syscall.RLIMIT_CPU, uint64(2 * workerWork / time.Second)}, {syscall.RLIMIT_CORE, 0}} {
		_ = syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.most, Max: l.most})
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
