package world

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// The marks by which an overlay says what it hides. A copy has none.

func isWhiteout(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && st.Rdev == 0
}

// opaqueName marks a directory of an upper layer that hides the one below it.
const opaqueName = "user.overlay.opaque"

func opaque(dir string) bool {
	var b [1]byte
	n, err := unix.Lgetxattr(dir, opaqueName, b[:])
	return err == nil && n == 1 && b[0] == 'y'
}

// whiteout makes what hides the name below it.
func whiteout(path string) error {
	if err := unix.Mknod(path, unix.S_IFCHR, 0); err != nil {
		return &fs.PathError{Op: "whiteout", Path: path, Err: err}
	}
	return nil
}

// hideIn makes in an open directory what hides the name below it.
func hideIn(dir *osfile.Dir, name string) error {
	f, err := dir.File()
	if err != nil {
		return err
	}
	if err := unix.Mknodat(int(f.Fd()), name, unix.S_IFCHR, 0); err != nil {
		return &fs.PathError{Op: "whiteout", Path: name, Err: err}
	}
	return nil
}

// isOpaque reports whether an open directory hides the one below it.
func isOpaque(dir *osfile.Dir) bool {
	f, err := dir.File()
	if err != nil {
		return false
	}
	var b [1]byte
	n, err := unix.Fgetxattr(int(f.Fd()), opaqueName, b[:])
	return err == nil && n == 1 && b[0] == 'y'
}

// strip takes an overlay's own marks from an open directory.
func strip(dir *osfile.Dir) {
	f, err := dir.File()
	if err != nil {
		return
	}
	b := make([]byte, 4<<10)
	n, err := unix.Flistxattr(int(f.Fd()), b)
	if err != nil {
		return
	}
	for name := range strings.SplitSeq(string(b[:n]), "\x00") {
		if strings.HasPrefix(name, "user.overlay.") {
			_ = unix.Fremovexattr(int(f.Fd()), name)
		}
	}
}

// showThrough has a directory of an upper layer no longer hide all of the directories below
// it: each name that they have, and it has not, is hidden by itself, and so is what is in its
// own directories.
func showThrough(at string, low []string) error {
	for _, dir := range low {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // there is nothing to hide
		}
		for _, e := range entries {
			name := filepath.Join(at, e.Name())
			info, err := os.Lstat(name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				err = whiteout(name)
			case err == nil && info.IsDir() && e.IsDir():
				err = unix.Lsetxattr(name, opaqueName, []byte("y"), 0)
			}
			if err != nil {
				return err
			}
		}
	}
	return unix.Lremovexattr(at, opaqueName)
}
