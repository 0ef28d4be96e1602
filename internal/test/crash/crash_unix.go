//go:build unix

package crash

import (
	"os"
	"syscall"
)

func kill() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }

func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}
