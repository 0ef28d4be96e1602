package inventory

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// stamp tells whether a directory is as it was: no program can set the time of
// a file's last change of state.
type stamp struct {
	dev, ino     uint64
	ctime, mtime syscall.Timespec
	mode         uint32
}

var errNoDirectory = errors.New("not a directory")

func stampAt(path string) (stamp, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Lstat(path, &st)
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return stamp{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return stamp{}, errNoDirectory
	}
	return stamp{dev: st.Dev, ino: st.Ino, ctime: st.Ctim, mtime: st.Mtim, mode: st.Mode}, nil
}

// before reports whether the directory was last changed before a time.
func (s stamp) before(t time.Time) bool {
	return time.Unix(s.ctime.Unix()).Before(t) && time.Unix(s.mtime.Unix()).Before(t)
}

// openDir opens a directory, not one that a link leads to.
func openDir(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		err = errNoDirectory
	}
	return f, err
}
