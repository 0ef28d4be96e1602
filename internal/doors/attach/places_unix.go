//go:build unix

package attach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/localsock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// listen takes a host's name, in every directory where that is possible. free gives
// it back after the listeners are closed.
func listen(base string) (all []net.Listener, free func(), err error) {
	var locks []*os.File
	free = func() {
		for _, lock := range locks {
			_ = os.Remove(lock.Name())
			_ = lock.Close()
		}
	}
	var errs []error
	for _, p := range socketDirs() {
		lock, err := p.claim(base)
		switch {
		case err == nil:
			locks = append(locks, lock)
		case errors.Is(err, ErrTaken):
			free()
			return nil, nil, err
		default:
			errs = append(errs, err)
		}
	}
	for _, lock := range locks {
		l, err := bind(strings.TrimSuffix(lock.Name(), lockEnd) + socketEnd)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, l)
	}
	if len(all) == 0 {
		free()
		return nil, nil, errors.Join(errs...)
	}
	return all, free, nil
}

// bind makes a socket. Whoever calls it holds the lock of that name, so one
// that is there is nobody's.
func bind(name string) (net.Listener, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return localsock.Listen(name)
}

// places are the sockets at which a host of this name may be.
func places(base string) (all []string) {
	for _, p := range socketDirs() {
		if p.private() == nil {
			all = append(all, filepath.Join(p.dir, base+socketEnd))
		}
	}
	return all
}

// names are those that hosts of this user may have.
func names() (all []string) {
	for _, p := range socketDirs() {
		if p.private() != nil {
			continue
		}
		files, err := os.ReadDir(p.dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if base, ok := strings.CutSuffix(f.Name(), socketEnd); ok && !slices.Contains(all, base) {
				all = append(all, base)
			}
		}
	}
	return all
}

// dial connects to a socket of this user.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	info, err := os.Lstat(socket)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrNone
	case err != nil:
		return nil, err
	case info.Mode().Type() != os.ModeSocket || !mine(info):
		return nil, fmt.Errorf("%s is not a socket of this user", socket)
	}
	c, err := localsock.Dial(ctx, socket)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: what left %s has ended", ErrNone, socket)
	}
	return c, err
}

// maxPath is the longest path of a socket on the systems that there are.
const maxPath = 100

// The ends of the names of a host's files.
const (
	socketEnd = ".sock"
	lockEnd   = ".lock"
)

// socketDir is a directory for the sockets of this user.
type socketDir struct {
	dir     string
	parents bool // are made too
}

// socketDirs are all that there may be, in an order that is the same for every
// process. A program starts others with as much of its environment as it likes,
// so what lies only where the environment says is not found by all of them: a
// host is in every directory, and who looks for one looks in each. The first
// two are the same whatever the environment is.
func socketDirs() []socketDir {
	uid := strconv.Itoa(os.Getuid())
	all := []socketDir{
		{dir: filepath.Join("/run/user", uid, "sidecar-ls")},
		{dir: "/tmp/sidecar-ls-" + uid},
		{dir: filepath.Join(os.TempDir(), "sidecar-ls-"+uid)},
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, socketDir{dir: filepath.Join(dir, "sidecar-ls")})
	}
	if dir, err := userdirs.Here().Dir(userdirs.Cache); err == nil {
		all = append(all, socketDir{filepath.Join(dir, "run"), true})
	}
	all = slices.DeleteFunc(all, func(p socketDir) bool { return len(p.dir) > maxPath-len("/0123456789abcdef01234567"+socketEnd) })
	slices.SortFunc(all, func(a, b socketDir) int { return strings.Compare(a.dir, b.dir) })
	return slices.CompactFunc(all, func(a, b socketDir) bool { return a.dir == b.dir })
}

// AnyHost reports whether a process that has the same caches is a host, of whatever
// workspace.
func AnyHost() (bool, error) {
	dirs := socketDirs()
	if cache, err := userdirs.Here().Dir(userdirs.Cache); err == nil {
		in := func(p socketDir) bool { return p.dir == filepath.Join(cache, "run") }
		if slices.ContainsFunc(dirs, in) { // each of them is there too
			dirs = slices.DeleteFunc(dirs, func(p socketDir) bool { return !in(p) })
		}
	}
	for _, p := range dirs {
		held, err := p.anyHeld()
		if held || err != nil {
			return held, err
		}
	}
	return false, nil
}

// anyHeld reports whether a host has a name in the directory.
func (p socketDir) anyHeld() (bool, error) {
	if p.private() != nil {
		return false, nil // then no host uses it
	}
	release, err := lockDir(p.dir) // as a sweep holds names for a moment
	if err != nil {
		return false, err
	}
	defer release()
	locks, err := filepath.Glob(filepath.Join(p.dir, "*"+lockEnd))
	if err != nil {
		return false, err
	}
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		err = filelock.TryLock(f)
		f.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return true, nil
		}
	}
	return false, nil
}

// prepare makes the directory if it is not there.
func (p socketDir) prepare() error {
	if p.parents {
		if err := os.MkdirAll(filepath.Dir(p.dir), 0o700); err != nil {
			return err
		}
	}
	if err := os.Mkdir(p.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return p.private()
}

// private fails for a directory in which others could put a socket.
func (p socketDir) private() error {
	info, err := os.Lstat(p.dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !mine(info):
		return fmt.Errorf("%s is not a directory of this user", p.dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s can be reached by others (mode %v); make it 0700", p.dir, info.Mode().Perm())
	}
	return nil
}

// claim locks a host's name in the directory. It fails with ErrTaken while another
// process has it.
func (p socketDir) claim(base string) (*os.File, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	// A sweep holds the names of hosts that have ended for a moment: nobody may
	// take that for a host.
	release, err := lockDir(p.dir)
	if err != nil {
		return nil, err
	}
	defer release()
	lock, err := lockFile(filepath.Join(p.dir, base+lockEnd))
	if err == nil {
		p.sweep()
	}
	return lock, err
}

// sweep removes what hosts left that were killed. The directory is locked.
func (p socketDir) sweep() {
	files, err := os.ReadDir(p.dir)
	if err != nil {
		return // they are only in nobody's way
	}
	for _, f := range files {
		base, ok := strings.CutSuffix(f.Name(), socketEnd)
		if !ok {
			base, ok = strings.CutSuffix(f.Name(), lockEnd)
		}
		if !ok {
			continue
		}
		name := filepath.Join(p.dir, base)
		lock, err := lockFile(name + lockEnd)
		if err != nil {
			continue // its host lives
		}
		_ = os.Remove(name + socketEnd)
		_ = os.Remove(name + lockEnd)
		_ = lock.Close()
	}
}
