//go:build !unix

package procgroup

import "os/exec"

// Own has nothing to do here.
func Own(*exec.Cmd) {}

// End ends the command alone: what it left in the background ends by itself.
func End(cmd *exec.Cmd) error { return cmd.Process.Kill() }
