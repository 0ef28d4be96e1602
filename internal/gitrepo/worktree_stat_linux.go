package gitrepo

import (
	"io/fs"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// setStat gives e the stat data of its file.
func (e *IndexEntry) setStat(info fs.FileInfo) {
	e.MTime, e.Size = info.ModTime(), uint32(info.Size())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.CTime = time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)) //nolint:unconvert // 32 bits on some systems
		e.Dev, e.Ino, e.UID, e.GID = uint32(st.Dev), uint32(st.Ino), st.Uid, st.Gid
	}
}

// setMTime dates an open file.
func setMTime(f *os.File, t time.Time) error {
	at := syscall.NsecToTimespec(t.UnixNano())
	times := [2]syscall.Timespec{at, at}
	_, _, errno := syscall.Syscall6(syscall.SYS_UTIMENSAT, f.Fd(), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	if errno != 0 {
		return &fs.PathError{Op: "utimensat", Path: f.Name(), Err: errno}
	}
	return nil
}
