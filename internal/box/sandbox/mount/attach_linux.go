package mount

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
)

// Attachment tells the attaching process where to mount, as JSON on descriptor
// attachmentFD.
type Attachment struct {
	At   []string // of the mounts, which have the descriptors from mountFD on
	Argv []string // of bubblewrap, which this process becomes
}

// The descriptors of such a process besides those that bubblewrap inherits: the
// plan, its arguments and the socket for the table of mounts.
const (
	attachmentFD = child.PlanFD + 3 + iota
	mountFD
)

// Attach puts mounts into a namespace of mounts that is this process's own, and
// becomes bubblewrap. They go with the namespace.
func Attach(stderr io.Writer) int {
	runtime.LockOSThread() // as for confine
	a := &Attachment{}
	err := child.InheritedAt(attachmentFD, a)
	if err == nil {
		err = a.mount()
	}
	if err != nil {
		fmt.Fprintf(stderr, "what the command is to see can't be mounted: %v\n", err)
		return child.ExitSetup
	}
	err = syscall.Exec(a.Argv[0], a.Argv, []string{})
	fmt.Fprintf(stderr, "%s: %v\n", a.Argv[0], err)
	return child.ExitNoRun
}

func (a *Attachment) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("the mounts of this process: %w", err)
	}
	for i, at := range a.At {
		if err := unix.MoveMount(mountFD+i, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("it can't be put in its place: %w", err)
		}
		// Whatever else were there would be open to the command.
		var st unix.Statfs_t
		if err := unix.Statfs(at, &st); err != nil {
			return fmt.Errorf("it can't be seen in its place: %w", err)
		}
		if st.Type != unix.OVERLAYFS_SUPER_MAGIC {
			return errors.New("something else is in its place")
		}
	}
	if err := unix.CloseRange(mountFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("descriptors can't be closed: %w", err)
	}
	// bubblewrap refuses to run with capabilities that nobody gave it.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("capabilities can't be dropped: %w", err)
	}
	return nil
}
