package workspace

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// On Linux a walk uses directory descriptors alone: every file is opened
// relative to the directory it was listed in and without following links, so
// that nothing that happens meanwhile leads out of the root. Names stay where
// getdents wrote them, and a file that is read costs three system calls.

// dirHandle is a descriptor of a directory.
type dirHandle struct {
	fd    int
	local bool // its file system answers from memory or from a disk of this machine
}

const openFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// openRootDir opens a directory inside root for a walk.
func openRootDir(root *os.Root, rel string) (dirHandle, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return dirHandle{fd: -1}, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return newDirHandle(fd), err
}

func newDirHandle(fd int) dirHandle {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return dirHandle{fd: fd}
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return dirHandle{fd, true}
	}
	return dirHandle{fd: fd}
}

// call makes a system call on a descriptor in the handle's file system. The
// calls of a walk take a microsecond or two, and the scheduler's preparations
// for one that blocks cost a tenth of the walk, so they are left out where
// nothing blocks for longer than a disk takes. Elsewhere (networks, FUSE) a
// call may hang, and must not keep other goroutines from running.
func (h dirHandle) call(trap uintptr, fd int, p unsafe.Pointer, n int) (int, error) {
	for {
		var r uintptr
		var errno unix.Errno
		if h.local {
			r, _, errno = unix.RawSyscall6(trap, uintptr(fd), uintptr(p), uintptr(n), 0, 0, 0)
		} else {
			r, _, errno = unix.Syscall6(trap, uintptr(fd), uintptr(p), uintptr(n), 0, 0, 0)
		}
		switch errno {
		case 0:
			return int(r), nil
		case unix.EINTR:
		default:
			return -1, errno
		}
	}
}

func (h dirHandle) read(fd int, buf []byte) (int, error) {
	return h.call(unix.SYS_READ, fd, unsafe.Pointer(unsafe.SliceData(buf)), len(buf))
}

func (h dirHandle) isLocal() bool { return h.local }

func (h dirHandle) close() { h.closeFile(h.fd) }

// closeFile closes a descriptor. Linux does so even when it is interrupted.
func (h dirHandle) closeFile(fd int) {
	if h.local {
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) // only read from: nothing can be lost
	} else {
		unix.Close(fd)
	}
}

// openDir opens a subdirectory. The name is terminated by NUL. What is mounted
// there is left for the careful way.
func (h dirHandle) openDir(name []byte) (dirHandle, error) {
	if h.local {
		how := unix.OpenHow{Flags: openFlags | unix.O_DIRECTORY, Resolve: unix.RESOLVE_NO_XDEV}
		fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT2, uintptr(h.fd), uintptr(unsafe.Pointer(unsafe.SliceData(name))),
			uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow, 0, 0)
		if errno == 0 {
			return dirHandle{int(fd), true}, nil
		}
		h.local = false
	}
	fd, err := h.openAt(name, openFlags|unix.O_DIRECTORY)
	if err != nil {
		return dirHandle{fd: -1}, err
	}
	return newDirHandle(fd), nil
}

func (h dirHandle) openAt(name []byte, flags int) (int, error) {
	return h.call(unix.SYS_OPENAT, h.fd, unsafe.Pointer(unsafe.SliceData(name)), flags)
}

// listSize is how much of a directory is listed at a time: a few thousand
// entries, which stay in the processor's cache until they are visited.
const listSize = 128 << 10

// list writes the directory's next raw entries over buf. There may be more when
// they don't fit.
func (h dirHandle) list(buf []byte) (list []byte, more bool, err error) {
	buf = slices.Grow(buf[:0], listSize)
	for cap(buf)-len(buf) >= listSize/4 {
		free := buf[len(buf):cap(buf)]
		n, err := h.call(unix.SYS_GETDENTS64, h.fd, unsafe.Pointer(unsafe.SliceData(free)), len(free))
		if n <= 0 {
			return buf, false, err
		}
		buf = buf[:len(buf)+n]
	}
	return buf, true, nil
}

// kind asks for the type of an entry that the file system didn't tell.
func (h dirHandle) kind(name []byte) entryKind {
	var st unix.Stat_t
	if err := unix.Fstatat(h.fd, string(name[:len(name)-1]), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return otherKind
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return fileKind
	case unix.S_IFDIR:
		return dirKind
	}
	return otherKind
}

// stat tells how a file is now. The name is terminated by NUL.
func (h dirHandle) stat(name []byte) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(h.fd, unsafe.String(&name[0], len(name)-1), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stamp{}, err
	}
	return Stamp{Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Inode: st.Ino, Linked: st.Nlink > 1}, nil
}

// readFile appends a file to buf[:0]. A read that doesn't fill the buffer has
// met the end: regular files are read in full, and others, which can only be
// here by exchange after listing, don't matter.
func (h dirHandle) readFile(name, buf []byte, limit int) ([]byte, error) {
	fd, err := h.openAt(name, openFlags)
	if err != nil {
		return buf[:0], err
	}
	defer h.closeFile(fd)
	buf = buf[:0]
	if cap(buf) == 0 {
		buf = make([]byte, 0, 128<<10)
	}
	for {
		if len(buf) == cap(buf) {
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil {
				return buf, err
			}
			if st.Size > int64(limit) {
				return buf[:0], ErrTooLarge
			}
			buf = slices.Grow(buf, max(int(st.Size)-len(buf), len(buf))+1)
		}
		free := buf[len(buf):cap(buf)]
		n, err := h.read(fd, free)
		if err != nil {
			return buf, err
		}
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return buf[:0], ErrTooLarge
		}
		if n < len(free) {
			return buf, nil
		}
	}
}

// readAt is Entry.ReadAt of a file.
func (h dirHandle) readAt(name, buf []byte, off int64) error {
	fd, err := h.openAt(name, openFlags)
	if err != nil {
		return err
	}
	defer h.closeFile(fd)
	n, err := unix.Pread(fd, buf, off)
	if err == nil && n < len(buf) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// scanFile is Entry.Scan of a file.
func (h dirHandle) scanFile(name, buf []byte, piece func([]byte, bool) bool) error {
	fd, err := h.openAt(name, openFlags)
	if err != nil {
		return err
	}
	defer h.closeFile(fd)
	return scanPieces(func(buf []byte) (int, error) { return h.read(fd, buf) }, buf, piece)
}

// readExclude reads .git/info/exclude of a repository with its own directory.
func (h dirHandle) readExclude() ([]byte, error) {
	git, err := h.openDir([]byte(".git\x00"))
	if err != nil {
		return nil, err
	}
	defer git.close()
	info, err := git.openDir([]byte("info\x00"))
	if err != nil {
		return nil, err
	}
	defer info.close()
	return info.readFile([]byte("exclude\x00"), nil, maxIgnoreFile)
}

// entries goes through what list returned.
type entries struct{ raw []byte }

// In struct linux_dirent64, after inode and offset.
const (
	sizeAt = 16
	nameAt = 19
)

// count is DirList.Count.
func (e *entries) count(dotted func(name []byte)) (n int) {
	for raw := e.raw; len(raw) > nameAt; n++ {
		size := int(binary.NativeEndian.Uint16(raw[sizeAt:]))
		name := raw[nameAt:size]
		raw = raw[size:]
		if name[0] != '.' {
			continue
		}
		name = name[:bytes.IndexByte(name, 0)+1]
		if string(name) == ".\x00" || string(name) == "..\x00" {
			n--
			continue
		}
		dotted(name)
	}
	e.raw = nil
	return n
}

// next returns the next name, terminated by NUL, or nil.
func (e *entries) next() ([]byte, entryKind) {
	for len(e.raw) > nameAt {
		rec := e.raw
		size := int(binary.NativeEndian.Uint16(rec[sizeAt:]))
		e.raw = rec[size:]
		name := rec[nameAt:size]
		end := bytes.IndexByte(name, 0)
		if name[0] == '.' && (end == 1 || end == 2 && name[1] == '.') {
			continue
		}
		switch name = name[:end+1]; rec[18] {
		case unix.DT_REG:
			return name, fileKind
		case unix.DT_DIR:
			return name, dirKind
		case unix.DT_UNKNOWN:
			return name, unknownKind
		}
		return name, otherKind
	}
	return nil, otherKind
}
