//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package pendingedits

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// noFollow makes opening a symbolic link fail. A FIFO must not block.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockDir holds dir for this process until the file is closed, which happens
// at its death at the latest. The file says whose it is.
func lockDir(dir string) (*os.File, error) {
	f, err := openFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		err = fmt.Errorf("%s is held by process %s: %w", dir, strings.TrimSpace(string(holder)), ErrLocked)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
