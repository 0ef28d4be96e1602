package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit codes of commands that can't be run, as shells have them.
const (
	exitSetup    = 125
	exitNoRun    = 126
	exitNotFound = 127
)

// Init is the life of a process between the server and a command; args is what
// follows InitCommand. It returns an exit code if there is no command to
// become. after is what is left to do for a command with a Spec.Record whose
// server was killed; nil is nothing.
func Init(args []string, out, stderr io.Writer, after func(record string)) int {
	role := ""
	if len(args) > 0 {
		role = args[0]
	}
	switch role {
	case roleConfine:
		return confine(stderr)
	case roleKeep:
		return runKeeper(after)
	case roleAttach:
		return attach(stderr)
	case roleMount:
		return runMounter()
	case roleTry:
		return try(args[1:], out, stderr)
	}
	fmt.Fprintln(stderr, "this command is for the server's own use")
	return exitSetup
}

// The roles of such a process.
const (
	roleConfine = "confine" // takes rights away from itself and becomes the command
	roleKeep    = "keep"    // starts such processes, and ends their whole trees
	roleTry     = "try"     // is the command, and tries to escape
	roleAttach  = "attach"  // puts a Merged in its place and becomes bubblewrap
	roleMount   = "mount"   // makes overlays
)

// confine becomes the command. All of it happens on one thread: what is taken
// away is taken away from a thread, and the program that replaces the process
// goes on with the thread that started it.
func confine(stderr io.Writer) int {
	runtime.LockOSThread()
	p := &plan{}
	if err := inherited(p); err != nil {
		fmt.Fprintf(stderr, "the plan can't be read: %v\n", err)
		return exitSetup
	}
	program, err := p.setUp()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitSetup
	}
	if _, err := unix.Write(2, []byte(started)); err != nil {
		return exitSetup
	}
	if p.Terminal {
		for fd := 1; fd <= 2; fd++ {
			if err := unix.Dup3(0, fd, 0); err != nil {
				return exitSetup
			}
		}
	}
	err = syscall.Exec(program, p.Argv, p.Env)
	fmt.Fprintf(stderr, "%s: %v\n", p.Argv[0], err)
	return exitNoRun
}

// setUp takes away all that the plan says, and finds the program.
func (p *plan) setUp() (program string, err error) {
	// None of our descriptors reaches the command.
	if err := unix.CloseRange(planFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return "", fmt.Errorf("descriptors can't be closed: %w", err)
	}
	if p.Terminal {
		if err := ownTerminal(); err != nil {
			return "", fmt.Errorf("the terminal can't be the command's own: %w", err)
		}
	}
	setLimits(p.Limits, p.Userns)
	setOOMScore(expendable)
	if err := os.Chdir(p.Dir); err != nil {
		return "", fmt.Errorf("the working directory: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return "", fmt.Errorf("new privileges can't be ruled out: %w", err)
	}
	if p.Mounts != 0 {
		if err := handMounts(p.Mounts); err != nil {
			return "", fmt.Errorf("the mounts can't be watched: %w", err)
		}
	}
	if p.Files != nil {
		if err := p.Files.apply(); err != nil {
			return "", err
		}
	}
	if p.Seccomp {
		if err := dropCapabilities(); err != nil {
			return "", err
		}
		if err := applySeccomp(p.Families); err != nil {
			return "", err
		}
	}
	return find(p.Argv[0], p.Env, p.Dir)
}

// ownTerminal makes standard input the terminal of a session of its own, which
// sends the command the signals that are typed, and those of a change of its size.
func ownTerminal() error {
	if sid, err := unix.Getsid(0); err != nil || sid != unix.Getpid() {
		if _, err := unix.Setsid(); err != nil {
			return err
		}
	}
	return unix.IoctlSetInt(0, unix.TIOCSCTTY, 0)
}

// dropCapabilities takes all capabilities from this thread for ever, root's
// too, and checks that they are gone.
func dropCapabilities() error {
	const noroot = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7 // SECBIT_NOROOT, _NO_SETUID_FIXUP, locked, _KEEP_CAPS_LOCKED, _NO_CAP_AMBIENT_RAISE, locked (linux/securebits.h)
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, noroot, 0, 0, 0)       // needs CAP_SETPCAP; without it there is nothing to drop
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			break // EINVAL after the last one; EPERM without CAP_SETPCAP
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none, now [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("capabilities can't be dropped: %w", err)
	}
	head = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&head, &now[0]); err != nil {
		return fmt.Errorf("capabilities can't be read: %w", err)
	}
	if now != none {
		return errors.New("some capabilities are left")
	}
	return nil
}
