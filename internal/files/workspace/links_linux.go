package workspace

import "golang.org/x/sys/unix"

// plain reports whether the kernel finds rel without meeting a link, which
// spares most names the look at every segment. False says nothing.
func (f *folder) plain(rel string) bool {
	return onFD(f.dir, func(fd int) error {
		found, err := unix.Openat2(fd, rel, &unix.OpenHow{
			Flags:   unix.O_PATH | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
		})
		if err != nil {
			return err
		}
		return unix.Close(found)
	}) == nil
}
