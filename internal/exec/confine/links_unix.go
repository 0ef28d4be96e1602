//go:build unix

package confine

import (
	"os"
	"syscall"
)

// onlyName reports whether there is a file at a path, which has no other name.
func onlyName(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink <= 1
}
