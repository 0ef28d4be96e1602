package confine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Hosted is what a program of the user's has that a command has not.
type Hosted struct {
	Stdin    *os.File
	Terminal bool     // standard input is one, and the program's own
	Env      []string // whole, of which the program gets what is harmless
	Pass     []string // names in Env that it gets besides
	Network  bool
	Writable []string // directories of the user's, by their paths
	Home     string   // its home, "" for that of commands
}

// Program is a program of the user's in its session's world.
type Program interface {
	shell.Process

	// Watch calls changed when the program has written something and then stops
	// for a moment, until ctx ends.
	Watch(ctx context.Context, changed func()) error
}

// Host starts a program of the user's as Start does a command. It always has a world:
// else what it writes would be past the review.
func (c Commands) Host(ctx context.Context, r shell.Run, h Hosted) (Program, error) {
	if c.o.Program == "" {
		return nil, errNoProgram
	}
	spec, err := c.Spec(ctx, r.Root)
	if err != nil {
		return nil, err
	}
	spec.Env = h.environ()
	spec.Terminal = h.Terminal
	spec.Network = spec.Network || h.Network
	spec.Writable = append(slices.Clone(spec.Writable), h.Writable...)
	if h.Home != "" {
		spec.Home = h.Home
	}
	r.Argv = slices.Clone(r.Argv)
	path, err := lookPath(r.Argv[0], r.Dir, h.Env)
	if err != nil {
		return nil, &sandbox.RefusedError{Why: err.Error()}
	}
	var readable []string
	if !strings.HasPrefix(path, r.Root+string(filepath.Separator)) {
		r.Argv[0], readable = installation(path)
		spec.ReadOnly = append(slices.Clone(spec.ReadOnly), readable...)
	}
	run, why, err := c.enter(&spec, r)
	switch {
	case err != nil:
		return nil, err
	case run == nil:
		return nil, &sandbox.RefusedError{Why: "what the program writes could not be reviewed, because it would see the disk: " + why}
	}
	p := &process{run: run}
	if p.Cmd, err = c.Command(ctx, spec, r.Dir, r.Argv...); err == nil {
		p.Stdin, p.Stdout, p.Stderr = h.Stdin, r.Stdout, r.Stderr
		err = p.Start()
	}
	if err != nil {
		_, _ = p.End(false)
		return nil, err
	}
	p.follow = time.AfterFunc(0, c.follow)
	return p, nil
}

// How long a program must have written nothing before what it wrote is taken over,
// and how long it may write on until that is done all the same.
const (
	hostedQuiet = 100 * time.Millisecond
	hostedMost  = time.Second
)

// Watch implements Program.
func (p *process) Watch(ctx context.Context, changed func()) error {
	dir, without := p.run.Written()
	return watch.Settled(ctx, dir, without, hostedQuiet, hostedMost, changed)
}

// environ is the environment of the program. What it prints goes to a person's
// terminal, if it has one.
func (h Hosted) environ() []string {
	env := sandbox.Environ(h.Env)
	pass := h.Pass
	if h.Terminal {
		env = slices.DeleteFunc(env, func(v string) bool {
			return strings.HasPrefix(v, "TERM=") || strings.HasPrefix(v, "PAGER=") || strings.HasPrefix(v, "GIT_PAGER=")
		})
		pass = append(slices.Clone(pass), "TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "COLUMNS", "LINES")
	}
	for _, v := range h.Env {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(pass, name) {
			env = append(env, v)
		}
	}
	return env
}

// lookPath finds a program as a shell in dir would, with the PATH of env.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, v := range slices.Backward(env) {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, d := range filepath.SplitList(list) {
			if path := filepath.Join(d, name); filepath.IsAbs(d) && executable(path) {
				return path, nil
			}
		}
		break
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
