package sandbox

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// keeperOf is the process that keeps a command together, which stays for the
// next one.
func keeperOf(t *testing.T, s *Sandbox) int {
	t.Helper()
	s.keepers.mu.Lock()
	defer s.keepers.mu.Unlock()
	if len(s.keepers.idle) == 0 {
		t.Fatal("no keeper waits")
	}
	return s.keepers.idle[len(s.keepers.idle)-1].cmd.Process.Pid
}

// keeperAtWork is that of a command that runs.
func keeperAtWork(c *Cmd) int {
	l := c.proc.(*lent)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.k.cmd.Process.Pid
}

// TestKeeperStays: commands of one kind that follow each other have the same
// keeper, and nothing of each other.
func TestKeeperStays(t *testing.T) {
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		defer s.Close()
		spec := Spec{Root: realTemp(t), Env: Environ(os.Environ())}
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
		spec := Spec{Root: realTemp(t), Env: Environ(os.Environ())}
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
		if err := c.Wait(); !errors.Is(err, errKeeperGone) {
			t.Errorf("%v, want %v", err, errKeeperGone)
		}
		gone(t, token)
		works("after its keeper was killed at work")
	})
}

// TestKeeperCancelled: a command that is not let go of by its keeper is ended
// all the same, and the next one has another keeper.
func TestKeeperCancelled(t *testing.T) {
	s := at(t, None)
	defer s.Close()
	spec := Spec{Root: realTemp(t), Env: Environ(os.Environ())}
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
	s := at(t, None)
	spec := Spec{Root: realTemp(t), Env: Environ(os.Environ())}
	var pids []int
	var commands []*Cmd
	for range maxIdle + 2 {
		c, err := s.Command(t.Context(), spec, spec.Root, "sleep", "1000")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands, pids = append(commands, c), append(pids, keeperAtWork(c))
	}
	for _, pid := range pids {
		for _, child := range descendants(pid) {
			if err := unix.Kill(child.pid, unix.SIGTERM); err != nil {
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
			if _, ok := readProcess(pid); ok {
				n++
			}
		}
		return n
	}
	if n := left(); n != maxIdle {
		t.Errorf("%d keepers wait, want %d", n, maxIdle)
	}
	var groups []string
	for _, k := range s.keepers.idle {
		groups = append(groups, k.group.dirs...)
	}
	s.Close()
	if n := left(); n != 0 {
		t.Errorf("%d keepers wait after the end", n)
	}
	for _, dir := range groups {
		if exists(dir) {
			t.Errorf("%s is left", dir)
		}
	}
	if r := sh(t, s, spec, "echo works"); r.out != "works\n" || len(s.keepers.idle) != 0 {
		t.Errorf("after the end: %+v, and %d keepers wait", r, len(s.keepers.idle))
	}
}

// TestServerDiesIdle: a keeper that waits ends with its server.
func TestServerDiesIdle(t *testing.T) {
	s := at(t, None)
	sh(t, s, Spec{Root: realTemp(t)}, "true")
	pid := keeperOf(t, s)
	k := s.keepers.idle[0]
	k.conn.Close() // what the kernel does for a server that is gone
	ended := make(chan error, 1)
	go func() { ended <- k.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("keeper %d: %v", pid, err)
		}
	case <-time.After(2 * time.Second):
		t.Error("the keeper is alive")
	}
	k.group.remove()
}

// TestStopping: a process that has no program of its own yet is ended where its
// parent waits for it; all others are stopped.
func TestStopping(t *testing.T) {
	// A subshell is what it was made from until it runs something else.
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "(echo own; (echo own; read -r _); :) | (read -r _; read -r _; exec sleep 1000)")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	root := cmd.Process.Pid
	defer func() {
		_ = in.Close()
		_ = unix.Kill(-root, unix.SIGKILL)
		_ = cmd.Wait()
	}()
	var got map[string]int
	for want := map[string]int{"child": 1, "program": 1, "below": 1}; !maps.Equal(got, want); { // nothing tells when all are there
		if t.Context().Err() != nil {
			t.Fatalf("%v", got)
		}
		got = map[string]int{}
		for _, p := range descendants(root) {
			line, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
			signal := stopping(root, p)
			switch program := strings.HasPrefix(string(line), "sleep"); {
			case program && signal == unix.SIGSTOP:
				got["program"]++
			case !program && p.parent == root && signal == unix.SIGKILL:
				got["child"]++
			case p.parent != root && signal == unix.SIGSTOP:
				got["below"]++
			}
		}
	}
}
