//go:build unix

package ownstate

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether this user wrote a file. On a file system that calls all users one, what is made now has that owner, too.
func (v *vetting) mine(info fs.FileInfo) bool {
	owner, ok := ownerOf(info)
	if !ok || owner == uint32(os.Geteuid()) { //nolint:gosec // a user's id
		return true
	}
	if err := v.root.Mkdir(probe, 0o700); err != nil {
		return false
	}
	made, err := v.root.Lstat(probe)
	_ = v.root.Remove(probe)
	if err != nil {
		return false
	}
	now, ok := ownerOf(made)
	return ok && now == owner
}

// probe is made and removed where a file has another owner.
const probe = ".whose"

func ownerOf(info fs.FileInfo) (uint32, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
