//go:build race

package e2e

import (
	"os"
	"syscall"
)

// dontWait starts this program once more, without the second that a program with the race
// detector waits at its end for what other threads may still report. The tests start
// thousands of them, in environments that are not theirs.
func dontWait() {
	const name, value = "GORACE", "atexit_sleep_ms=0"
	if os.Getenv(name) != "" {
		return
	}
	if self, err := os.Executable(); err == nil {
		_ = syscall.Exec(self, os.Args, append(os.Environ(), name+"="+value)) // else it waits
	}
}
