package rights

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// Plan is what the process between us and a command is told, as JSON on
// descriptor planFD: no argument list shows it, and no environment of the
// command's reaches the programs that set up its sandbox.
type Plan struct {
	Argv     []string
	Env      []string
	Dir      string
	Limits   spec.Limits
	Files    *FileRules // nil: no Landlock
	Seccomp  bool
	Families []int // sockets, with Seccomp
	Mounts   int   // descriptor of a socket on which the process hands out its table of mounts; 0 is none
	Terminal bool  // standard input is a terminal that is to be the command's own
	Userns   bool  // in a user namespace of its own, where processes are counted by themselves
}

// Confine becomes the command. All of it happens on one thread: what is taken
// away is taken away from a thread, and the program that replaces the process
// goes on with the thread that started it.
func Confine(stderr io.Writer) int {
	runtime.LockOSThread()
	p := &Plan{}
	if err := child.Inherited(p); err != nil {
		fmt.Fprintf(stderr, "the plan can't be read: %v\n", err)
		return child.ExitSetup
	}
	program, err := p.setUp()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return child.ExitSetup
	}
	if _, err := unix.Write(2, []byte(child.Started)); err != nil {
		return child.ExitSetup
	}
	if p.Terminal {
		for fd := 1; fd <= 2; fd++ {
			if err := unix.Dup3(0, fd, 0); err != nil {
				return child.ExitSetup
			}
		}
	}
	err = syscall.Exec(program, p.Argv, p.Env)
	fmt.Fprintf(stderr, "%s: %v\n", p.Argv[0], err)
	return child.ExitNoRun
}

// setUp takes away all that the plan says, and finds the program.
func (p *Plan) setUp() (program string, err error) {
	// None of our descriptors reaches the command.
	if err := unix.CloseRange(child.PlanFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return "", fmt.Errorf("descriptors can't be closed: %w", err)
	}
	if p.Terminal {
		if err := ownTerminal(); err != nil {
			return "", fmt.Errorf("the terminal can't be the command's own: %w", err)
		}
	}
	SetLimits(p.Limits, p.Userns)
	SetOOMScore(Expendable)
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
	return child.Find(p.Argv[0], p.Env, p.Dir)
}

// handMounts hands the table of this process's mounts, and what it takes to join
// them, to the server, and waits until that has seen them: a command may move what
// they lie on.
func handMounts(socket int) error {
	table, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(table)
	mounts, err := unix.Open("/proc/self/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(mounts)
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(table, mounts), nil, unix.MSG_NOSIGNAL); err != nil {
		return err
	}
	for {
		n, err := unix.Read(socket, make([]byte, 1))
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil && n == 0:
			return errors.New("the server is gone")
		default:
			return err
		}
	}
}
