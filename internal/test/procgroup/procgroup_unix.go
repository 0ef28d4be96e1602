//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Own has a command begin a group of processes of its own.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// End ends that group.
func End(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
