//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// keepsExec reports whether files have execute bits.
const keepsExec = true

// fileID tells files apart that have several names.
type fileID struct{ dev, ino uint64 }

func idOf(info fs.FileInfo) fileID {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{uint64(st.Dev), uint64(st.Ino)} //nolint:unconvert // Dev is an int32 on some systems
	}
	return fileID{}
}

// identify returns which file is open, and whether a new one could not take its
// place.
func identify(_ *os.File, info fs.FileInfo) (id fileID, stays bool) {
	return idOf(info), mustWriteInPlace(info)
}

// Linked reports whether a file, of that path of the operating system, has further
// names, through which it may be changed.
func Linked(_ string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && st.Nlink > 1
}

// lstatLinked describes a regular file that a walk has met, and whether it is Linked.
//
//nolint:unused // Linux' walks look at files in a way of their own
func lstatLinked(root *os.Root, rel string) (info fs.FileInfo, linked bool, err error) {
	info, err = root.Lstat(rel)
	return info, err == nil && Linked("", info), err
}

// owner returns who owns a file.
func owner(info fs.FileInfo) (uid, gid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return os.Geteuid(), os.Getegid()
}

// mustWriteInPlace reports whether a new file could not take the place of this
// one: it has other names, or an owner that only root could give it.
func mustWriteInPlace(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if st.Nlink > 1 {
		return true
	}
	if os.Geteuid() == 0 {
		return false
	}
	groups, _ := os.Getgroups()
	mine := int(st.Gid) == os.Getegid() || slices.Contains(groups, int(st.Gid))
	return int(st.Uid) != os.Geteuid() || !mine
}

// chown is left out where it would change nothing, since it clears bits.
func chown(file *os.File, uid, gid int) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if u, g := owner(info); u == uid && g == gid {
		return nil
	}
	return file.Chown(uid, gid)
}

// isRunning reports that a file can't be written because it is executed.
func isRunning(err error) bool { return errors.Is(err, syscall.ETXTBSY) }
