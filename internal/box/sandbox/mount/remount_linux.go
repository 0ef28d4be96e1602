package mount

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BindThere puts a mount over place in the mounts of a command: what they have at
// source, as it is there. Joining them takes a process with one thread, and the
// rights of who made them; that process does nothing else.
func BindThere(mounts *os.File, source, place string) error {
	users, err := unix.IoctlRetInt(int(mounts.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return fmt.Errorf("the owner of the mounts: %w", err)
	}
	defer unix.Close(users)
	from, err := unix.BytePtrFromString(source)
	if err != nil {
		return err
	}
	to, err := unix.BytePtrFromString(place)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	// The runtime's handlers must not run in a process that has none of its threads.
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &all, &before); err != nil {
		return err
	}
	pid, errno := forkAndBind(uintptr(users), mounts.Fd(), from, to)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
		return err
	}
	runtime.KeepAlive(mounts)
	if errno != 0 {
		return errno
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(int(pid), &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		switch {
		case err != nil:
			return err
		case !status.Exited():
			return errors.New("the process that mounts was ended")
		case status.ExitStatus() != 0:
			return syscall.Errno(status.ExitStatus())
		}
		return nil
	}
}

// forkAndBind makes the process. It has a copy of this one's memory, in which
// nothing but system calls may be done.
//
//go:norace
//go:nosplit
func forkAndBind(users, mounts uintptr, source, place *byte) (pid uintptr, errno syscall.Errno) {
	pid, _, errno = syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	_, _, errno = syscall.RawSyscall(unix.SYS_SETNS, users, unix.CLONE_NEWUSER, 0)
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_SETNS, mounts, unix.CLONE_NEWNS, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall6(unix.SYS_MOUNT, uintptr(unsafe.Pointer(source)), uintptr(unsafe.Pointer(place)), 0, unix.MS_BIND, 0, 0)
	}
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(errno), 0, 0)
	}
}
