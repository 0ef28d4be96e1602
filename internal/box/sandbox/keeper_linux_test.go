package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// keeperOf is the process that keeps a command together, which stays for the
// next one.
func keeperOf(t *testing.T, s *Sandbox) int {
	t.Helper()
	idle := s.keepers.Idle()
	if len(idle) == 0 {
		t.Fatal("no keeper waits")
	}
	return idle[len(idle)-1].Pid()
}

// keeperAtWork is that of a command that runs.
func keeperAtWork(c *Cmd) int {
	return c.proc.(*keeper.Run).Keeper().Pid()
}

// TestKeeperStays: commands of one kind that follow each other have the same
// keeper, and nothing of each other.
func TestKeeperStays(t *testing.T) {
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		defer s.Close()
		spec := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
		const leave = "export LEFT=1; umask 077; ulimit -n 10; cd /; trap '' TERM; sleep 1000 & exec 9</dev/null; exit 3"
		if r := sh(t, s, spec, leave); r.code != 3 {
			t.Errorf("%+v", r)
		}
		first := keeperOf(t, s)
		const look = `echo "${LEFT-none} $(umask) $(ulimit -n) $PWD"; echo $(ls /proc/self/fd); trap 'echo int' INT; trap 'echo term' TERM; kill -INT $$; kill -TERM $$; jobs`
		want := "none 0022 8192 " + spec.Root + "\n0 1 2 3\nint\nterm\n"
		if r := sh(t, s, spec, look); r.out != want {
			t.Errorf("%+v, want %q", r, want)
		}
		if got := keeperOf(t, s); got != first {
			t.Errorf("the first command had keeper %d, the second %d", first, got)
		}
		spec.Limits.Files = 100
		if r := sh(t, s, spec, "ulimit -n"); r.out != "100\n" {
			t.Errorf("with another limit: %+v", r)
		}
		if got := keeperOf(t, s); got == first {
			t.Error("a command with other limits had the same keeper")
		}
	})
}

// TestKeeperLost: the end of a keeper is no end of commands, unless it was just
// theirs.
func TestKeeperLost(t *testing.T) {
	slow.Test(t)
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		defer s.Close()
		spec := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
		works := func(when string) int {
			t.Helper()
			if r := sh(t, s, spec, "echo works"); r.out != "works\n" {
				t.Errorf("%s: %+v", when, r)
			}
			return keeperOf(t, s)
		}
		pid := works("at first")
		kill := func(pid int, signal syscall.Signal) {
			t.Helper()
			if err := unix.Kill(pid, signal); err != nil {
				t.Fatal(err)
			}
		}
		kill(pid, unix.SIGKILL)
		next := works("after its keeper was killed")
		if next == pid {
			t.Error("the keeper was not killed")
		}
		for _, signal := range []syscall.Signal{unix.SIGSTOP, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE} {
			kill(next, signal)
			if got := works(signal.String()); got != next {
				t.Errorf("%s ended the keeper", signal)
			}
		}
		token := newToken(t)
		c, err := s.Command(t.Context(), spec, spec.Root, "bash", "-c", "exec sleep "+token)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		kill(keeperAtWork(c), unix.SIGKILL)
		if err := c.Wait(); !errors.Is(err, keeper.ErrKeeperGone) {
			t.Errorf("%v, want %v", err, keeper.ErrKeeperGone)
		}
		gone(t, token)
		works("after its keeper was killed at work")
	})
}

// TestKeeperCancelled: a command that is not let go of by its keeper is ended
// all the same, and the next one has another keeper.
func TestKeeperCancelled(t *testing.T) {
	s := at(t, spec.None)
	defer s.Close()
	spec := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
	token := newToken(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := s.Command(ctx, spec, spec.Root, "bash", "-c", "read line; kill -STOP $PPID; echo stopped; exec sleep "+token)
	if err != nil {
		t.Fatal(err)
	}
	in, inW := io.Pipe()
	out, outW := io.Pipe()
	c.Stdin, c.Stdout = in, outW
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(inW, "go\n"); err != nil {
		t.Fatal(err)
	}
	await(t, out, "stopped")
	cancel()
	if err := c.Wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	gone(t, token)
	if r := sh(t, s, spec, "echo works"); r.out != "works\n" {
		t.Errorf("%+v", r)
	}
}

// TestKeepersEnd: not more wait than are useful, and none after Close.
func TestKeepersEnd(t *testing.T) {
	s := at(t, spec.None)
	want := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
	var pids []int
	var commands []*Cmd
	for range keeper.MaxIdle + 2 {
		c, err := s.Command(t.Context(), want, want.Root, "sleep", "1000")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands, pids = append(commands, c), append(pids, keeperAtWork(c))
	}
	for _, pid := range pids {
		for _, child := range keeper.Descendants(pid) {
			if err := unix.Kill(child.Pid, unix.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range commands {
		var exit *ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
			t.Error(err)
		}
	}
	left := func() (n int) {
		for _, pid := range pids {
			if spec.Exists("/proc/" + strconv.Itoa(pid)) {
				n++
			}
		}
		return n
	}
	if n := left(); n != keeper.MaxIdle {
		t.Errorf("%d keepers wait, want %d", n, keeper.MaxIdle)
	}
	var groups []string
	for _, k := range s.keepers.Idle() {
		groups = append(groups, k.Groups()...)
	}
	s.Close()
	if n := left(); n != 0 {
		t.Errorf("%d keepers wait after the end", n)
	}
	for _, dir := range groups {
		if spec.Exists(dir) {
			t.Errorf("%s is left", dir)
		}
	}
	if r := sh(t, s, want, "echo works"); r.out != "works\n" || len(s.keepers.Idle()) != 0 {
		t.Errorf("after the end: %+v, and %d keepers wait", r, len(s.keepers.Idle()))
	}
}

// TestServerDiesIdle: a keeper that waits ends with its server.
func TestServerDiesIdle(t *testing.T) {
	s := at(t, spec.None)
	sh(t, s, spec.Spec{Root: realTemp(t)}, "true")
	pid := keeperOf(t, s)
	ended := make(chan error, 1)
	go func() { ended <- s.keepers.Idle()[0].Leave() }() // its socket is closed, as the kernel does for a server that is gone
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("keeper %d: %v", pid, err)
		}
	case <-time.After(2 * time.Second):
		t.Error("the keeper is alive")
	}
}
