package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// Cmd is a command that is confined. Its streams are set before Start; nil is
// the null device, as for exec.Cmd.
type Cmd struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	level    spec.Level
	reaches  spec.Outside
	removed  []string
	lost     atomic.Pointer[string] // a protection that went while it ran
	replaced atomic.Pointer[string] // one that went, and was put back
	watched  <-chan struct{}        // closed once the protections are watched; nil when there is nothing to watch
	plain    bool                   // nothing stands between us and the command

	left   <-chan struct{} // closed when its session has ended; nil: never
	ctx    context.Context
	proc   runner
	report *report
	tidy   func() // after the end
	delay  time.Duration

	done      chan struct{}
	err       error
	cancelled error // why the context ended the command
}

// runner is what runs a command, at every level.
type runner interface {
	// Start starts it with these streams, which it does not keep. What is not
	// started is a *setupError.
	Start(in, out, said *os.File) error
	// Wait returns the exit code when nothing is left of it.
	Wait() (code int, err error)
	Kill() // ends the whole tree, also while it is started
}

// errLeft is the end of a command with that of its session.
var errLeft = errors.New("the session has ended, and its commands with it")

// ExitError is the end of a command with another exit code than 0.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// ExitCode is the command's, or 128 + n when signal n ended it.
func (e *ExitError) ExitCode() int { return e.Code }

// Command prepares a command in dir, which its process sees under the same
// name. The context ends the whole tree of its processes. Nothing is started
// if it can't be confined as the Spec demands.
func (s *Sandbox) Command(ctx context.Context, want spec.Spec, dir string, argv ...string) (*Cmd, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, &spec.RefusedError{Why: "there is no command"}
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return nil, &spec.RefusedError{Why: "an argument has a NUL byte in it, which no program can be given"}
		}
	}
	level, err := s.LevelFor(want.Mode)
	if err != nil {
		return nil, err
	}
	if want, err = want.Resolve(); err != nil {
		return nil, err
	}
	c, err := s.prepare(level, want, dir, argv)
	if err != nil {
		return nil, err
	}
	c.ctx = ctx
	return c, nil
}

// capture runs a command in the root of a Spec and returns what it printed.
func (s *Sandbox) capture(ctx context.Context, level spec.Level, want spec.Spec, argv ...string) ([]byte, error) {
	want, err := want.Resolve()
	if err != nil {
		return nil, err
	}
	c, err := s.prepare(level, want, want.Root, argv)
	if err != nil {
		return nil, err
	}
	c.ctx = ctx
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		var exit *ExitError
		if errors.As(err, &exit) {
			return out.Bytes(), fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
		}
		return out.Bytes(), err
	}
	return out.Bytes(), nil
}

func reaches(network bool) spec.Outside {
	if network {
		return spec.AnyHost
	}
	return spec.NoHost
}

// Process is the number of a process that all of the command's are below; 0: it is not known.
func (c *Cmd) Process() int {
	if p, ok := c.proc.(interface{ Process() int }); ok {
		return p.Process()
	}
	return 0
}

// Level is how the command is confined.
func (c *Cmd) Level() spec.Level { return c.level }

// Words say how the command is confined, for its result; after its end also
// why it was ended, if that was because it was not any more.
func (c *Cmd) Words() string {
	words := c.level.Words(c.reaches)
	if path := c.lost.Load(); path != nil {
		words += fmt.Sprintf("; the command was ended, because another program replaced or removed %s, which the sandbox protects: look at what is in it now", *path)
	}
	if path := c.replaced.Load(); path != nil {
		words += fmt.Sprintf("; another program replaced %s meanwhile, which the sandbox protects: the command could have read or changed it for a moment", *path)
	}
	return words
}

// Removed lists files that the command made and that were taken away after it,
// because a program of the user's would have obeyed them.
func (c *Cmd) Removed() []string { return c.removed }

// Start starts the command. It returns when the command runs, or with the
// reason why it does not.
func (c *Cmd) Start() error {
	if c.ctx.Err() != nil {
		c.tidy()
		return context.Cause(c.ctx)
	}
	c.report = &report{to: c.Stderr, ready: make(chan struct{})}
	if c.plain {
		c.report.begin()
	}
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-c.ctx.Done():
			c.cancelled = context.Cause(c.ctx)
			c.proc.Kill()
		case <-c.left:
			c.cancelled = errLeft
			c.proc.Kill()
		case <-ended:
		}
	}()
	p, err := c.open()
	if err == nil {
		err = c.proc.Start(p.in, p.out, p.said)
	}
	p.closeTheirs()
	if err != nil {
		close(ended)
		<-watched
		p.closeOurs()
		p.copied.Wait() // who gave the streams has them back
		c.tidy()
		if c.cancelled != nil {
			return c.cancelled
		}
		return err
	}
	c.done = make(chan struct{})
	go func() {
		code, err := c.proc.Wait()
		close(ended)
		<-watched
		p.finish(c.delay)
		if c.err = err; err == nil && code != 0 {
			c.err = &ExitError{code}
		}
		c.tidy()
		close(c.done)
	}()
	select {
	case <-c.report.ready:
		if c.watched != nil {
			<-c.watched
		}
		return nil
	case <-c.done:
		return c.startError()
	}
}

// startError says why there was no command. A command that was started and
// has ended already is none.
func (c *Cmd) startError() error {
	said, ok := c.report.before()
	if ok {
		return nil
	}
	switch said = strings.TrimSpace(said); {
	case said != "":
	case c.err != nil:
		said = c.err.Error()
	default:
		said = "what sets up the sandbox ended without a word"
	}
	return &spec.SetupError{Said: said}
}

// Wait waits for the end of the command and of all its processes. The error is
// an *ExitError, or the context's error.
func (c *Cmd) Wait() error {
	<-c.done
	if c.cancelled != nil {
		return c.cancelled
	}
	return c.err
}

// Run starts the command and waits for its end.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Kill ends the command and all its processes.
func (c *Cmd) Kill() { c.proc.Kill() }

// report is the standard error of what sets up the sandbox, and then of the
// command.
type report struct {
	to io.Writer

	mu    sync.Mutex
	early []byte
	ready chan struct{}
	set   atomic.Bool
}

// maxEarly bounds what is kept of what was said before the command ran.
const maxEarly = 16 << 10

func (r *report) Write(b []byte) (int, error) {
	if r.set.Load() {
		return r.pass(b, len(b))
	}
	r.mu.Lock()
	r.early = append(r.early, b...)
	before, after, ok := strings.Cut(string(r.early), child.Started)
	if ok {
		r.early = []byte(before)
		r.begin()
	} else if len(r.early) > maxEarly {
		r.early = r.early[len(r.early)-maxEarly:]
	}
	r.mu.Unlock()
	if ok && after != "" {
		return r.pass([]byte(after), len(b))
	}
	return len(b), nil
}

// begin ends what the sandbox says.
func (r *report) begin() {
	r.set.Store(true)
	close(r.ready)
}

func (r *report) pass(b []byte, n int) (int, error) {
	if r.to == nil {
		return n, nil
	}
	if _, err := r.to.Write(b); err != nil {
		return 0, err
	}
	return n, nil
}

// before is what was said before the command ran; ok is true when it ran.
func (r *report) before() (said string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.early), r.set.Load()
}
