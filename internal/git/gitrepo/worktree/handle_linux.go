package worktree

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
	"unsafe"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// Making a file is a handful of system calls, and thousands of files are made.
// On Linux they are made relative to their directory, whose way then isn't
// looked up for each, and without what the runtime does for files that may
// block.

// dirHandle is an open directory.
type dirHandle int

func openDirHandle(path string) (dirHandle, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return dirHandle(fd), nil
}

// child opens a directory of this one, but no link.
func (d dirHandle) child(base string) (dirHandle, error) {
	f, err := d.openAt(base, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	return dirHandle(f), err
}

// mkdir makes a directory in this one.
func (d dirHandle) mkdir(base string) error { return syscall.Mkdirat(int(d), base, 0o777) }

func (d dirHandle) close() { _ = syscall.Close(int(d)) }

// fileHandle is an open file.
type fileHandle int

// open opens a file for reading, but no link and nothing that blocks. That it
// was read is not noted, which would write an inode for each file; the system
// allows that to the owner only.
func (d dirHandle) open(base string) (fileHandle, error) {
	const flags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := d.openAt(base, flags|syscall.O_NOATIME, 0)
	if errors.Is(err, syscall.EPERM) {
		f, err = d.openAt(base, flags, 0)
	}
	return f, err
}

// create makes a file that must not be there.
func (d dirHandle) create(base string, perm uint32) (fileHandle, error) {
	return d.openAt(base, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, perm)
}

func (d dirHandle) openAt(base string, flags int, perm uint32) (fileHandle, error) {
	for {
		fd, err := syscall.Openat(int(d), base, flags|syscall.O_CLOEXEC, perm)
		if err != syscall.EINTR {
			return fileHandle(fd), err
		}
	}
}

func (f fileHandle) close() error { return syscall.Close(int(f)) }

// read reads into buf until it has enough bytes or the file ends.
func (f fileHandle) read(buf []byte, enough int) (int, error) {
	n := 0
	for n < enough {
		m, err := syscall.Read(int(f), buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || m == 0 {
			return n, err
		}
		n += m
	}
	return n, nil
}

func (f fileHandle) write(data []byte) error {
	for len(data) > 0 {
		n, err := syscall.Write(int(f), data)
		if err != nil && err != syscall.EINTR {
			return err
		}
		data = data[max(n, 0):]
	}
	return nil
}

// date sets the time of the last change.
func (f fileHandle) date(t time.Time) error {
	at := syscall.NsecToTimespec(t.UnixNano())
	times := [2]syscall.Timespec{at, at}
	_, _, errno := syscall.Syscall6(syscall.SYS_UTIMENSAT, uintptr(f), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// stat gives e the stat data of the file, its mode too.
func (f fileHandle) stat(e *gitindex.Entry) (size int64, err error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f), &st); err != nil {
		return 0, err
	}
	e.Mode = 0
	if st.Mode&syscall.S_IFMT == syscall.S_IFREG {
		e.Mode = index.ModeOf(fs.FileMode(st.Mode & 0o777))
	}
	index.SetStatT(e, &st)
	return st.Size, nil
}
