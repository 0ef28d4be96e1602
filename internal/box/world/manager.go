package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mount"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// Manager has the worlds of a workspace, one for each session and folder.
type Manager struct {
	o Options

	tried map[Kind]func() error // each once

	mu     sync.Mutex
	worlds map[key]*world
	large  map[key]error  // why there is none
	spare  map[key]*world // copies that no session has
	held   map[string]*outputs
	shared []shared
}

type key struct {
	session, root string
	kind          Kind
}

// shared is a directory that commands see below a layer of their own.
type shared struct {
	mount *mount.Mount
	lock  *os.File
}

// New returns a Manager. Nothing is tried before the first use.
func New(o Options) *Manager {
	o.Limits.Files, o.Limits.Bytes = cmp.Or(o.Limits.Files, defaultFiles), cmp.Or(o.Limits.Bytes, defaultBytes)
	o.Copied = Limits{cmp.Or(o.Copied.Files, defaultCopiedFiles), cmp.Or(o.Copied.Bytes, defaultCopiedBytes)}
	o.Output = Limits{cmp.Or(o.Output.Files, defaultOutputFiles), cmp.Or(o.Output.Bytes, defaultOutputBytes)}
	o.Dependencies = Limits{cmp.Or(o.Dependencies.Files, defaultDependencyFiles), cmp.Or(o.Dependencies.Bytes, defaultDependencyBytes)}
	if o.Tracked == nil {
		o.Tracked = func(string) func(string) bool { return func(string) bool { return false } }
	}
	if o.Fail == nil {
		o.Fail = func(string) {}
	}
	m := &Manager{o: o, worlds: map[key]*world{}, large: map[key]error{}, spare: map[key]*world{}, held: map[string]*outputs{}}
	m.tried = map[Kind]func() error{Overlay: sync.OnceValue(m.try), Copy: sync.OnceValue(m.tryCopy), SeparateCopy: sync.OnceValue(m.trySeparateCopy)}
	return m
}

// Usable finds out, once, whether this machine can have worlds of a kind; it says
// why not.
func (m *Manager) Usable(kind Kind) error {
	if try := m.tried[kind]; try != nil {
		return try()
	}
	return fmt.Errorf("there are no worlds of the kind %q", string(kind))
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

// output are the entries of a folder.
func (m *Manager) output(root string) (*outputs, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outputOf(real)
}

// outputOf is output of a folder that is named without links. m.mu is held.
func (m *Manager) outputOf(root string) (_ *outputs, err error) {
	if m.held[root] == nil {
		m.held[root], err = openOutputs(root)
		if err != nil {
			delete(m.held, root)
			return nil, err
		}
	}
	return m.held[root], nil
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
	if of := (key{root: k.root, kind: k.kind}); m.spare[of] != nil {
		w := m.spare[of]
		delete(m.spare, of)
		w.session = k.session
		m.worlds[k] = w
		return w, nil
	}
	out, err := m.outputOf(k.root)
	if err != nil {
		return nil, err
	}
	w, err := m.open(k.root, k.kind)
	if err == nil {
		w.session, w.out = k.session, out
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
	for kind := range m.tried {
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
			of := key{root: k.root, kind: k.kind}
			switch again := w.recycled(); {
			case again == nil:
				w.close()
			case m.spare[of] == nil:
				m.spare[of] = again
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
	for of, w := range m.spare {
		w.close()
		delete(m.spare, of)
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
		if err != nil || root != "" && (real == root || below(filepath.ToSlash(real), filepath.ToSlash(root))) {
			continue
		}
		if isPrivate(real) {
			return real, nil
		}
	}
	return "", errors.New("there is no private directory outside of the workspace to keep what commands change; set XDG_CACHE_HOME to one")
}

// fresh begins the name of a world that is not locked yet.
const fresh = "new."

// lentIn is a directory of a folder for what commands read of it in another place: they may
// see several folders.
func lentIn(root string) string { return spec.LentDir + "/" + strings.TrimSuffix(prefix(root), ".") }

// prefix begins the names of the worlds of a folder.
func prefix(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8]) + "."
}

func (m *Manager) newWorld(root, dir string, kind Kind) *world {
	w := &world{o: m.o, kind: kind, root: root, dir: dir, held: map[string]*held{}, made: map[string]node{}, left: map[string]bool{}, unsettled: map[string]int{}, told: map[string]string{}}
	if kind == Overlay {
		w.layer = newOverlay(w)
	} else {
		w.layer = &folderCopy{w: w}
	}
	return w
}

// open makes a world.
func (m *Manager) open(root string, kind Kind) (_ *world, err error) {
	at, err := place(root)
	if err != nil {
		return nil, err
	}
	made, err := os.MkdirTemp(at, fresh+prefix(root))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(at, strings.TrimPrefix(filepath.Base(made), fresh))
	w := m.newWorld(root, dir, kind)
	defer func() {
		if err != nil {
			w.close()
			_ = os.Remove(made) // which has another name by now, or nothing in it
		}
	}()
	if w.lock, err = lockDir(made); err != nil {
		return nil, fmt.Errorf("%s can't be locked: %w", made, err)
	}
	if err := os.Rename(made, dir); err != nil { // only now does Sweep find it
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

// Sweep removes the worlds of a folder that killed servers left. Their output is held.
func (m *Manager) Sweep(root string) error {
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
		switch info, err := os.Lstat(dir); {
		case err != nil:
			continue // it went with its directory
		case !info.IsDir():
			removeLock(dir)
			continue
		}
		if l, lockErr := lockDir(dir); lockErr == nil {
			if failed := m.rescue(real, dir); failed != nil {
				err = errors.Join(err, fmt.Errorf("output in %s stays there: %w", dir, failed))
			} else {
				err = errors.Join(err, osfile.RemoveAll(dir))
			}
			l.release()
		}
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
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		l, err := lockDir(dir)
		if errors.Is(err, filelock.ErrLocked) {
			return true
		}
		l.release()
	}
	return false
}
