package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// onFD runs f on the descriptor of file.
func onFD(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// readXattrs returns the extended attributes of file, access lists included.
func readXattrs(file *os.File) (map[string][]byte, error) {
	var out map[string][]byte
	err := onFD(file, func(fd int) error {
		size, err := unix.Flistxattr(fd, nil)
		if errors.Is(err, unix.ENOTSUP) || err == nil && size == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		names := make([]byte, size)
		if size, err = unix.Flistxattr(fd, names); err != nil {
			return err
		}
		out = map[string][]byte{}
		for name := range bytes.SplitSeq(bytes.TrimRight(names[:size], "\x00"), []byte{0}) {
			size, err := unix.Fgetxattr(fd, string(name), nil)
			value := make([]byte, max(size, 0))
			if err == nil && size > 0 {
				size, err = unix.Fgetxattr(fd, string(name), value)
			}
			if err != nil {
				continue // not ours to see, so not ours to keep
			}
			out[string(name)] = value[:size]
		}
		return nil
	})
	return out, err
}

// writeXattrs sets them. Labels of the system's own that only it may set are
// left to it.
func writeXattrs(file *os.File, attrs map[string][]byte) error {
	if len(attrs) == 0 {
		return nil
	}
	return onFD(file, func(fd int) error {
		for name, value := range attrs {
			err := unix.Fsetxattr(fd, name, value, 0)
			if err != nil && (strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "system.posix_acl")) {
				return fmt.Errorf("attribute %s: %w", name, err)
			}
		}
		return nil
	})
}
