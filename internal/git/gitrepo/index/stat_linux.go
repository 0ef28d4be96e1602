package index

import (
	"io/fs"
	"syscall"
	"time"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"
)

// SetStat gives e the stat data of its file.
func SetStat(e *gitindex.Entry, info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		SetStatT(e, st)
	}
}

// SetStatT is SetStat of the system's own stat data.
func SetStatT(e *gitindex.Entry, st *syscall.Stat_t) {
	e.ModifiedAt, e.CreatedAt = time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())
	e.Dev, e.Inode, e.UID, e.GID, e.Size = uint32(st.Dev), uint32(st.Ino), st.Uid, st.Gid, uint32(st.Size)
}
