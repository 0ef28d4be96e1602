package attach

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/localsock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// workspace is a directory. Its pipe is in no directory.
func workspace(t *testing.T) (dir, run string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "at-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ownfile.Remove(dir) })
	return dir, ""
}

// alias is another name of a directory.
func alias(_ *testing.T, dir string) string { return strings.ToUpper(dir) }

// TestOwn: what a host has started, directly or not, is no person.
func TestOwn(t *testing.T) {
	const asks = "ATTACH_TEST_ASKS"
	switch dir, again, _ := strings.Cut(os.Getenv(asks), "|"); {
	case dir == "":
	case again != "": // starts the program that asks, and leaves it
		cmd := exec.Command(os.Args[0], "-test.run=^TestOwn$", "-test.v")
		cmd.Env = append(os.Environ(), asks+"="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return
	default:
		if c, _, err := DialPerson(t.Context(), dir); err == nil {
			_, _ = c.Read(make([]byte, 1)) // until it is closed
		}
		return
	}
	dir, _ := workspace(t)
	persons := make(chan bool, 1)
	hosted(t, dir, Options{Kind: Alone, Person: func(p peers.Peer) { persons <- p.Person(); p.Close() }})
	started := func(value string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOwn$")
		cmd.Env = append(os.Environ(), asks+"="+value)
		return cmd
	}
	for value, of := range map[string]string{dir: "a program", dir + "|again": "what a program has left"} {
		tree, err := proctree.Start(started(value), proctree.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if <-persons {
			t.Errorf("%s of the host's counts as a person", of)
		}
		tree.Kill()
		_ = tree.Wait()
	}
	if err := started(dir).Run(); err != nil {
		t.Fatal(err)
	}
	if !<-persons {
		t.Error("the control: a program that is in no tree of the host's is its own")
	}
}

// TestHostile: what is in the way is not used, and what a killed host left is nobody's.
func TestHostile(t *testing.T) {
	dir, _ := workspace(t)
	base, err := name(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, err := hostFile(base)
	if err != nil {
		t.Fatal(err)
	}
	hosted(t, dir, Options{Kind: Editor}).Close() // which makes the place
	for what, text := range map[string]string{
		"of a killed host":  localsock.Path("", base+"-killed") + "\n",
		"not all written":   localsock.Path("", base+"-part"),
		"of something else": `\\.\pipe\another` + "\n",
		"a file":            `C:\windows\win.ini` + "\n",
		"empty":             "",
	} {
		if err := ownfile.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	h := hosted(t, dir, Options{Kind: Editor})
	if _, err := Find(t.Context(), dir); err != nil {
		t.Errorf("not taken over: %v", err)
	}
	h.Close()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

// TestKilled: a host that is killed leaves its name free.
func TestKilled(t *testing.T) {
	const hosts = "ATTACH_TEST_HOSTS"
	if dir := os.Getenv(hosts); dir != "" {
		hosted(t, dir, Options{Kind: Editor})
		_, _ = os.Stdout.WriteString("hosts\n")
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	dir, _ := workspace(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), hosts+"="+dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("hosts\n"))); err != nil {
		t.Fatal(err)
	}
	if g, err := Find(t.Context(), dir); err != nil || g.PID != cmd.Process.Pid {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := Listen(dir, Options{Kind: Editor}); !errors.Is(err, ErrTaken) {
		t.Errorf("a second host: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("killed, and found: %v", err)
	}
	hosted(t, dir, Options{Kind: Editor})
}
