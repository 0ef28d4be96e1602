package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// stragglers are processes that do not want to end. TOKEN is in the arguments
// of each. Where nothing ends them, they do so themselves within some minutes.
const stragglers = `
(sleep TOKEN &)
setsid sleep TOKEN &
nohup sleep TOKEN >/dev/null 2>&1 &
(trap '' TERM INT HUP QUIT; for i in 1 2; do sleep TOKEN; done) &
sleep TOKEN & kill -STOP $!
(setsid bash -c '(setsid sleep TOKEN &) ; exec sleep TOKEN' &)
for i in $(seq 100); do (sleep TOKEN &); done
export left=9999 again='((left-- > 0)) || exit; sleep 0.01; setsid bash -c "$again" TOKEN & exit 0'; bash -c "$again" TOKEN
`

// alive counts processes that have token in their arguments.
func alive(token string) int {
	n := 0
	for _, p := range keeper.Processes() {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/cmdline")
		if err == nil && p.State != 'Z' && bytes.Contains(data, []byte(token)) {
			n++
		}
	}
	return n
}

// gone waits until there is none.
func gone(t *testing.T, token string) {
	t.Helper()
	none(t, "processes", func() int { return alive(token) })
}

func none(t *testing.T, what string, count func() int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	// One that becomes another process all the time may be missed by a look.
	for looks := 0; looks < 5; looks++ {
		if n := count(); n > 0 {
			looks = -1
			if time.Now().After(deadline) {
				t.Errorf("%d %s are left", n, what)
				return
			}
		}
		time.Sleep(5 * time.Millisecond) // there is no event for the end of other people's processes
	}
}

func newToken(t *testing.T) string {
	return fmt.Sprintf("300.%d%09d", os.Getpid(), time.Now().UnixNano()%1e9) // seconds, too
}

// await waits for a line of a command.
func await(t *testing.T, r io.Reader, want string) {
	t.Helper()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if lines.Text() == want {
			return
		}
	}
	t.Fatalf("there was no line %q", want)
}

// TestTree: nothing is left of a command that ended or was ended.
func TestTree(t *testing.T) {
	slow.Test(t)
	for _, end := range []struct {
		name, last string
		stop       func(c *Cmd, cancel func())
	}{
		{"it ends", "exit 0", func(*Cmd, func()) {}},
		{"it is cancelled", "sleep TOKEN", func(_ *Cmd, cancel func()) { cancel() }},
		{"it is killed", "sleep TOKEN", func(c *Cmd, _ func()) { c.Kill() }},
		{"it is stopped and cancelled", "kill -STOP 0", func(_ *Cmd, cancel func()) { cancel() }},
	} {
		t.Run(end.name, func(t *testing.T) {
			eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
				token := newToken(t)
				spec := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c, err := s.Command(ctx, spec, spec.Root, "bash", "-c", strings.ReplaceAll(stragglers+"echo ready\n"+end.last, "TOKEN", token))
				if err != nil {
					t.Fatal(err)
				}
				r, w := io.Pipe()
				c.Stdout = w
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				await(t, r, "ready")
				go io.Copy(io.Discard, r)
				if end.last != "exit 0" && alive(token) < 50 {
					t.Errorf("only %d processes were made", alive(token))
				}
				began := time.Now()
				end.stop(c, cancel)
				err = c.Wait()
				t.Logf("the reply took %v: %v", time.Since(began).Round(time.Millisecond), err)
				if want := ctx.Err(); want != nil && !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
				gone(t, token)
			})
		})
	}
}

// TestServerDies: kill -9 of the server ends its commands.
func TestServerDies(t *testing.T) {
	slow.Test(t)
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		token := newToken(t)
		root := realTemp(t)
		temp := t.TempDir()
		server, out := startServer(t, serverArgs{s.status.Level, root, strings.ReplaceAll(stragglers+"echo ready\nsleep TOKEN", "TOKEN", token), ""}, temp)
		await(t, out, "ready")
		if s.status.Level >= spec.Bubblewrap && len(leftovers(t, root)) == 0 {
			t.Error("nothing stands in, so nothing is tidied up")
		}
		if n := alive(token); n < 50 {
			t.Errorf("only %d processes were made", n)
		}
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait()
		gone(t, token)
		none(t, "directories", func() int {
			list, _ := os.ReadDir(temp)
			return len(list)
		})
		none(t, "stand-ins", func() int { return len(leftovers(t, root)) })
	})
}

// startServer starts a server in a process of its own.
func startServer(t *testing.T, a serverArgs, temp string) (*exec.Cmd, io.Reader) {
	t.Helper()
	server := exec.CommandContext(t.Context(), program(t), "-test.run=^TestHelperServer$")
	args, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	server.Env = append(os.Environ(), helperServer+"="+string(args), "TMPDIR="+temp)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	return server, out
}

type serverArgs struct {
	Level   spec.Level
	Root    string
	Script  string
	Session string
}

const helperServer = "SANDBOX_TEST_SERVER"

// TestHelperServer is the server of TestServerDies, in a process of its own.
func TestHelperServer(t *testing.T) {
	data, ok := os.LookupEnv(helperServer)
	if !ok {
		return // it is for TestServerDies
	}
	var a serverArgs
	if err := json.Unmarshal([]byte(data), &a); err != nil {
		t.Fatal(err)
	}
	s := at(t, a.Level)
	c, err := s.Command(t.Context(), spec.Spec{Root: a.Root, Env: spec.Environ(os.Environ()), Session: a.Session}, a.Root, "bash", "-c", a.Script)
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = os.Stdout
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
}

// TestTogether: commands in one directory share what stands in for missing
// names; the last one takes it away.
func TestTogether(t *testing.T) {
	s := at(t, spec.Full)
	want := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
	start := func() (*Cmd, io.WriteCloser, io.Reader) {
		c, err := s.Command(t.Context(), want, want.Root, "bash", "-c", "echo ready; read line; echo x > .vscode/tasks.json && echo escaped; mv .vscode other && echo escaped; echo done")
		if err != nil {
			t.Fatal(err)
		}
		in, inW := io.Pipe()
		out, outW := io.Pipe()
		c.Stdin, c.Stdout = in, outW
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, out, "ready")
		return c, inW, out
	}
	first, firstIn, firstOut := start()
	second, secondIn, secondOut := start()
	finish := func(c *Cmd, in io.WriteCloser, out io.Reader) {
		if _, err := io.WriteString(in, "go\n"); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "done" {
			t.Errorf("the command said %q", lines.Text())
		}
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	finish(first, firstIn, firstOut)
	if len(leftovers(t, want.Root)) == 0 {
		t.Error("the first command took the protection of the second one away")
	}
	finish(second, secondIn, secondOut)
	if left := leftovers(t, want.Root); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if spec.Exists(filepath.Join(want.Root, ".vscode")) {
		t.Error(".vscode is left")
	}
}

// TestLimits: a command can't fill the disk, the table of processes or the
// memory.
func TestLimits(t *testing.T) {
	slow.Test(t)
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		want := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ()), Limits: spec.Limits{FileSize: 1 << 20, Files: 64, Processes: 60, Memory: 64 << 20}}
		big := filepath.Join(want.Root, "big")
		if r := sh(t, s, want, "head -c 3000000 /dev/zero > big"); r.code == 0 {
			t.Error("a file of 3 MB was written")
		}
		if info, err := os.Stat(big); err != nil || info.Size() > 1<<20 {
			t.Errorf("%v, %v", info, err)
		}
		if r := sh(t, s, want, "ulimit -n; ulimit -c; for i in $(seq 100); do eval \"exec $((i+10))</dev/null\" || exit 9; done"); !strings.HasPrefix(r.out, "64\n0\n") || r.code == 0 {
			t.Errorf("descriptors: %+v", r)
		}
		want.Limits.Files = 0
		bounded := len(s.tools.Cgroups) > 0 || s.status.Level >= spec.Bubblewrap && os.Geteuid() != 0
		if !bounded {
			t.Log("no bound of processes here")
			return
		}
		token := newToken(t)
		// dash, unlike bash, does not wait for a process to become free.
		r := run(t, s, want, "sh", "-c", strings.ReplaceAll("for i in $(seq 120); do sleep TOKEN & done", "TOKEN", token))
		if !strings.Contains(strings.ToLower(r.said), "fork") {
			t.Errorf("120 processes were made: %+v", r)
		}
		gone(t, token)
		want.Limits.Processes = -1
		if r := sh(t, s, want, "for i in $(seq 120); do sleep 1000 & done; jobs -p | wc -l"); strings.TrimSpace(r.out) != "120" {
			t.Errorf("without a limit: %+v", r)
		}
		if !memoryGroup(s.tools.Cgroups) {
			t.Log("no bound of memory here")
			return
		}
		const eat = "head -c 150000000 /dev/zero | tail -c 150000000 | wc -c" // tail keeps it all
		if r := sh(t, s, want, eat); strings.TrimSpace(r.out) == "150000000" {
			t.Errorf("150 MB of memory were had: %+v", r)
		}
		want.Limits.Memory = -1
		if r := sh(t, s, want, eat); strings.TrimSpace(r.out) != "150000000" {
			t.Errorf("without a limit: %+v", r)
		}
	})
}

func memoryGroup(parents []string) bool {
	for _, dir := range parents {
		for _, file := range []string{"memory.limit_in_bytes", "memory.max"} {
			if unix.Access(filepath.Join(dir, file), unix.W_OK) == nil {
				return true
			}
		}
	}
	return false
}
