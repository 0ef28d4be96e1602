package workspace

import (
	"errors"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

var errCareful = errors.New("to be read the careful way")

// readQuickly reads a file with one look-up, however deep it lies, where
// os.Root opens every directory on the way. It fails for all that is not an
// ordinary file; the careful way then finds out what is the matter.
func (f *folder) readQuickly(rel string) (data []byte, err error) {
	err = onFD(f.dir, func(dir int) error {
		fd, err := unix.Openat2(dir, rel, &unix.OpenHow{
			Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH,
		})
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size == 0 || st.Size > MaxFileSize {
			return errCareful
		}
		data = make([]byte, st.Size+1)
		n, err := readFD(fd, data)
		if err == nil && int64(n) != st.Size { // it is being written
			err = errCareful
		}
		data = data[:max(n, 0)]
		return err
	})
	return data, err
}

// readFD reads from the beginning of a file as read does. Of a large one, another
// core reads the second half: most of the time goes into giving the memory its
// pages.
func readFD(fd int, data []byte) (int, error) {
	const large = 512 << 10
	if len(data) < large || runtime.GOMAXPROCS(0) == 1 {
		return unix.Read(fd, data)
	}
	half := len(data) / 2
	var n int
	var err error
	var second sync.WaitGroup
	second.Go(func() { n, err = unix.Pread(fd, data[half:], int64(half)) })
	first, firstErr := unix.Pread(fd, data[:half], 0)
	second.Wait()
	if firstErr != nil || first < half {
		return max(first, 0), firstErr
	}
	return half + max(n, 0), err
}
