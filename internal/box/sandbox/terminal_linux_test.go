package sandbox

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// TestTerminal: a command can have a terminal of its own, whose size it hears of and
// that sends it what is typed; without one it has none.
func TestTerminal(t *testing.T) {
	eachLevel(t, []spec.Level{spec.Landlock, spec.Bubblewrap, spec.Full}, testTerminal)
}

func testTerminal(t *testing.T, s *Sandbox) {
	root := realTemp(t)
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 10, Cols: 33}); err != nil {
		t.Fatal(err)
	}
	cmd, err := s.Command(t.Context(), spec.Spec{Root: root, Terminal: true, Env: append(spec.Environ(os.Environ()), "TERM=xterm")}, root, "bash", "-c",
		`trap 'stty size < /dev/tty' WINCH; trap 'echo interrupted; exit 7' INT; tty -s && test -t 1 && test -t 2 && stty size >&2; echo ready; while :; do sleep 0.05; done`)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	lines := bufio.NewScanner(ours)
	next := func(want string) {
		t.Helper()
		for lines.Scan() {
			if got := strings.TrimSpace(lines.Text()); got == want {
				return
			} else if strings.Contains(got, "sandbox is set up") {
				t.Error("the sandbox speaks on the command's terminal")
			}
		}
		t.Fatalf("no %q: %v", want, lines.Err())
	}
	next("10 33")
	next("ready")
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 20, Cols: 44}); err != nil {
		t.Fatal(err)
	}
	next("20 44")
	if _, err := io.WriteString(ours, "\x03"); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if e, ok := err.(*ExitError); !ok || e.Code != 7 { //nolint:errorlint // Wait gives it as it is
		t.Errorf("it ended with %v", err)
	}
	plain, err := s.Command(t.Context(), spec.Spec{Root: root, Env: spec.Environ(os.Environ())}, root, "bash", "-c", "tty -s || : < /dev/tty || echo none")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	plain.Stdout = &out
	if err := plain.Run(); err != nil || out.String() != "none\n" {
		t.Errorf("without a terminal: %q, %v", out.String(), err)
	}
}
