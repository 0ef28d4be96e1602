//go:build unix

package gitcmd

import (
	"os/exec"
	"syscall"
)

// ownGroup puts cmd into a session of its own: a group that can be ended as a
// whole, without a terminal to ask at.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// signalGroup asks all processes of the group to end, or ends them.
func signalGroup(cmd *exec.Cmd, kill bool) {
	sig := syscall.SIGTERM // git takes its locks away when it gets it
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, sig)
}
