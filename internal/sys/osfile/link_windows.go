package osfile

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

// LinkDir makes a link to a directory, by its absolute path. On a disk of this machine
// that is a junction, for which nobody needs a privilege. What is said to be made is
// looked at: Wine says that it made a link, and makes none.
func LinkDir(target, path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	err := junction(target, path)
	if err == nil {
		if err = leads(path, target); err == nil {
			return nil
		}
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	if os.Symlink(target, path) == nil {
		if leads(path, target) == nil {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return &os.LinkError{Op: "junction", Old: target, New: path, Err: err}
}

// leads fails where a path is no link to a directory.
func leads(path, target string) error {
	link, err := os.Lstat(path)
	if err != nil {
		return err
	}
	there, err := os.Stat(path)
	if err != nil {
		return err
	}
	want, err := os.Stat(target)
	if err != nil {
		return err
	}
	if link.IsDir() || !os.SameFile(there, want) {
		return errors.New("what was made is no link to it")
	}
	return nil
}

// junction makes one of an empty directory.
func junction(target, path string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_OPEN_REPARSE_POINT|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	data := mountPoint(target)
	var n uint32
	err = windows.DeviceIoControl(h, windows.FSCTL_SET_REPARSE_POINT, &data[0], uint32(len(data)), nil, 0, &n, nil)
	return errors.Join(err, windows.CloseHandle(h))
}

// mountPoint is the REPARSE_DATA_BUFFER of a junction: a tag, the length of what
// follows, offsets and lengths of two names, in bytes, and the names.
func mountPoint(target string) []byte {
	real, shown := utf16.Encode([]rune(`\??\`+target)), utf16.Encode([]rune(target))
	const header = 8 // of the names
	names := 2 * (len(real) + 1 + len(shown) + 1)
	le := binary.LittleEndian
	b := le.AppendUint32(nil, windows.IO_REPARSE_TAG_MOUNT_POINT)
	for _, n := range []int{header + names, 0, 0, 2 * len(real), 2 * (len(real) + 1), 2 * len(shown)} {
		b = le.AppendUint16(b, uint16(n)) //nolint:gosec // a path has at most 32,767 units
	}
	for _, list := range [][]uint16{real, {0}, shown, {0}} {
		for _, unit := range list {
			b = le.AppendUint16(b, unit)
		}
	}
	return b
}
