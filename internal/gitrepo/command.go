package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// invocation is one run of the git command.
type invocation struct {
	op    string   // a row of operations
	args  []string // flags that the row knows, and values, which never begin with a dash
	paths []string // relative to the top of the working tree, taken as they are
	stdin []byte   // nil: there is none
	env   []string // of the names in ownVariables

	network bool  // reach remotes
	hooks   bool  // run hooks, as far as they may run
	limit   int64 // most bytes of output; 0 means maxOutput
}

const (
	maxOutput = 64 << 20 // bytes of output
	maxErrors = 64 << 10 // bytes of messages that are kept
)

// ownVariables are what a caller may add to the environment.
var ownVariables = []string{"GIT_INDEX_FILE"}

// git runs the git command on the repository and returns its output. Nothing
// is run but the operations of the table, and of what the repository names
// nothing unless the user trusts the workspace: see programs.go. A run that
// fails is an *exitError, unless there are clearer words for it.
func (r *Repo) git(ctx context.Context, c invocation) ([]byte, error) {
	op, args, err := c.line(r.trusted())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, op.time, failf(TimedOut, "git %s was stopped after %v", op.command[0], op.time))
	defer cancel()
	bin, err := r.binary(ctx)
	if err != nil {
		return nil, err
	}
	conf, err := r.settings(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.mayRun(ctx, op, conf); err != nil {
		return nil, err
	}
	if op.index {
		if err := r.soundIndex(conf); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, bin, append([]string{"--no-pager", "--literal-pathspecs"}, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = slices.Concat(r.environment(op, c.network), configEnvironment(r.overrides(conf, op, c.hooks)), c.env)
	if c.stdin != nil {
		cmd.Stdin = bytes.NewReader(c.stdin)
	}
	cmd.WaitDelay = mostRead
	if c.hooks || c.network || r.trusted() {
		cmd.WaitDelay = mostHeld
	}
	limit := c.limit
	if limit == 0 {
		limit = maxOutput
	}
	return run(ctx, cmd, op.name, limit)
}

// line checks an invocation against the table and returns its command line.
func (c *invocation) line(trusted bool) (operation, []string, error) {
	op, ok := findOperation(c.op)
	switch {
	case !ok:
		return op, nil, fmt.Errorf("git: there is no operation %q", c.op)
	case c.network && !op.network:
		return op, nil, fmt.Errorf("git: the operation %s does not reach remotes", c.op)
	case c.hooks && len(op.hooks) == 0:
		return op, nil, fmt.Errorf("git: the operation %s has no hooks", c.op)
	case len(c.paths) > 0 && !op.paths:
		return op, nil, fmt.Errorf("git: the operation %s takes no paths", c.op)
	}
	for _, v := range c.env {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(ownVariables, name) {
			return op, nil, fmt.Errorf("git: the variable %s can't be set", name)
		}
	}
	for _, a := range c.args {
		switch {
		case a == "":
			return op, nil, failf(Invalid, "an empty value is not possible here")
		case strings.IndexByte(a, 0) >= 0:
			return op, nil, failf(Invalid, "%q holds a NUL", shown(a))
		case a[0] == '-' && !op.knows(a):
			return op, nil, failf(Invalid, "%q begins with a dash, so git would take it for an option", shown(a))
		}
	}
	args := slices.Clone(op.command)
	if !trusted {
		args = append(args, op.guarded...)
	}
	args = append(args, c.args...)
	if op.paths {
		args = append(args, "--")
	}
	for _, p := range c.paths {
		if p == "" || strings.IndexByte(p, 0) >= 0 {
			return op, nil, failf(Invalid, "%q is no path", shown(p))
		}
	}
	return op, append(args, c.paths...), nil
}

// binary finds the git command and sees that it is new enough to heed what
// keeps it in bounds.
func (r *Repo) binary(ctx context.Context) (string, error) {
	if r.o.Git == NoGit {
		return "", ErrNoGit
	}
	name := r.o.Git
	if name == "" {
		name = "git"
	}
	bin, err := exec.LookPath(name)
	if err != nil {
		return "", ErrNoGit
	}
	r.runner.mu.Lock()
	defer r.runner.mu.Unlock()
	if r.runner.checked == bin {
		return bin, nil
	}
	cmd := exec.CommandContext(ctx, bin, "version")
	cmd.Env = inherited(always)
	cmd.WaitDelay = mostRead
	out, err := run(ctx, cmd, "version", 1<<10)
	if err != nil {
		return "", fmt.Errorf("git version: %w", err)
	}
	if !atLeast(string(out), 2, 34) {
		return "", fmt.Errorf("%w in a version that can be used: there is %s, and 2.34 is the oldest", ErrNoGit, strings.TrimSpace(string(out)))
	}
	r.runner.checked = bin
	return bin, nil
}

// atLeast reads what git version prints.
func atLeast(line string, major, minor int) bool {
	var x, y int
	if _, err := fmt.Sscanf(line, "git version %d.%d", &x, &y); err != nil {
		return false
	}
	return x > major || x == major && y >= minor
}

// exitError is a run of git that failed.
type exitError struct {
	op     string
	code   int
	stderr string // clean, see cleanMessage
}

func (e *exitError) Error() string {
	if e.stderr == "" {
		return fmt.Sprintf("git %s failed with exit code %d", e.op, e.code)
	}
	return e.stderr
}

// Generous, as all takes its time on a machine under load.
const (
	grace    = time.Second      // git has so long to put away its locks when it is told to stop,
	mostRead = 20 * time.Second // we to read what is in its pipes when it has ended,
	mostHeld = 2 * time.Second  // or less, where a hook or a helper may have left something that holds them
)

// errOutput is the cause of a stop at the limit of the output.
var errOutput = errors.New("the output is too long")

// run runs cmd in a process group of its own, which ends with ctx.
func run(ctx context.Context, cmd *exec.Cmd, op string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	out := &bounded{limit: limit, full: func() { cancel(errOutput) }}
	errs := &bounded{limit: maxErrors, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.Cancel = func() error { return nil } // the group is ended below
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
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
		signalGroup(cmd, false)
		select {
		case <-ended:
		case <-time.After(grace):
		}
		signalGroup(cmd, true)
	}()
	err := cmd.Wait()
	close(ended)
	<-stopped
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOutput):
		return nil, failf(TooMuch, "git %s gives more than %d bytes; narrow what is asked for", op, limit)
	case cause != nil:
		return nil, cause
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return out.data, &exitError{op: op, code: exit.ExitCode(), stderr: cleanMessage(string(errs.data))}
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
