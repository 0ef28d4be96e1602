package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mount"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// overlay is a layer over the folder: it has what differs, and hides by marks
// what is gone.
type overlay struct {
	w     *world
	mount *mount.Mount // while commands run
	lent  []spec.Lent  // what they read of the repository
}

func newOverlay(w *world) layer { return &overlay{w: w} }

func (o *overlay) path() string { return o.mount.Path() }

func (o *overlay) forReal(repositories []string) []string { return repositories }

func (o *overlay) seen() spec.Merged {
	return spec.Merged{Mount: o.mount, At: filepath.Join(o.w.dir, atDir), Lent: o.lent}
}

// renew makes the kernel forget names that were looked up: else they stay as they
// were then. Without a mount it knows none.
func (o *overlay) renew(_ view, live bool) error {
	if live {
		_ = o.mount.Refresh()
	}
	return nil
}

func (o *overlay) begin() (err error) {
	if err := osfile.RemoveAll(filepath.Join(o.w.dir, workDir, "work")); err != nil {
		return err
	}
	if o.lent, err = o.w.ownObjects(); err != nil {
		return err
	}
	var between []string
	if !o.w.fresh {
		between = o.w.out.layers(o.w.session, spec.MaxBetween)
	}
	o.mount, err = o.w.o.Box.Overlay(spec.Overlay{
		Lower: o.w.root, Between: between, Upper: o.w.upper(), Work: filepath.Join(o.w.dir, workDir),
	})
	if err != nil {
		o.w.o.Box.Worked("") // the next server tries it again
	}
	return err
}

func (o *overlay) end() {
	o.mount.Close()
	o.mount = nil
}

// follow has no more to say than what lies there: of the rest the kernel forgets
// nothing by itself, and tells nobody.
func (o *overlay) follow(string) bool { return false }

func (*overlay) met(string, stamp) bool { return true }

// original reports nothing: what lies in an overlay was changed, or looked like it.
func (o *overlay) original(string, fs.FileInfo) bool { return false }

func (o *overlay) shut(string) bool { return false }

func (o *overlay) stays(string) (why string, below bool) { return "", false }

func (o *overlay) hollows() map[stamp]bool { return nil }

func (o *overlay) replaces(rel string) bool {
	return opaque(filepath.Join(o.w.upper(), filepath.FromSlash(rel)))
}

func (o *overlay) whole(string) bool { return true }

func (o *overlay) keeps(string) bool { return false }

func (o *overlay) gone(rel string, seen map[string]bool) (names []gone) {
	if rel == "." || !opaque(filepath.Join(o.w.upper(), filepath.FromSlash(rel))) {
		return nil
	}
	low, err := os.ReadDir(filepath.Join(o.w.root, filepath.FromSlash(rel)))
	if err != nil {
		return nil
	}
	for _, e := range low {
		if !seen[e.Name()] {
			names = append(names, gone{e.Name(), e.IsDir()})
		}
	}
	return names
}

func (o *overlay) hide(rel string) error {
	return whiteout(filepath.Join(o.w.upper(), filepath.FromSlash(rel)))
}

func (o *overlay) drop(rel string) error {
	return osfile.RemoveAll(filepath.Join(o.w.upper(), filepath.FromSlash(rel)))
}

func (o *overlay) moved(string) {}

func (o *overlay) said() []string { return nil }

// parents makes the directories that a name is in, with what the folder has in
// them hidden as it was before: by one mark for all of it, or name by name.
func (o *overlay) parents(rel string) error {
	for i, c := range rel {
		if c != '/' {
			continue
		}
		dir := rel[:i]
		at, low := filepath.Join(o.w.upper(), filepath.FromSlash(dir)), filepath.Join(o.w.root, filepath.FromSlash(dir))
		info, err := os.Lstat(at)
		isDir := err == nil && info.IsDir()
		hides := err == nil && !isDir || isDir && opaque(at)
		if err == nil && !isDir {
			if err := os.Remove(at); err != nil {
				return err
			}
			delete(o.w.held, dir)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !isDir {
			mode := fs.FileMode(0o755)
			if below, err := os.Lstat(low); err == nil && below.IsDir() {
				mode = below.Mode().Perm()
			}
			if err := errors.Join(os.Mkdir(at, 0o700), os.Chmod(at, mode|0o700)); err != nil {
				return err
			}
		}
		if hides {
			if err := hideAll(at, low); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideAll hides each name of the directory low that at has not, and then makes
// at no longer hide all of them.
func hideAll(at, low string) error {
	entries, err := os.ReadDir(low)
	if err != nil {
		entries = nil // there is nothing to hide
	}
	for _, e := range entries {
		name := filepath.Join(at, e.Name())
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			if err := whiteout(name); err != nil {
				return err
			}
		}
	}
	if opaque(at) {
		return unix.Lremovexattr(at, opaqueName)
	}
	return nil
}

// reset gives a name of the upper layer up, so that the folder's own is seen, and
// the directories that were there for it alone.
func (o *overlay) reset(rel string) error {
	if err := o.parents(rel); err != nil {
		return err
	}
	if err := osfile.RemoveAll(filepath.Join(o.w.upper(), filepath.FromSlash(rel))); err != nil {
		return err
	}
	for dir := up(rel); dir != "."; dir = up(dir) {
		if _, err := os.Lstat(filepath.Join(o.w.root, filepath.FromSlash(dir))); err == nil {
			break
		}
		if os.Remove(filepath.Join(o.w.upper(), filepath.FromSlash(dir))) != nil {
			break // something else is in it
		}
	}
	return nil //nolint:nilerr // a directory that stays is in nobody's way
}

// try makes an overlay and does in it what commands do; that it can be mounted
// alone says nothing. The last step is a command.
func (m *Manager) try() (err error) {
	at, err := m.trialPlace()
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(at, &st); err != nil {
		return err
	}
	on := fmt.Sprintf("worlds on device %d", st.Dev)
	if m.o.Box.Works(on) {
		return nil
	}
	scratch, err := os.MkdirTemp(at, "try.")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, osfile.RemoveAll(scratch)) }()
	lower := filepath.Join(scratch, "lower")
	if err := errors.Join(os.MkdirAll(filepath.Join(lower, "dir"), 0o700), os.WriteFile(filepath.Join(lower, "dir", "file"), nil, 0o600)); err != nil {
		return err
	}
	w := &world{o: m.o, root: lower, dir: scratch}
	for _, name := range []string{upperDir, workDir, atDir} {
		if err := os.Mkdir(filepath.Join(scratch, name), 0o700); err != nil {
			return err
		}
	}
	mount, err := m.o.Box.Overlay(spec.Overlay{Lower: lower, Upper: w.upper(), Work: filepath.Join(scratch, workDir)})
	if err != nil {
		return err
	}
	defer mount.Close()
	cmd, err := m.o.Box.Command(context.Background(), spec.Spec{
		Root: lower, Env: spec.Environ(os.Environ()), Merged: &spec.Merged{Mount: mount, At: filepath.Join(scratch, atDir)},
	}, lower, "sh", "-c", "rm -r dir && mkdir dir && echo made > dir/new && test ! -e dir/file")
	if err == nil {
		err = cmd.Run()
	}
	if err != nil {
		return fmt.Errorf("a command can't work in an overlay: %w", err)
	}
	if _, err := os.Stat(filepath.Join(lower, "dir", "file")); err != nil {
		return errors.New("an overlay does not keep what is written from the directory below")
	}
	if !opaque(filepath.Join(w.upper(), "dir")) {
		return errors.New("the kernel does not mark a directory that takes the place of another")
	}
	m.o.Box.Worked(on)
	return nil
}
