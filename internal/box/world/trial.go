package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Which kinds of worlds this machine can have is tried out, once; that of an overlay is
// in overlay_linux.go.

// trialPlace is where a kind of world is tried, or why none can be had.
func (m *Manager) trialPlace() (string, error) {
	if m.o.Box == nil {
		return "", errors.New("commands can't be confined here")
	}
	level, err := m.o.Box.LevelFor(spec.Auto)
	if err != nil {
		return "", err
	}
	if level < spec.Bubblewrap {
		return "", errors.New("it takes bubblewrap: " + m.o.Box.Status().Why)
	}
	return place("")
}

// tryCopy finds out whether a command can have a directory in the place of its
// workspace. The last step is a command.
func (m *Manager) tryCopy() (err error) {
	at, err := m.trialPlace()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(at, "try.")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, osfile.RemoveAll(scratch)) }()
	root, tree := filepath.Join(scratch, "root"), filepath.Join(scratch, upperDir)
	if err := errors.Join(os.Mkdir(root, 0o700), os.Mkdir(tree, 0o700), os.WriteFile(filepath.Join(tree, "file"), nil, 0o600)); err != nil {
		return err
	}
	cmd, err := m.o.Box.Command(context.Background(), spec.Spec{Root: root, Env: spec.Environ(os.Environ()), Merged: &spec.Merged{At: tree}},
		root, "sh", "-c", "test -e file && echo made > new")
	if err == nil {
		err = cmd.Run()
	}
	if err != nil {
		return fmt.Errorf("a command can't work in a copy: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(tree, "new")); err != nil {
		return errors.New("what a command writes in a copy does not come to it")
	}
	return nil
}

// trySeparateCopy finds out whether there is a place for copies.
func (m *Manager) trySeparateCopy() error {
	at, err := place("")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(at, "try.")
	if err != nil {
		return err
	}
	l, err := lockDir(dir)
	l.release()
	if err != nil {
		err = fmt.Errorf("%s can't be locked: %w", dir, err)
	}
	return errors.Join(err, os.Remove(dir))
}
