package cli

import (
	"io"
	"os"
	"syscall"
)

const fSetPipeSize = 1031 // F_SETPIPE_SZ, which package syscall does not have

// widen gives a pipe room for a big result, so that it is written in few
// pieces. Where that is not allowed, it stays as it is.
func widen(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, fSetPipeSize, 1<<20)
		})
	}
}
