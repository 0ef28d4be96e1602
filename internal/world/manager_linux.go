package world

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/userdirs"
)

// Manager has the worlds of a workspace, one for each session and folder.
type Manager struct {
	o Options

	once, onceCopy     sync.Once
	usable, usableCopy error

	mu     sync.Mutex
	worlds map[key]*world
	large  map[key]error     // why there is none
	spare  map[string]*world // copies that no session has, by folder
	shared []shared
}

type key struct {
	session, root string
	kind          Kind
}

// New returns a Manager. Nothing is tried before the first use.
func New(o Options) *Manager {
	o.Limits.Files, o.Limits.Bytes = cmp.Or(o.Limits.Files, defaultFiles), cmp.Or(o.Limits.Bytes, defaultBytes)
	o.Copied = Limits{cmp.Or(o.Copied.Files, defaultCopiedFiles), cmp.Or(o.Copied.Bytes, defaultCopiedBytes)}
	o.Output = Limits{cmp.Or(o.Output.Files, defaultOutputFiles), cmp.Or(o.Output.Bytes, defaultOutputBytes)}
	if o.Tracked == nil {
		o.Tracked = func(string) func(string) bool { return func(string) bool { return false } }
	}
	if o.Fail == nil {
		o.Fail = func(string) {}
	}
	return &Manager{o: o, worlds: map[key]*world{}, large: map[key]error{}, spare: map[string]*world{}}
}

// Usable finds out, once, whether this machine can have worlds of a kind; it says
// why not.
func (m *Manager) Usable(kind Kind) error {
	if kind == Shadow {
		m.onceCopy.Do(func() { m.usableCopy = m.tryCopy() })
		return m.usableCopy
	}
	m.once.Do(func() { m.usable = m.try() })
	return m.usable
}

// Begin makes what a command is about to see, and keeps it until End.
func (m *Manager) Begin(r Request) (*Run, error) {
	r.Kind = cmp.Or(r.Kind, Overlay)
	if err := m.Usable(r.Kind); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(r.Root)
	if err != nil {
		return nil, err
	}
	k := key{r.Session, real, r.Kind}
	w, err := m.world(k)
	if err != nil {
		return nil, err
	}
	run, err := w.begin(r)
	if errors.As(err, new(*NoCopyError)) {
		m.giveUp(k, w, err)
	}
	return run, err
}

// giveUp gives a world up that can't be had: it is not tried again for the session.
func (m *Manager) giveUp(k key, w *world, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.worlds[k] == w {
		delete(m.worlds, k)
		m.large[k] = err
	}
	w.close()
}

func (m *Manager) world(k key) (*world, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.worlds[k]; w != nil {
		return w, nil
	}
	if err := m.large[k]; err != nil {
		return nil, err
	}
	if w := m.spare[k.root]; w != nil && k.kind == Shadow {
		delete(m.spare, k.root)
		m.worlds[k] = w
		return w, nil
	}
	w, err := m.open(k.root, k.kind)
	if err == nil {
		m.worlds[k] = w
	}
	return w, err
}

// IsDir reports whether name, relative to root, is a directory for a session's
// commands that the folder itself need not have.
func (m *Manager) IsDir(session, root, name string) bool {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kind := range []Kind{Overlay, Shadow} {
		if w := m.worlds[key{session, real, kind}]; w != nil {
			if info, err := os.Lstat(filepath.Join(w.upper(), name)); err == nil && info.IsDir() {
				return true
			}
		}
	}
	return false
}

// CloseSession gives up the worlds of a session.
func (m *Manager) CloseSession(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, w := range m.worlds {
		if k.session == session {
			delete(m.worlds, k)
			switch again := w.recycled(); {
			case again == nil:
				w.close()
			case m.spare[k.root] == nil:
				m.spare[k.root] = again
			default:
				again.close()
			}
		}
	}
	maps.DeleteFunc(m.large, func(k key, _ error) bool { return k.session == session })
}

// Close gives up all worlds. No command runs any more.
func (m *Manager) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, w := range m.worlds {
		w.close()
		delete(m.worlds, k)
	}
	for root, w := range m.spare {
		w.close()
		delete(m.spare, root)
	}
	for _, s := range m.shared {
		s.mount.Close()
		s.lock.Close()
	}
	m.shared = nil
}

// place is the directory in which the worlds of a folder are: not in the folder,
// and nobody else's.
func place(root string) (string, error) {
	cache, err := userdirs.Here().Dir(userdirs.Cache)
	if err != nil {
		cache = ""
	}
	for _, dir := range []string{cache, filepath.Join(os.TempDir(), "sidecar-ls")} {
		if !filepath.IsAbs(dir) {
			continue
		}
		dir = filepath.Join(dir, "worlds")
		if os.MkdirAll(dir, 0o700) != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || root != "" && (real == root || strings.HasPrefix(real, root+"/")) {
			continue
		}
		var st unix.Stat_t
		if unix.Lstat(real, &st) == nil && int(st.Uid) == os.Geteuid() && st.Mode&0o022 == 0 {
			return real, nil
		}
	}
	return "", errors.New("there is no private directory outside of the workspace to keep what commands change; set XDG_CACHE_HOME to one")
}

// prefix begins the names of the worlds of a folder.
func prefix(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8]) + "."
}

func (m *Manager) newWorld(root, dir string, kind Kind) *world {
	w := &world{o: m.o, kind: kind, root: root, dir: dir, held: map[string]*held{}, made: map[string]node{}, left: map[string]bool{}, unsettled: map[string]int{}}
	if kind == Shadow {
		w.layer = &shadow{w: w}
	} else {
		w.layer = &overlay{w: w}
	}
	return w
}

// open makes a world.
func (m *Manager) open(root string, kind Kind) (_ *world, err error) {
	at, err := place(root)
	if err != nil {
		return nil, err
	}
	fresh, err := os.MkdirTemp(at, "new."+prefix(root))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(at, strings.TrimPrefix(filepath.Base(fresh), "new."))
	w := m.newWorld(root, dir, kind)
	defer func() {
		if err != nil {
			w.close()
			_ = os.Remove(fresh) // which has another name by now, or nothing in it
		}
	}()
	if w.lock, err = os.Open(fresh); err != nil {
		return nil, err
	}
	if err := unix.Flock(int(w.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("%s can't be locked: %w", fresh, err)
	}
	if err := os.Rename(fresh, dir); err != nil { // only now does Sweep find it
		return nil, err
	}
	for _, name := range []string{upperDir, workDir, atDir, trashDir} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(root)
	if err == nil {
		err = os.Chmod(w.upper(), info.Mode().Perm()) // it is the folder's own, for commands
	}
	return w, err
}

// Sweep removes the worlds of a folder that killed servers left.
func Sweep(root string) error {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	at, err := place(real)
	if err != nil {
		return nil //nolint:nilerr // then there are none
	}
	left, err := filepath.Glob(filepath.Join(at, prefix(real)+"*"))
	for _, dir := range left {
		f, openErr := os.Open(dir)
		if openErr != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			err = errors.Join(err, osfile.RemoveAll(dir))
		}
		f.Close()
	}
	return err
}

// InUse reports whether a process has a world that it works in, or caches that its
// commands share.
func InUse() bool {
	at, err := place("")
	if err != nil {
		return false
	}
	dirs, _ := filepath.Glob(filepath.Join(at, "*"))
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return true
		}
	}
	return false
}

// trialPlace is where a kind of world is tried, or why none can be had.
func (m *Manager) trialPlace() (string, error) {
	if m.o.Box == nil {
		return "", errors.New("commands can't be confined here")
	}
	level, err := m.o.Box.LevelFor(sandbox.Auto)
	if err != nil {
		return "", err
	}
	if level < sandbox.Bubblewrap {
		return "", errors.New("it takes bubblewrap: " + m.o.Box.Status().Why)
	}
	return place("")
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
	mount, err := m.o.Box.Overlay(sandbox.Overlay{Lower: lower, Upper: w.upper(), Work: filepath.Join(scratch, workDir)})
	if err != nil {
		return err
	}
	defer mount.Close()
	cmd, err := m.o.Box.Command(context.Background(), sandbox.Spec{
		Root: lower, Env: sandbox.Environ(os.Environ()), Merged: &sandbox.Merged{Mount: mount, At: filepath.Join(scratch, atDir)},
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
