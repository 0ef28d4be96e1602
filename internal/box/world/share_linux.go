package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Share shows commands the directory lower as on, below their home. What they change
// there is kept in the directory upper, for the folder root alone and until that is
// gone. One server at a time has it.
func (m *Manager) Share(root, lower, on string) (layer spec.Layer, upper string, err error) {
	fail := func(err error) (spec.Layer, string, error) { return spec.Layer{}, "", err }
	if err := m.Usable(Overlay); err != nil {
		return fail(err)
	}
	dir, err := layersOf(root)
	if err != nil {
		return fail(err)
	}
	dir = filepath.Join(dir, layerName(on))
	upper = filepath.Join(dir, upperDir)
	for _, name := range []string{upper, filepath.Join(dir, workDir), filepath.Join(dir, atDir)} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return fail(err)
		}
	}
	s := shared{}
	if s.lock, err = os.Open(dir); err != nil {
		return fail(err)
	}
	if unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		s.lock.Close()
		return fail(errors.New("another server has it"))
	}
	s.mount, err = m.o.Box.Overlay(spec.Overlay{Lower: lower, Upper: upper, Work: filepath.Join(dir, workDir)})
	if err != nil {
		s.lock.Close()
		return fail(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shared = append(m.shared, s)
	return spec.Layer{Mount: s.mount, At: filepath.Join(dir, atDir), On: on}, upper, nil
}

// layerName is the directory of a layer by its place in the home.
func layerName(on string) string {
	return strings.ReplaceAll(strings.TrimPrefix(on, "."), "/", "-")
}

// Own are directories that one session has for itself. They go with Close, or are swept
// by a later server if this one is killed.
type Own struct {
	m      *Manager
	dir    string
	lock   *os.File
	mounts []interface{ Close() }
}

// ownPrefix begins the names of their directories.
const ownPrefix = "session."

// Own begins them, for a session in a folder.
func (m *Manager) Own(root string) (_ *Own, err error) {
	at, err := layersOf(root)
	if err != nil {
		return nil, err
	}
	sweepOwn(at)
	made, err := os.MkdirTemp(at, fresh+ownPrefix)
	if err != nil {
		return nil, err
	}
	o := &Own{m: m, dir: filepath.Join(at, strings.TrimPrefix(filepath.Base(made), fresh))}
	if o.lock, err = os.Open(made); err == nil {
		if err = unix.Flock(int(o.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			err = os.Rename(made, o.dir) // only now is it swept if nobody has it
		}
	}
	if err != nil {
		if o.lock != nil {
			o.lock.Close()
		}
		return nil, errors.Join(err, os.Remove(made))
	}
	return o, nil
}

// sweepOwn removes the layers of sessions whose server was killed.
func sweepOwn(at string) {
	left, _ := filepath.Glob(filepath.Join(at, ownPrefix+"*"))
	for _, dir := range left {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = osfile.RemoveAll(dir)
		}
		f.Close()
	}
}

// Plain is an empty directory of the session, where there are no overlays.
func (o *Own) Plain() (string, error) {
	dir := filepath.Join(o.dir, "home")
	return dir, os.Mkdir(dir, 0o700)
}

// Add shows the session's commands the directory lower as on, below their home, with the layer
// of Share over it. upper holds the session's changes.
func (o *Own) Add(root, lower, on string) (layer spec.Layer, upper string, err error) {
	name := layerName(on)
	dir := filepath.Join(o.dir, name)
	if name == "" {
		dir = filepath.Join(o.dir, "home")
	}
	upper = filepath.Join(dir, upperDir)
	for _, name := range []string{upper, filepath.Join(dir, workDir), filepath.Join(dir, atDir)} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return spec.Layer{}, "", err
		}
	}
	want := spec.Overlay{Lower: lower, Upper: upper, Work: filepath.Join(dir, workDir)}
	if name != "" {
		if of, err := layersOf(root); err == nil {
			if shared := filepath.Join(of, name, upperDir); spec.Exists(shared) {
				want.Between = []string{shared}
			}
		}
	}
	mount, err := o.m.o.Box.Overlay(want)
	if err != nil && want.Between != nil { // a kernel with an index refuses what another overlay writes
		want.Between = nil
		mount, err = o.m.o.Box.Overlay(want)
	}
	if err != nil {
		return spec.Layer{}, "", err
	}
	o.mounts = append(o.mounts, mount)
	return spec.Layer{Mount: mount, At: filepath.Join(dir, atDir), On: on}, upper, nil
}

// Close gives the layers up, and what is in them. No command has them any more.
func (o *Own) Close() error {
	for _, mount := range o.mounts {
		mount.Close()
	}
	defer o.lock.Close()
	return osfile.RemoveAll(o.dir)
}

// rootFile has the path of the folder that layers are of.
const rootFile = "folder"

// layersOf is the directory of a folder's layers. Those of folders that are gone are
// removed, but for what a server still has. Servers do this one at a time: one that
// begins has written only a part of which folder it is.
func layersOf(root string) (string, error) {
	at, err := place(root)
	if err != nil {
		return "", err
	}
	at = filepath.Join(filepath.Dir(at), "layers")
	dir := filepath.Join(at, strings.TrimSuffix(prefix(root), "."))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	one, err := os.Open(at)
	if err != nil {
		return "", err
	}
	defer one.Close()
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(one.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return "", fmt.Errorf("%s can't be locked: %w", at, err)
	}
	all, err := filepath.Glob(filepath.Join(at, "*", rootFile))
	for _, name := range all {
		of, readErr := os.ReadFile(name)
		if _, gone := os.Lstat(string(of)); readErr == nil && errors.Is(gone, os.ErrNotExist) && filepath.Dir(name) != dir && !inUse(filepath.Dir(name)) {
			err = errors.Join(err, osfile.RemoveAll(filepath.Dir(name)))
		}
	}
	return dir, errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, rootFile), []byte(root), 0o600))
}

// inUse reports whether a server has a layer of a folder.
func inUse(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return false
		}
		defer f.Close()
		return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
	})
}
