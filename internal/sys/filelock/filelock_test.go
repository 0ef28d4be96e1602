package filelock

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestMain is also the process that holds a lock until its input ends.
func TestMain(m *testing.M) {
	name := os.Getenv("FILELOCK_TEST")
	if name == "" {
		os.Exit(m.Run())
	}
	f, err := Open(name)
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until it is killed
	f.Close()
}

// another process holds name until it is killed.
func another(t *testing.T, name string) (pid int, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FILELOCK_TEST="+name)
	out, err1 := cmd.StdoutPipe()
	_, err2 := cmd.StdinPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "held" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return cmd.Process.Pid, kill
}

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(name)
	held, ok := errors.AsType[*HeldError](err)
	if !ok || !errors.Is(err, ErrLocked) || held.Process != strconv.Itoa(os.Getpid()) {
		t.Errorf("a second holder in this process: %v", err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != strconv.Itoa(os.Getpid())+"\n" {
		t.Errorf("others read %q, %v", data, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(name)
	if err != nil {
		t.Fatalf("control: free again: %v", err)
	}
	again.Close()
}

func TestOtherProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	if err := ownfile.WriteFile(name, []byte("a longer text than a process number\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pid, kill := another(t, name)
	_, err := Open(name)
	held, ok := errors.AsType[*HeldError](err)
	if !ok {
		t.Fatalf("held by another process: %v", err)
	}
	if held.Process != strconv.Itoa(pid) {
		t.Errorf("held by %q, want %d", held.Process, pid)
	}
	kill()
	f, err := Open(name)
	if err != nil {
		t.Fatalf("control: the holder was killed: %v", err)
	}
	f.Close()
}

// TestRemoved: who locks a file that its holder has removed locks nothing.
func TestRemoved(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	for range 3 {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		have, err1 := f.Stat()
		there, err2 := os.Lstat(name)
		if err1 != nil || err2 != nil || !os.SameFile(have, there) {
			t.Errorf("the locked file is not the one of that name: %v, %v", err1, err2)
		}
		if err := errors.Join(ownfile.Remove(name), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWait(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	second, err := ownfile.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := TryLock(second); !errors.Is(err, ErrLocked) {
		t.Errorf("held: %v", err)
	}
	got := make(chan error)
	go func() { got <- Lock(second) }()
	if err := Unlock(first); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatalf("waited for: %v", err)
	}
	if err := TryLock(first); !errors.Is(err, ErrLocked) {
		t.Errorf("it is the other's now: %v", err)
	}
	if err := errors.Join(Unlock(second), TryLock(first), first.Close()); err != nil {
		t.Errorf("control: free again: %v", err)
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none", "lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
