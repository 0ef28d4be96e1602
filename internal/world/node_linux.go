package world

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// The parts of a world's directory.
const (
	upperDir = "upper" // what commands changed, and what they are to see
	workDir  = "work"  // the kernel's
	atDir    = "at"    // where a command's processes mount the overlay, for themselves
	trashDir = "trash" // what is being removed
)

// node is what there is under a name, as far as a review knows differences. The
// zero node is nothing.
type node struct {
	there bool
	link  bool
	exec  bool // of a file
	sum   [sha256.Size]byte
}

func fileNode(data []byte, exec bool) node {
	return node{there: true, exec: exec, sum: sha256.Sum256(data)}
}

func linkNode(target string) node {
	return node{there: true, link: true, sum: sha256.Sum256([]byte(target))}
}

// held is what the upper layer has under a name that is reviewed, as it was
// looked at last.
type held struct {
	node
	text  []byte // or the target of a link
	lower stamp  // of the folder's own, when it was compared
	same  bool   // the folder's own was the same
}

// stamp tells whether a file was changed.
type stamp struct {
	ino          uint64
	size         int64
	mtime, ctime unix.Timespec
}

func stampOf(path string) (s stamp) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) == nil {
		s = stamp{st.Ino, st.Size, st.Mtim, st.Ctim}
	}
	return s
}

// stampFrom is the stamp of what was looked at.
func stampFrom(info fs.FileInfo) (s stamp) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s = stamp{st.Ino, st.Size, unix.Timespec(st.Mtim), unix.Timespec(st.Ctim)}
	}
	return s
}

// changedSince reports whether what is there was changed at, or after, a moment
// in nanoseconds. Nothing was not.
func (s stamp) changedSince(then int64) bool {
	return s != stamp{} && max(s.mtime.Nano(), s.ctime.Nano()) >= then
}

// errSpecial is what can't be taken over of what is no file, link or directory.
var errSpecial = errors.New("it is a socket, a pipe or a device")

// readNode reads what is at path, no link followed. A directory is nothing.
func readNode(path string) (n node, text []byte, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return node{}, nil, nil
	case err != nil:
		return node{}, nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return linkNode(target), []byte(target), err
	case info.IsDir():
		return node{}, nil, nil
	case isWhiteout(info):
		return node{}, nil, nil
	case !info.Mode().IsRegular():
		return node{}, nil, errSpecial
	case info.Size() > workspace.MaxFileSize:
		return node{}, nil, workspace.ErrTooLarge
	}
	if data, err := os.ReadFile(path); err == nil || !errors.Is(err, fs.ErrPermission) {
		return fileNode(data, workspace.IsExec(info.Mode())), nonNil(data), err
	}
	return node{}, nil, fs.ErrPermission
}

func nonNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// viewNode is what a view has under a name. Of what it may not show there is
// nothing to say: known is false.
func viewNode(view workspace.Files, name string) (n node, text []byte, known bool) {
	at, err := workspace.NodeOf(view, name)
	if err == nil && at.Link != "" {
		return linkNode(at.Link), []byte(at.Link), true
	}
	data, err := view.ReadFile(name)
	if err == nil {
		exec := at.Exec
		if info, err := view.Stat(name); !at.Exists && err == nil {
			exec = workspace.IsExec(info.Mode())
		}
		return fileNode(data, exec), nonNil(data), true
	}
	if info, err := view.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return node{}, nil, true
	}
	return node{}, nil, false
}

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
