package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// path is where this process finds what is seen.
func (t *Merged) path() string {
	switch {
	case t == nil:
		return ""
	case t.Mount == nil:
		return t.At
	}
	return t.Mount.Path()
}

// attachment is what the process is told that puts mounts in their places, as JSON
// on descriptor attachmentFD.
type attachment struct {
	At   []string // of the mounts, which have the descriptors from mountFD on
	Argv []string // of bubblewrap, which this process becomes
}

// The descriptors of such a process besides those that bubblewrap inherits: the
// plan, its arguments and the socket for the table of mounts.
const (
	attachmentFD = planFD + 3 + iota
	mountFD
)

// attach puts mounts into a namespace of mounts that is this process's own, and
// becomes bubblewrap. They go with the namespace.
func attach(stderr io.Writer) int {
	runtime.LockOSThread() // as for confine
	a := &attachment{}
	err := inheritedAt(attachmentFD, a)
	if err == nil {
		err = a.mount()
	}
	if err != nil {
		fmt.Fprintf(stderr, "what the command is to see can't be mounted: %v\n", err)
		return exitSetup
	}
	err = syscall.Exec(a.Argv[0], a.Argv, []string{})
	fmt.Fprintf(stderr, "%s: %v\n", a.Argv[0], err)
	return exitNoRun
}

func (a *attachment) mount() error {
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

// ownNamespaces are the attributes of a process that may mount, for itself
// alone. Root keeps its rights: in another namespace of users the files of others would
// not be its own.
func ownNamespaces(attr *syscall.SysProcAttr, caps ...uintptr) {
	attr.Cloneflags = syscall.CLONE_NEWNS
	if uid := os.Geteuid(); uid != 0 {
		gid := os.Getegid()
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = caps
	}
}

// passJSON is pass for what inheritedAt reads.
func passJSON(name string, v any) (*os.File, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return pass(name, data)
}
