//go:build unix

package ide

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to this user.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// alive reports whether a process runs.
func alive(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
