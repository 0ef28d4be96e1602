package setup

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// staged is a change that is ready: what is left to do is to give a file its name, in a
// directory that is open. A link that somebody puts in its place leads nothing elsewhere.
type staged struct {
	*Change
	top  *osfile.Dir // the anchor
	dir  *osfile.Dir // that of the file; nil: it is missing, and so is what is to be removed
	name string
	temp string   // its name until then
	made []string // directories below the anchor, outer ones first
}

// stage writes all changes beside their files. Nothing that clients read has
// changed when it fails.
func stage(changes []*Change) (all []*staged, err error) {
	defer func() {
		if err != nil {
			discard(all)
			all = nil
		}
	}()
	for _, c := range changes {
		s := &staged{Change: c, name: filepath.Base(c.target)}
		all = append(all, s)
		if err := s.open(); err != nil {
			return all, fmt.Errorf("%s can't be written: %w", c.Path, err)
		}
		now, err := s.read()
		if gone := errors.Is(err, fs.ErrNotExist); gone == c.existed || err != nil && !gone || !bytes.Equal(now, c.before) {
			return all, fmt.Errorf("%s has changed since it was looked at; run this again", c.Path)
		}
		if c.Remove {
			continue
		}
		s.temp = "." + s.name + "." + rand.Text()[:8]
		if err := s.writeNew(s.temp, c.after); err != nil {
			return all, fmt.Errorf("%s can't be written: %w", c.Path, err)
		}
	}
	return all, nil
}

// open opens the directory of the file, and makes what is missing of it.
func (s *staged) open() (err error) {
	if s.top, err = osfile.OpenDir(s.anchor); err != nil {
		return err
	}
	rel, err := filepath.Rel(s.anchor, filepath.Dir(s.target))
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	if s.dir, err = s.top.Sub(rel); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.Remove {
		s.dir = nil
		return nil
	}
	perm := fs.FileMode(0o700)
	if s.project {
		perm = 0o755
	}
	below := "."
	for name := range strings.SplitSeq(rel, "/") {
		below = path.Join(below, name)
		if _, err := s.top.Lstat(below); errors.Is(err, fs.ErrNotExist) {
			s.made = append(s.made, below)
		}
	}
	s.dir, err = s.top.MakeSub(rel, perm)
	return err
}

func (s *staged) read() ([]byte, error) {
	if s.dir == nil {
		return nil, fs.ErrNotExist
	}
	return s.dir.ReadFile(s.name)
}

// writeNew writes a file that is not there yet.
func (s *staged) writeNew(name string, data []byte) error {
	f, err := s.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fill(f, data, s.mode); err != nil {
		return errors.Join(err, s.dir.Remove(name))
	}
	return nil
}

// writeNew does the same by a path in the server's own directories.
func writeNew(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fill(f, data, mode); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

func fill(f *os.File, data []byte, mode fs.FileMode) error {
	_, err := f.Write(data)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}

// commit gives the files their names. When one of them can't have it, those
// before it get back what they had.
func commit(all []*staged) error {
	defer closeAll(all)
	for i, s := range all {
		err := s.finish()
		if err == nil {
			continue
		}
		for _, past := range slices.Backward(all[:i]) {
			err = errors.Join(err, past.revert())
		}
		for _, s := range all[i:] {
			s.discard()
		}
		return err
	}
	return nil
}

func (s *staged) finish() error {
	return osfile.Retry(context.Background(), s.target, func() error {
		switch {
		case s.Remove && s.dir == nil:
			return nil
		case s.Remove:
			return s.dir.Remove(s.name)
		}
		return s.dir.Move(s.temp, s.dir, s.name)
	})
}

func (s *staged) revert() error {
	switch {
	case s.dir == nil:
		return nil
	case !s.existed:
		err := s.dir.Remove(s.name)
		s.removeDirs()
		return err
	}
	s.temp = "." + s.name + "." + rand.Text()[:8] + ".old"
	if err := s.writeNew(s.temp, s.before); err != nil {
		return err
	}
	return osfile.Retry(context.Background(), s.target, func() error { return s.dir.Move(s.temp, s.dir, s.name) })
}

// discard takes away what was staged.
func discard(all []*staged) {
	for _, s := range all {
		s.discard()
	}
	closeAll(all)
}

func (s *staged) discard() {
	if s.temp != "" {
		_ = s.dir.Remove(s.temp)
	}
	s.removeDirs()
}

// removeDirs removes the directories that were made and are empty, inner ones first.
func (s *staged) removeDirs() {
	for _, dir := range slices.Backward(s.made) {
		if s.top.Remove(filepath.FromSlash(dir)) != nil {
			return
		}
	}
}

// madePaths are the directories that were made.
func (s *staged) madePaths() (paths []string) {
	for _, dir := range s.made {
		paths = append(paths, filepath.Join(s.anchor, filepath.FromSlash(dir)))
	}
	return paths
}

func closeAll(all []*staged) {
	for _, s := range all {
		for _, d := range []*osfile.Dir{s.dir, s.top} {
			if d != nil {
				_ = d.Close()
			}
		}
	}
}
