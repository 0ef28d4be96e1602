//go:build !linux && !windows

package spec

func defaultMemory() int64 { return -1 }
