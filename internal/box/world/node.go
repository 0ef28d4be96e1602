package world

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"runtime"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
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

// keepsExec says that files of this system can be executable, or not.
const keepsExec = runtime.GOOS != "windows"

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

// errSpecial is what can't be taken over of what is no file, link or directory.
var errSpecial = errors.New("it is a socket, a pipe or a device")

// readNodeOf is readNode for some files.
func readNodeOf(from files, name string) (n node, text []byte, err error) {
	info, err := from.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return node{}, nil, nil
	case err != nil:
		return node{}, nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
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
	if data, err := from.ReadFile(name); err == nil || !errors.Is(err, fs.ErrPermission) {
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
		exec := at.Exec && keepsExec
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
