//go:build !linux

package worktree

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// dirHandle is a directory.
type dirHandle string

func openDirHandle(path string) (dirHandle, error) { return dirHandle(path), nil }

// child is a directory of this one, but no link.
func (d dirHandle) child(base string) (dirHandle, error) {
	at := filepath.Join(string(d), base)
	info, err := os.Lstat(at)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	return dirHandle(at), err
}

// mkdir makes a directory in this one.
func (d dirHandle) mkdir(base string) error { return os.Mkdir(filepath.Join(string(d), base), 0o777) }

func (d dirHandle) close() {}

// fileHandle is an open file.
type fileHandle struct{ *os.File }

// open opens a file for reading, but nothing that blocks.
func (d dirHandle) open(base string) (fileHandle, error) {
	f, err := os.OpenFile(filepath.Join(string(d), base), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return fileHandle{f}, err
}

// create makes a file that must not be there.
func (d dirHandle) create(base string, perm uint32) (fileHandle, error) {
	f, err := os.OpenFile(filepath.Join(string(d), base), os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(perm))
	return fileHandle{f}, err
}

func (f fileHandle) close() error { return f.Close() }

// read reads into buf until it has enough bytes or the file ends.
func (f fileHandle) read(buf []byte, enough int) (int, error) {
	n, err := io.ReadAtLeast(f, buf, enough)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

func (f fileHandle) write(data []byte) error {
	_, err := f.Write(data)
	return err
}

// date sets the time of the last change.
func (f fileHandle) date(t time.Time) error { return os.Chtimes(f.Name(), t, t) }

// stat gives e the stat data of the file, its mode too.
func (f fileHandle) stat(e *gitindex.Entry) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	e.Mode = index.ModeOf(info.Mode())
	index.SetStat(e, info)
	return info.Size(), nil
}
