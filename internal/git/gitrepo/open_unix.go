//go:build unix

package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
)

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
		if !ok || ours(st.Uid) || gitconfig.Safe(r.Dir) {
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
