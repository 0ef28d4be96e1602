package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// treePatience is how long the end of a tree of processes may take. It takes
// moments, but a machine under load ends nothing soon, and what is left then
// stays.
const treePatience = 10 * time.Second

// supervise runs a command where there is no namespace that could end it: its
// processes are below this one, whatever they do, and end with it or with the
// server.
func supervise(stderr io.Writer) int {
	p, err := inherited()
	if err != nil {
		fmt.Fprintf(stderr, "the plan can't be read: %v\n", err)
		return exitSetup
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintf(stderr, "orphans can't be kept: %v\n", err)
		return exitSetup
	}
	// Signals to the group of the server are not for the command.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE)
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitSetup
	}
	cmd := exec.Command(self, InitCommand, roleConfine) //nolint:noctx // it ends with this process
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	for fd := planFD; fd < p.Lifeline; fd++ {
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(fd), "inherited"))
	}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	lifeline := os.NewFile(uintptr(p.Lifeline), "lifeline")
	syscall.CloseOnExec(p.Lifeline)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(stderr, err)
		return exitSetup
	}
	go func() {
		_, _ = lifeline.Read(make([]byte, 1)) // returns when the server is gone or wants the end
		endTree(os.Getpid(), treePatience, nil)
	}()
	err = cmd.Wait()
	if !reapAll() {
		endTree(os.Getpid(), treePatience, reapAll)
	}
	if p.Own != "" {
		_ = os.RemoveAll(p.Own) // the server may be gone
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitSetup
	}
	return 0
}

// reapAll takes note of all children that have ended, and reports whether none
// is left. Then there is nothing below this process, as orphans fall back to it.
func reapAll() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return errors.Is(err, syscall.ECHILD)
		}
		if err == nil && pid == 0 {
			return false
		}
	}
}
