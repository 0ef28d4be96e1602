//go:build unix

package keyring

import (
	"os/exec"
	"syscall"
)

// endTogether lets the end of a command be that of the processes that it started.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
