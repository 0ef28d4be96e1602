package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// pty opens a terminal: what is written to tty is read from the other end.
func pty(t *testing.T) (other, tty *os.File) {
	t.Helper()
	const setLock, getNumber = 0x40045431, 0x80045430 // TIOCSPTLCK and TIOCGPTN, ioctl_tty(2)
	other, err := ownfile.Device("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY)
	if err != nil {
		needs.Skip(t, needs.Terminals, "there are no terminals here:", err)
	}
	t.Cleanup(func() { other.Close() })
	var unlocked, number int32
	for _, c := range []struct {
		request uintptr
		arg     *int32
	}{{setLock, &unlocked}, {getNumber, &number}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, other.Fd(), c.request, uintptr(unsafe.Pointer(c.arg))); errno != 0 {
			needs.Skip(t, needs.Terminals, "there are no terminals here:", errno)
		}
	}
	if tty, err = ownfile.Device(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY); err != nil {
		needs.Skip(t, needs.Terminals, "there are no terminals here:", err)
	}
	return other, tty
}

// TestTerminal: a name or a text in a shadow does not steer the terminal of
// whoever looks at it, and gets to files and programs as it is.
func TestTerminal(t *testing.T) {
	repo := e2e.Repository(t, "a", "one\n")
	const name, text = "b\x1b[1A\x1b[2Kx", "\x1b]0;title\a two\u202e\n"
	run := func(out, errs io.Writer, args ...string) {
		t.Helper()
		if code := cli.Main(t.Context(), append([]string{"shadow", "--root", repo.Dir}, args...), cli.Streams{Out: out, Err: errs}); code > 1 {
			t.Fatalf("%q: exit %d", args, code)
		}
	}
	run(io.Discard, io.Discard, "create", "x")
	repo.Write(".sidecar/shadows/x/"+name, text)
	repo.At(".sidecar/shadows/x").Git("init", "-q", "in\x1bner")
	for _, args := range [][]string{{"diff", "x"}, {"merge", "--into", "tree", "x"}} {
		var plain, plainErr bytes.Buffer
		if args[0] == "diff" {
			run(&plain, &plainErr, args...)
			if !strings.Contains(plain.String(), text) {
				t.Errorf("%q, the control: %q", args, plain.String())
			}
		}
		other, tty := pty(t)
		seen := make(chan string)
		go func() {
			data, _ := io.ReadAll(other) // ends with an error when nobody has the terminal any more
			seen <- string(data)
		}()
		run(tty, tty, args...)
		tty.Close()
		got := <-seen
		if strings.ContainsAny(got, "\x1b\a\u202e") || !strings.Contains(got, "<U+001B>") {
			t.Errorf("%q on a terminal: %q", args, got)
		}
	}
}
