package workspace

import (
	"io/fs"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StatDir is a directory held open by whoever compares what is in it with a
// record, as an index of git's is. It costs one system call a file, and never
// follows a link.
type StatDir struct{ handle dirHandle }

// FileStat is what the system says of a file.
type FileStat struct{ st unix.Statx_t }

// OpenStatDir opens a directory by its path.
func OpenStatDir(path string) (StatDir, error) {
	fd, err := unix.Open(path, openFlags|unix.O_DIRECTORY, 0)
	if err != nil {
		return StatDir{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return StatDir{newDirHandle(fd)}, nil
}

// Close closes the directory.
func (d StatDir) Close() { d.handle.close() }

// Enter opens a subdirectory. The name is terminated by NUL.
func (d StatDir) Enter(name []byte) (StatDir, error) {
	h, err := d.handle.openDir(name)
	return StatDir{h}, err
}

// Lstat asks for one file. Its name must be followed by NUL in memory.
func (d StatDir) Lstat(name *byte, st *FileStat) error {
	const mask = unix.STATX_BASIC_STATS
	for {
		var errno unix.Errno
		if d.handle.local {
			_, _, errno = unix.RawSyscall6(unix.SYS_STATX, uintptr(d.handle.fd), uintptr(unsafe.Pointer(name)),
				unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, mask, uintptr(unsafe.Pointer(&st.st)), 0)
		} else {
			_, _, errno = unix.Syscall6(unix.SYS_STATX, uintptr(d.handle.fd), uintptr(unsafe.Pointer(name)),
				unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, mask, uintptr(unsafe.Pointer(&st.st)), 0)
		}
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}

// ReadFile reads a regular file that is not larger than limit. The name is
// terminated by NUL.
func (d StatDir) ReadFile(name []byte, limit int) ([]byte, error) {
	return d.handle.readFile(name, nil, limit)
}

// List returns all entries of the directory, over buf. It can be called once.
func (d StatDir) List(buf []byte) (DirList, error) {
	list, more, err := d.handle.list(buf)
	all := list
	for more && err == nil {
		if cap(all)-len(all) < listSize {
			all = slices.Grow(all, len(all)+listSize)
		}
		list, more, err = d.handle.list(all[len(all):len(all):cap(all)])
		all = all[:len(all)+len(list)]
	}
	return DirList{all, entries{all}}, err
}

// DirList goes through the entries of a directory.
type DirList struct {
	raw  []byte
	rest entries
}

// Buffer is the memory of the list, to be used again.
func (l *DirList) Buffer() []byte { return l.raw }

// Next returns the next name, terminated by NUL, or nil, and its type: that of
// a regular file, fs.ModeDir, or fs.ModeIrregular for what the list doesn't tell.
func (l *DirList) Next() ([]byte, fs.FileMode) {
	name, kind := l.rest.next()
	switch kind {
	case fileKind:
		return name, 0
	case dirKind:
		return name, fs.ModeDir
	}
	return name, fs.ModeIrregular
}

// Count goes through all entries, calls dotted with the names that begin with a
// dot, terminated by NUL, and returns how many entries there are.
func (l *DirList) Count(dotted func(name []byte)) int { return l.rest.count(dotted) }

// Mode is the type and the permissions, with the bits of stat(2).
func (s *FileStat) Mode() uint32 { return uint32(s.st.Mode) }

// Size is the size in bytes.
func (s *FileStat) Size() int64 { return int64(s.st.Size) }

// MTime is when the content was changed.
func (s *FileStat) MTime() (seconds int64, nanoseconds uint32) {
	return s.st.Mtime.Sec, s.st.Mtime.Nsec
}

// CTime is when anything about the file was changed.
func (s *FileStat) CTime() (seconds int64, nanoseconds uint32) {
	return s.st.Ctime.Sec, s.st.Ctime.Nsec
}

// Ino is the number of the file.
func (s *FileStat) Ino() uint64 { return s.st.Ino }

// Owner returns the user and the group that the file belongs to.
func (s *FileStat) Owner() (uid, gid uint32) { return s.st.Uid, s.st.Gid }
