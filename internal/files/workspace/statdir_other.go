//go:build !linux

package workspace

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"
)

// StatDir is a directory held open by whoever compares what is in it with a
// record, as an index of git's is.
type StatDir struct{ dir string }

// FileStat is what the system says of a file.
type FileStat struct{ info fs.FileInfo }

// OpenStatDir opens a directory by its path.
func OpenStatDir(path string) (StatDir, error) { return StatDir{path}, nil }

// Close closes the directory.
func (d StatDir) Close() {}

// Enter opens a subdirectory. The name is terminated by NUL.
func (d StatDir) Enter(name []byte) (StatDir, error) {
	sub := StatDir{d.path(name)}
	info, err := os.Lstat(sub.dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	return sub, err
}

func (d StatDir) path(name []byte) string {
	return filepath.Join(d.dir, string(name[:len(name)-1]))
}

// Lstat asks for one file. Its name must be followed by NUL in memory.
func (d StatDir) Lstat(name *byte, st *FileStat) error {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(name), n)) != 0 {
		n++
	}
	info, err := os.Lstat(filepath.Join(d.dir, unsafe.String(name, n)))
	st.info = info
	return err
}

// ReadFile reads a regular file that is not larger than limit. The name is
// terminated by NUL.
func (d StatDir) ReadFile(name []byte, limit int) ([]byte, error) {
	info, err := os.Lstat(d.path(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrSpecial
	}
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = ErrTooLarge
	}
	return data, err
}

// List returns all entries of the directory. It can be called once.
func (d StatDir) List(buf []byte) (DirList, error) {
	entries, err := os.ReadDir(d.dir)
	return DirList{entries, buf}, err
}

// DirList goes through the entries of a directory.
type DirList struct {
	rest []fs.DirEntry
	buf  []byte
}

// Buffer is the memory of the list, to be used again.
func (l *DirList) Buffer() []byte { return l.buf }

// Next returns the next name, terminated by NUL, or nil, and its type: that of
// a regular file, fs.ModeDir, or fs.ModeIrregular for what the list doesn't tell.
func (l *DirList) Next() ([]byte, fs.FileMode) {
	if len(l.rest) == 0 {
		return nil, 0
	}
	e := l.rest[0]
	l.rest = l.rest[1:]
	name := append(bytes.Clone([]byte(e.Name())), 0)
	switch {
	case e.Type().IsRegular():
		return name, 0
	case e.IsDir():
		return name, fs.ModeDir
	}
	return name, fs.ModeIrregular
}

// Count goes through all entries, calls dotted with the names that begin with a
// dot, terminated by NUL, and returns how many entries there are.
func (l *DirList) Count(dotted func(name []byte)) int {
	n := 0
	for name, _ := l.Next(); name != nil; name, _ = l.Next() {
		if n++; name[0] == '.' {
			dotted(name)
		}
	}
	return n
}

// Mode is the type and the permissions, with the bits of stat(2).
func (s *FileStat) Mode() uint32 {
	mode := uint32(s.info.Mode().Perm())
	switch {
	case s.info.IsDir():
		return mode | 0o040000
	case s.info.Mode()&fs.ModeSymlink != 0:
		return mode | 0o120000
	case s.info.Mode().IsRegular():
		return mode | 0o100000
	}
	return mode
}

// Size is the size in bytes.
func (s *FileStat) Size() int64 { return s.info.Size() }

// MTime is when the content was changed.
func (s *FileStat) MTime() (seconds int64, nanoseconds uint32) {
	t := s.info.ModTime()
	return t.Unix(), uint32(t.Nanosecond())
}

// CTime is not known here: what git recorded never agrees, and the content
// decides.
func (s *FileStat) CTime() (seconds int64, nanoseconds uint32) { return 0, 0 }

// Ino is the number of the file, which is not known here.
func (s *FileStat) Ino() uint64 { return 0 }

// Owner returns the user and the group that the file belongs to.
func (s *FileStat) Owner() (uid, gid uint32) { return 0, 0 }
