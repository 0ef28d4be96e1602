package peers

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// What the tests' program does in the place of the tests, by these variables: connect to
// a socket, and end at once or when it was looked at; start a program, under a name.
const (
	connects = "PEERS_TEST_CONNECTS"
	leaves   = "PEERS_TEST_LEAVES"
	starts   = "PEERS_TEST_STARTS"
)

func TestMain(m *testing.M) {
	switch path, name := os.Getenv(connects), os.Getenv(starts); {
	case os.Getenv(accepts) != "":
		accept()
	case path != "" && name == "":
		kind := "unix"
		if !filepath.IsAbs(path) {
			kind = "tcp"
		}
		if os.Getenv(named) != "" {
			Name()
		}
		c, err := net.Dial(kind, path)
		if kind == "tcp" && err == nil {
			_, err = c.Write([]byte("x"))
		}
		switch {
		case err != nil || os.Getenv(leaves) != "":
		case len(os.Args) > 2: // it becomes another program, which has the connection
			f, err := c.(*net.UnixConn).File()
			if err != nil {
				panic(err)
			}
			if err := unix.Dup3(int(f.Fd()), 0, 0); err != nil {
				panic(err)
			}
			panic(unix.Exec(os.Args[2], os.Args[2:], os.Environ()))
		default:
			_, _ = io.Copy(io.Discard, c)
		}
	case name != "":
		if name == "as "+Program {
			Name()
		}
		_ = os.Unsetenv(starts)
		cmd := exec.Command(os.Args[1], os.Args[2:]...)
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		_ = cmd.Run()
	default:
		os.Exit(m.Run())
	}
}

// looked has a program connect, and returns who that is for this process.
func looked(t *testing.T, argv ...string) (who Who) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), connects+"="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	who = Of(c)
	_ = c.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return who
}

// TestChild: what this process has started is no person, at whatever distance.
func TestChild(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{self, "becomes", "/bin/cat"}, {self}, {"sh", "-c", `"$0"; true`, self}, {"sh", "-c", `exec "$0"`, self}, {"env", "-u", "HOME", self}, {"setsid", "-w", self},
	} {
		if who := looked(t, argv...); who.Person() || !strings.Contains(who.why, "process "+strconv.Itoa(os.Getpid())) {
			t.Errorf("%v: %+v", argv, who)
		}
	}
}

// TestLeft: what a process leaves behind is below the next one that adopts it.
func TestLeft(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if who := looked(t, "sh", "-c", `(setsid "$0" </dev/null >/dev/null 2>&1 &)`, self); who.Person() {
		t.Errorf("%+v", who)
	}
	_, _ = unix.Wait4(-1, nil, unix.WNOHANG, nil)
}

// waiting starts a program that prints the number of its last process, which waits.
func waiting(t *testing.T, cmd *exec.Cmd) (pid int) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err != nil {
		needs.Skip(t, needs.Kernel, fmt.Sprintf("%v does not run here: %v", cmd.Args, err))
	}
	return pid
}

const waits = "echo $$; read x"

// TestName: another process of ours is known by what the system calls it, whatever its
// file is called.
func TestName(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", Program} {
		cmd := exec.CommandContext(t.Context(), self, "sh", "-c", waits)
		cmd.Env = append(os.Environ(), starts+"=as "+name)
		pid := waiting(t, cmd)
		nearest, next := os.Getpid(), 0
		if name != "" {
			nearest, next = cmd.Process.Pid, os.Getpid()
		}
		for handed, want := range []int{nearest, next} {
			if found, ok := climb(pid, handed); !ok || found != want {
				t.Errorf("below one that is called %q: %d, %v; want %d", name, found, ok, want)
			}
		}
	}
	if found, ok := climb(os.Getpid(), 0); !ok || found != 0 {
		t.Errorf("these tests are below process %d, which is called %s", found, Program)
	}
	if _, ok := climb(1<<30, 0); ok {
		t.Error("a process that is not there was looked at")
	}
}

// TestApart: a process in a namespace of its own is known by it.
func TestApart(t *testing.T) {
	if kind, err := apart(waiting(t, exec.CommandContext(t.Context(), "sh", "-c", waits))); err != nil || kind != "" {
		t.Errorf("the control: %q, %v", kind, err)
	}
	for option, want := range map[string]string{"-m": "mount", "-Urm": "mount", "-Ur": "user"} {
		t.Run(option, func(t *testing.T) {
			kind, err := apart(waiting(t, exec.CommandContext(t.Context(), "unshare", option, "sh", "-c", waits)))
			if who := (facts{unseen: err, apart: kind}).who(); who.Person() || err == nil && kind != want {
				t.Errorf("%q, %v", kind, err)
			}
		})
	}
	t.Run("PID", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), "unshare", "-Urpf", "sh", "-c", "echo; read x")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = in.Close()
			_ = cmd.Wait()
		}()
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			needs.Skip(t, needs.Kernel, "there are none here: ", err)
		}
		children, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "task", strconv.Itoa(cmd.Process.Pid), "children"))
		if err != nil {
			needs.Skip(t, needs.Kernel, err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
		if err != nil {
			t.Fatal(err)
		}
		kind, err := apart(pid)
		if who := (facts{unseen: err, apart: kind}).who(); who.Person() || err == nil && kind != "PID" {
			t.Errorf("%q, %v", kind, err)
		}
	})
}

// TestEnded: who has connected and ended is nobody, whatever has its number or its
// connection by then.
func TestEnded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), connects+"="+path, leaves+"=1")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if who := Of(c); who.Person() {
		t.Errorf("%+v", who)
	}
}

// TestNumberAgain: a number that is another process's by now says nothing of the one that
// connected.
func TestNumberAgain(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	_ = in.Close()
	_ = cmd.Wait()
	if err != nil {
		needs.Skip(t, needs.Kernel, err)
	}
	defer unix.Close(gone)
	other := os.Getppid() // is nobody's whom we have started
	if _, err := apart(other); err != nil {
		needs.Skip(t, needs.OtherUser, "another user has started these tests: ", err)
	}
	there, err := unix.PidfdOpen(other, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(there)
	if who := (end{pid: other, fd: gone}).who(); who.Person() {
		t.Errorf("%+v", who)
	}
	if who := (end{pid: other, fd: there}).who(); !who.Person() {
		t.Errorf("the control: %+v", who)
	}
}
