package gitrepo

import (
	"io/fs"
	"syscall"
	"time"
)

// setStat gives e the stat data of its file.
func (e *IndexEntry) setStat(info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.setStatT(st)
	}
}

func (e *IndexEntry) setStatT(st *syscall.Stat_t) {
	e.MTime, e.CTime = time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())
	e.Dev, e.Ino, e.UID, e.GID, e.Size = uint32(st.Dev), uint32(st.Ino), st.Uid, st.Gid, uint32(st.Size)
}
