package rights

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// Access rights by the version of Landlock that brought them
// (Documentation/userspace-api/landlock.rst).
const (
	llRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	llMake = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	llDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	llWrite   = llMake | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	llFile    = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // what a rule about a file may have
)

// LeastLandlock is the version that has files in rename and link (2),
// truncation (3) and TCP (4).
const LeastLandlock = 4

// FileRules is what may be done below which paths. Paths that do not exist are
// left out.
type FileRules struct {
	Read    []string // and run
	Write   []string // and read and run
	Devices []string // to read, write and control
	TCP     bool     // is left alone
}

// LandlockVersion is 0 where there is no Landlock.
func LandlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// apply confines this thread and all that it starts. No new privileges must be
// set before. The three system calls are made here, not by a library: the ones
// there are want to confine all threads of a process, and this one is about to
// become another program.
func (r *FileRules) apply() error {
	version := LandlockVersion()
	if version < LeastLandlock {
		return fmt.Errorf("the kernel has version %d of Landlock, and %d is needed", version, LeastLandlock)
	}
	handled := uint64(llRead | llWrite | llDevices)
	attr := unix.LandlockRulesetAttr{}
	if version >= 5 {
		handled |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	attr.Handled_access_fs = handled
	if !r.TCP {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("the rules of Landlock can't be set: %w", errno)
	}
	defer unix.Close(int(set))
	for _, rule := range []struct {
		paths  []string
		access uint64
	}{
		{r.Read, llRead},
		{r.Write, llRead | llWrite},
		{r.Devices, llRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
	} {
		for _, path := range rule.paths {
			if err := allowPath(int(set), path, rule.access&handled); err != nil {
				return fmt.Errorf("no rule of Landlock can be set for %s: %w", path, err)
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fmt.Errorf("the rules of Landlock can't be set: %w", errno)
	}
	return nil
}

func allowPath(set int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENXIO) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= llFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// Around lists what covers dir without the paths in masked. Landlock knows
// only what is allowed, so a directory with something masked in it falls apart
// into its entries; what is made in it later is not readable.
func Around(dir string, masked []string) []string {
	if slices.Contains(masked, dir) {
		return nil
	}
	if !slices.ContainsFunc(masked, func(m string) bool { return spec.Within(m, dir) }) {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Type()&os.ModeSymlink == 0 {
			out = append(out, Around(path, masked)...)
		}
	}
	return out
}
