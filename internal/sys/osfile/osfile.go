// Package osfile has what the operating systems do differently with files: how
// one is opened that others may rename meanwhile, how a name is made durable, and
// how a file is replaced that another program has open.
package osfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Open opens a regular file of the server's own, without following a link and
// without waiting for the other end of a pipe. It may be renamed and removed while
// it is open, on Windows too.
func Open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", name), f.Close())
	}
	return f, nil
}

// SyncDir makes the names in a directory durable. On Windows it does nothing: a
// directory can't be synced there, and NTFS writes names to its own log.
func SyncDir(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	return errors.Join(SyncRoot(root), root.Close())
}

// Rename is os.Rename, as patient as Retry.
func Rename(ctx context.Context, from, to string) error {
	return Retry(ctx, to, func() error { return os.Rename(from, to) })
}

// On Windows a file can't be replaced, removed or written while another program has
// it open and does not share it. Virus scanners, indexers and editors do that, for
// moments.
const (
	tries = 10
	pause = 100 * time.Millisecond
)

// Retry replaces, removes or writes the file of that name by do, which is called
// again while another program has the file open, for about a second. Only Windows
// holds files like that. The error names the file.
func Retry(ctx context.Context, name string, do func() error) error {
	return retry(ctx, name, do, IsInUse)
}

func retry(ctx context.Context, name string, do func() error, inUse func(error) bool) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil || !inUse(err) {
			return err
		}
		if n == tries {
			return &fs.PathError{Op: "replace", Path: name, Err: &inUseError{system(err)}}
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

// inUseError is what the system said, and what to do.
type inUseError struct{ err error }

func (e *inUseError) Error() string {
	return fmt.Sprintf("it seems to be open in another program: close it there and try again (%v)", e.err)
}

func (e *inUseError) Unwrap() error { return e.err }

// system is the system's own error, without the names that package os adds.
func system(err error) error {
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// RemoveAll is os.RemoveAll also for directories that may not be read or written, as
// commands and package managers leave them.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, os.ErrPermission) {
		return err
	}
	top, openErr := OpenDir(filepath.Dir(path))
	if openErr != nil {
		return err
	}
	defer top.Close()
	return top.RemoveTree(filepath.Base(path))
}
