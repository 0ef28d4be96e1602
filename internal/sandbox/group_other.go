//go:build !unix

package sandbox

import (
	"os"
	"os/exec"
)

// ownGroup has no group to begin here.
func ownGroup(*exec.Cmd) {}

// endGroup ends the command alone.
func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
