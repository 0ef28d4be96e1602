package spec

import "golang.org/x/sys/unix"

// DefaultMemory is three quarters of the machine's memory.
func DefaultMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return -1
	}
	return int64(info.Totalram) * int64(info.Unit) / 4 * 3
}
