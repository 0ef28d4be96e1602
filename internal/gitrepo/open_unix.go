//go:build unix

package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// openRegular opens a regular file and never waits for the other end of a pipe.
func openRegular(file string) (*os.File, error) { return openFlags(file, 0) }

// openNoFollow is openRegular for what must not be a link.
func openNoFollow(file string) (*os.File, error) { return openFlags(file, syscall.O_NOFOLLOW) }

func openFlags(file string, flags int) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: file, Err: syscall.EINVAL}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func deviceOf(dir string) (uint64, bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return uint64(st.Dev), ok //nolint:unconvert // it is signed on some systems
}

// checkOwner refuses a repository of another user, as git does: settings in
// it name programs. Directories that the user's own settings list in
// safe.directory are taken.
func (r *Repo) checkOwner() error {
	for _, path := range [...]string{r.Dir, filepath.Join(r.Dir, ".git"), r.GitDir} {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || ours(st.Uid) || declaredSafe(r.Dir) {
			continue
		}
		return fmt.Errorf("%s: %w: it belongs to another user; git config --global --add safe.directory %q allows it", path, ErrRefused, r.Dir)
	}
	return nil
}

// ours reports whether a file of uid is the user's: root also takes those of
// whoever became root by sudo.
func ours(uid uint32) bool {
	me := os.Geteuid()
	if int64(uid) == int64(me) {
		return true
	}
	sudo, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32)
	return me == 0 && err == nil && uint32(sudo) == uid
}
