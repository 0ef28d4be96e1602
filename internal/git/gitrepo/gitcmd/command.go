package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// Invocation is one run of the git command.
type Invocation struct {
	Op    string   // a row of operations
	Args  []string // flags that the row knows, and values, which never begin with a dash
	Paths []string // relative to the top of the working tree, taken as they are
	Stdin []byte   // nil: there is none
	Env   []string // of the names in ownVariables

	Network bool  // reach remotes
	Limit   int64 // most bytes of output; 0 means maxOutput
}

const (
	maxOutput = 64 << 20 // bytes of output
	maxErrors = 64 << 10 // bytes of messages that are kept
)

// ownVariables are what a caller may add to the environment.
var ownVariables = []string{"GIT_INDEX_FILE"}

// Run runs the git command on the repository and returns its output. Nothing
// is run but the operations of the table, and nothing that the repository names,
// whether or not the user trusts the workspace: git runs outside of the sandbox.
// See programs.go. A run that
// fails is an *ExitError, unless there are clearer words for it.
func (g *Git) Run(ctx context.Context, c Invocation) ([]byte, error) {
	op, args, err := c.line()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, op.time, Failf(TimedOut, "git %s was stopped after %v", op.command[0], op.time))
	defer cancel()
	bin, err := g.binary(ctx)
	if err != nil {
		return nil, err
	}
	conf, err := g.Settings(ctx)
	if err != nil {
		return nil, err
	}
	if err := g.mayRun(ctx, op, conf); err != nil {
		return nil, err
	}
	if op.writes {
		if err := g.NoLinks(); err != nil {
			return nil, err
		}
	}
	if op.index {
		if err := g.soundIndex(conf); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(bin, append([]string{"--no-pager", "--literal-pathspecs"}, args...)...) //nolint:noctx // run ends it
	cmd.Dir = g.Dir
	cmd.Env = slices.Concat(g.environment(op, c.Network), configEnvironment(g.overrides(conf, op)), c.Env)
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	cmd.WaitDelay = maxPipeWait
	if c.Network {
		cmd.WaitDelay = maxHeldWait
	}
	limit := c.Limit
	if limit == 0 {
		limit = maxOutput
	}
	return run(ctx, cmd, op.name, limit)
}

// line checks an invocation against the table and returns its command line.
func (c *Invocation) line() (operation, []string, error) {
	op, ok := findOperation(c.Op)
	switch {
	case !ok:
		return op, nil, fmt.Errorf("git: there is no operation %q", c.Op)
	case c.Network && !op.network:
		return op, nil, fmt.Errorf("git: the operation %s does not reach remotes", c.Op)
	case len(c.Paths) > 0 && !op.paths:
		return op, nil, fmt.Errorf("git: the operation %s takes no paths", c.Op)
	}
	for _, v := range c.Env {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(ownVariables, name) {
			return op, nil, fmt.Errorf("git: the variable %s can't be set", name)
		}
	}
	for _, a := range c.Args {
		switch {
		case a == "":
			return op, nil, Failf(Invalid, "an empty value is not possible here")
		case strings.IndexByte(a, 0) >= 0:
			return op, nil, Failf(Invalid, "%q holds a NUL", Shown(a))
		case a[0] == '-' && !op.knows(a):
			return op, nil, Failf(Invalid, "%q begins with a dash, so git would take it for an option", Shown(a))
		}
	}
	args := slices.Concat(op.command, op.guarded, c.Args)
	if op.paths {
		args = append(args, "--")
	}
	for _, p := range c.Paths {
		if p == "" || strings.IndexByte(p, 0) >= 0 {
			return op, nil, Failf(Invalid, "%q is not a path", Shown(p))
		}
	}
	return op, append(args, c.Paths...), nil
}

// binary finds the git command and sees that it is new enough to obey what
// keeps it in bounds.
func (g *Git) binary(ctx context.Context) (string, error) {
	if g.bin == NoGit {
		return "", ErrNoGit
	}
	name := g.bin
	if name == "" {
		name = "git"
	}
	bin, err := g.programs.Find(name, g.own()...)
	if err != nil {
		return "", noGit(err)
	}
	g.runner.mu.Lock()
	defer g.runner.mu.Unlock()
	if g.runner.checked == bin {
		return bin, nil
	}
	cmd := exec.Command(bin, "version") //nolint:noctx // run ends it
	cmd.Env = g.inherited(always)
	cmd.WaitDelay = maxPipeWait
	out, err := run(ctx, cmd, "version", 1<<10)
	if err != nil {
		return "", fmt.Errorf("git version: %w", err)
	}
	if !atLeast(string(out), 2, 34) {
		return "", fmt.Errorf("%w in a version that can be used: there is %s, and 2.34 is the oldest", ErrNoGit, strings.TrimSpace(string(out)))
	}
	g.runner.checked = bin
	return bin, nil
}

// own are the directories that are the repository's, from which no program is taken.
func (g *Git) own() (dirs []string) {
	for _, dir := range []string{g.Dir, g.GitDir, g.CommonDir} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, g.besides...)
}

// noGit is ErrNoGit, with what was found and is not taken.
func noGit(err error) error {
	var e *lookup.Error
	if errors.As(err, &e) && len(e.Passed) > 0 {
		return fmt.Errorf("%w where it may be taken from: %w", ErrNoGit, e)
	}
	return ErrNoGit
}

// atLeast reads what git version prints.
func atLeast(line string, major, minor int) bool {
	var x, y int
	if _, err := fmt.Sscanf(line, "git version %d.%d", &x, &y); err != nil {
		return false
	}
	return x > major || x == major && y >= minor
}

// ExitError is a run of git that failed.
type ExitError struct {
	Op     string
	Code   int
	Stderr string // clean, see CleanMessage
}

func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("git %s failed with exit code %d", e.Op, e.Code)
	}
	return e.Stderr
}

// Generous, as all takes its time on a machine under load.
const (
	grace       = time.Second      // git has so long to put away its locks when it is told to stop,
	maxPipeWait = 20 * time.Second // we to read what is in its pipes when it has ended,
	maxHeldWait = 2 * time.Second  // or less, where a helper may have left something that holds them
)

// errOutput is the cause of a stop at the limit of the output.
var errOutput = errors.New("the output is too long")

// run runs cmd as a tree of processes, which ends with ctx.
func run(ctx context.Context, cmd *exec.Cmd, op string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	out := &bounded{limit: limit, full: func() { cancel(errOutput) }}
	errs := &bounded{limit: maxErrors, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, errs
	tree, err := proctree.Start(cmd, proctree.Limits{})
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", op, err)
	}
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		if tree.Terminate() { // git takes its locks away when it is asked
			select {
			case <-ended:
			case <-time.After(grace):
			}
		}
		tree.Kill()
	}()
	err = cmd.Wait()
	close(ended)
	<-stopped
	tree.Leave() // what a helper has left may go on
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOutput):
		return nil, Failf(TooMuch, "git %s gives more than %d bytes; narrow what is asked for", op, limit)
	case cause != nil:
		return nil, cause
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return out.data, &ExitError{Op: op, Code: exit.ExitCode(), Stderr: CleanMessage(string(errs.data))}
	case errors.Is(err, exec.ErrWaitDelay): // git has ended well and left something in the background
		return out.data, nil
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", op, err)
	}
	return out.data, nil
}

// bounded keeps the first limit bytes written to it.
type bounded struct {
	data  []byte
	limit int64
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - int64(len(b.data)); int64(len(p)) > room {
		b.data = append(b.data, p[:max(room, 0)]...)
		b.full()
	} else {
		b.data = append(b.data, p...)
	}
	return len(p), nil
}
