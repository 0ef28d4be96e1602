package app

import "syscall"

// dieWithParent ends a child with the server, however that ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// limitMyself bounds this process in memory and processor time, and leaves no
// core file behind. A limit that can't be set leaves the time-out.
func limitMyself() {
	const gib = 1 << 30
	for _, l := range []struct {
		what int
		most uint64
	}{{syscall.RLIMIT_AS, 2 * gib}, {syscall.RLIMIT_CPU, 5}, {syscall.RLIMIT_CORE, 0}} {
		_ = syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.most, Max: l.most})
	}
}
