package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// RunIn is a server of the real program, with an editor, in review.
func RunIn(t *testing.T, dir string) *Rig {
	t.Helper()
	return RunWith(t, dir, fakeeditor.Options{})
}

// RunWith is RunIn with an editor that has other options.
func RunWith(t *testing.T, dir string, o fakeeditor.Options) *Rig {
	t.Helper()
	r := Begin(t, dir, o, func(in io.Reader, out io.Writer) error {
		cmd := exec.CommandContext(context.Background(), program.ServerAnywhere(t), "serve")
		cmd.Stdout = out
		to, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(to, in) }()
		return cmd.Run()
	})
	r.Mode("review")
	return r
}

// Running is `sidecar-ls run` as a process.
type Running struct {
	*exec.Cmd
	t    *testing.T
	In   io.WriteCloser
	Out  *bufio.Scanner
	Said said
}

// said is what a program writes on standard error.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	on   map[string]func()
}

// Write implements io.Writer.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	for text, f := range s.on {
		if strings.Contains(s.text.String(), text) {
			delete(s.on, text)
			f()
		}
	}
	return n, err
}

// String is all of it.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// OnSaid calls f once when the program has written a text, from now on.
func (r *Running) OnSaid(text string, f func()) {
	r.Said.mu.Lock()
	defer r.Said.mu.Unlock()
	r.Said.on = map[string]func(){text: f}
}

// Runs starts `sidecar-ls run` in a directory.
func Runs(t *testing.T, dir string, args ...string) *Running {
	t.Helper()
	return RunsIn(t, dir, append([]string{"run", "--root", dir}, args...)...)
}

// RunsIn starts sidecar-ls in a directory.
func RunsIn(t *testing.T, dir string, args ...string) *Running {
	t.Helper()
	r := &Running{t: t, Cmd: exec.CommandContext(t.Context(), program.ServerAnywhere(t), args...)}
	r.Dir = dir
	r.Stderr = &r.Said
	var err error
	if r.In, err = r.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Out = bufio.NewScanner(out)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// Next is the next line that it prints.
func (r *Running) Next() string {
	r.t.Helper()
	if !r.Out.Scan() {
		_ = r.Wait()
		r.t.Fatalf("it printed no more: %v\n%s", r.Out.Err(), r.Said.String())
	}
	return r.Out.Text()
}

// Ends waits for its end with a code.
func (r *Running) Ends(code int, said ...string) {
	r.t.Helper()
	for r.Out.Scan() {
		r.t.Errorf("it printed %q, too", r.Out.Text())
	}
	err := r.Wait()
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if got != code {
		r.t.Errorf("exit code %d, want %d: %s", got, code, r.Said.String())
	}
	for _, s := range said {
		if !strings.Contains(r.Said.String(), s) {
			r.t.Errorf("it does not say %q but %q", s, r.Said.String())
		}
	}
}
