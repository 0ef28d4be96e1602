package world

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
)

// shared is a directory that commands see below a layer of their own.
type shared struct {
	mount *sandbox.Mount
	lock  *os.File
}

// Share shows commands the directory lower as on, below their home. What they change
// there is kept in dir, which exists, until somebody removes it. One server at a time has it.
func (m *Manager) Share(lower, dir, on string) (_ sandbox.Layer, err error) {
	if err := m.Usable(); err != nil {
		return sandbox.Layer{}, err
	}
	s := shared{}
	if s.lock, err = os.Open(dir); err != nil {
		return sandbox.Layer{}, err
	}
	defer func() {
		if err != nil {
			s.lock.Close()
		}
	}()
	if unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return sandbox.Layer{}, errors.New("another server has it")
	}
	for _, name := range []string{upperDir, workDir, atDir} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return sandbox.Layer{}, err
		}
	}
	s.mount, err = m.o.Box.Overlay(sandbox.Overlay{Lower: lower, Upper: SharedIn(dir), Work: filepath.Join(dir, workDir)})
	if err != nil {
		return sandbox.Layer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shared = append(m.shared, s)
	return sandbox.Layer{Mount: s.mount, At: filepath.Join(dir, atDir), On: on}, nil
}

// SharedIn is where what commands changed is kept in the directory of a Share.
func SharedIn(dir string) string { return filepath.Join(dir, upperDir) }
