//go:build !unix

package keyring

import "os/exec"

// endTogether does nothing: there is no keyring that is asked by a program here.
func endTogether(*exec.Cmd) {}
