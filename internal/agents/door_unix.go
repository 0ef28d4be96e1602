//go:build unix

package agents

import (
	"os"
	"syscall"
)

// lockDir locks a directory of this user's until the file is closed or the process
// ends; nil: it is gone, is another's, or another process holds it.
func lockDir(dir string) *os.File {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	info, err := f.Stat()
	if err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == os.Getuid() && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return f
		}
	}
	_ = f.Close()
	return nil
}
