//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"strconv"
	"syscall"

	found "github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// owner is whose a file is, and whether that is an administrator: root.
func (m MachineFile) owner(_ string, info fs.FileInfo) (owner string, admin bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "somebody", false
	}
	id := strconv.FormatUint(uint64(s.Uid), 10)
	return "the user " + id, s.Uid == 0 || id == m.Owner || found.UnmappedRoot(s.Uid)
}

// open says that others than administrators can write a file or directory. In a sticky
// directory they can't replace what is not theirs.
func (m MachineFile) open(path string, info fs.FileInfo, sticky bool) string {
	mode := info.Mode()
	if sticky && mode&fs.ModeSticky != 0 {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if group := mode.Perm()&0o020 != 0 && (!ok || s.Gid != 0); mode.Perm()&0o002 != 0 || group {
		return fmt.Sprintf("%s can be written by others (mode %04o): run chmod go-w on it", path, mode.Perm())
	}
	return ""
}
