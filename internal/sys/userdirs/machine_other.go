//go:build !windows

package userdirs

import (
	"cmp"
	"runtime"
)

func machineBase() string { return cmp.Or(machine[runtime.GOOS], "/etc") }
