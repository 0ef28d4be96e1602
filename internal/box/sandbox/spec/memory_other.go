//go:build !linux && !windows

package spec

func DefaultMemory() int64 { return -1 }
