//go:build unix

package folded

import "syscall"

// apart keeps a process from being ended with the process group of this one.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
