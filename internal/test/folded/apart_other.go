//go:build !unix

package folded

import "syscall"

func apart() *syscall.SysProcAttr { return nil }
