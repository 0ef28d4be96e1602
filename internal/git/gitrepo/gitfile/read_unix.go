//go:build unix

package gitfile

import (
	"os"
	"syscall"
)

// OpenRegular opens a regular file and never waits for the other end of a pipe.
func OpenRegular(file string) (*os.File, error) { return openFlags(file, 0) }

// OpenNoFollow is openRegular for what must not be a link.
func OpenNoFollow(file string) (*os.File, error) { return openFlags(file, syscall.O_NOFOLLOW) }

func openFlags(file string, flags int) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: file, Err: syscall.EINVAL}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
