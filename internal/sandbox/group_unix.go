//go:build unix && !linux

package sandbox

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup has a command begin a group of processes.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends a command with its group, if it has one of its own.
func endGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr != nil && cmd.SysProcAttr.Setpgid {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails where nothing is left of it
	}
	_ = cmd.Process.Kill()
}

// exitCode is that of a command, or 128 + n where signal n ended it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
