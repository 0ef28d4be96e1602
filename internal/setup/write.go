package setup

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/osfile"
)

// staged is a change that is ready: what is left to do is to give a file its
// name.
type staged struct {
	*Change
	temp string
	made []string // directories, outer ones first
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
		now, err := os.ReadFile(c.target)
		if gone := errors.Is(err, fs.ErrNotExist); gone == c.existed || err != nil && !gone || !bytes.Equal(now, c.before) {
			return all, fmt.Errorf("%s has changed since it was looked at; run this again", c.Path)
		}
		s := &staged{Change: c}
		all = append(all, s)
		if c.Remove {
			continue
		}
		if err := s.makeDirs(); err != nil {
			return all, err
		}
		s.temp = filepath.Join(filepath.Dir(c.target), "."+filepath.Base(c.target)+"."+rand.Text()[:8])
		if err := writeNew(s.temp, c.after, c.mode); err != nil {
			return all, fmt.Errorf("%s can't be written: %w", c.Path, err)
		}
	}
	return all, nil
}

// makeDirs makes the directories that are missing.
func (s *staged) makeDirs() error {
	var missing []string
	for dir := filepath.Dir(s.target); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	perm := fs.FileMode(0o700)
	if s.project {
		perm = 0o755
	}
	for _, dir := range slices.Backward(missing) {
		if err := os.Mkdir(dir, perm); err != nil {
			return err
		}
		s.made = append(s.made, dir)
	}
	return nil
}

// writeNew writes a file that is not there yet.
func writeNew(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// commit gives the files their names. When one of them can't have it, those
// before it get back what they had.
func commit(all []*staged) error {
	for i, s := range all {
		err := s.finish()
		if err == nil {
			continue
		}
		for _, past := range slices.Backward(all[:i]) {
			err = errors.Join(err, past.revert())
		}
		discard(all[i:])
		return err
	}
	return nil
}

func (s *staged) finish() error {
	if s.Remove {
		return osfile.Retry(context.Background(), s.target, func() error { return os.Remove(s.target) })
	}
	return osfile.Rename(context.Background(), s.temp, s.target)
}

func (s *staged) revert() error {
	if !s.existed {
		err := os.Remove(s.target)
		s.removeDirs(s.made)
		return err
	}
	s.temp += ".old"
	if s.temp == ".old" {
		s.temp = s.target + ".old"
	}
	if err := writeNew(s.temp, s.before, s.mode); err != nil {
		return err
	}
	return osfile.Rename(context.Background(), s.temp, s.target)
}

// discard takes away what was staged.
func discard(all []*staged) {
	for _, s := range all {
		if s.temp != "" {
			_ = os.Remove(s.temp)
		}
		s.removeDirs(s.made)
	}
}

// removeDirs removes directories that are empty, inner ones first.
func (*staged) removeDirs(dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		if os.Remove(dir) != nil {
			return
		}
	}
}
