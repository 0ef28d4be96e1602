package confine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Hosted is what a program of the user's has that a command has not.
type Hosted struct {
	Stdin    *os.File     // nil: there is none
	Terminal bool         // standard input is one, and the program's own
	Env      []string     // whole, of which the program gets what is harmless
	Pass     []string     // names in Env that it gets besides
	Network  bool         // it reaches hosts: those of Hosts, or the machine's network where sessions have none of their own
	Idle     []string     // hosts that it asks of its own accord, and works without: nobody is asked about them
	Hosts    []hosts.Host // that it reaches; its model's are among them
	Writable []string     // directories of the user's, by their paths
	Readable []string     // files and directories, likewise
	Runs     []string     // names in Env that name programs which it starts
	Home     string       // its home, "" for that of commands
	InPlace  bool         // it gets the workspace's own paths, and so can't work in a copy elsewhere
}

// Program is a program of the user's in its session's world.
type Program interface {
	shell.Process

	// Watch calls changed when the program has written something and then stops
	// for a moment, until ctx ends.
	Watch(ctx context.Context, changed func()) error

	// Again has the program see what its session sees now, which comes by itself a
	// moment later.
	Again() error
}

// Host starts a program of the user's as Start does a command. It has a world, or
// what it writes would be past the review; but for one in a shadow workspace, whose
// files are its own and reviewed when they are merged.
func (c Commands) Host(ctx context.Context, r shell.Run, h Hosted) (_ Program, err error) {
	if c.o.Program == "" {
		return nil, errNoProgram
	}
	p := &process{}
	if len(h.Hosts) > 0 {
		c.exits.hosted(r.Session, p, h)
		defer func() {
			if err != nil {
				c.exits.left(r.Session, p)
			}
		}()
	}
	local := localhostOf(c.Confiner, r.Session)
	if local.session != "" && c.box.Localhosts().Join(local.session, local.ended) == nil {
		local = localhost{} // this machine has no network namespaces
	}
	r.Root = folderOf(c.o.Folders, r.Dir, r.Root)
	roots := foldersOf(c.Confiner, &r)
	list, unseen, err := specs(ctx, c.Confiner, roots...)
	if err != nil {
		return nil, err
	}
	spec := list[0]
	spec.Terminal = h.Terminal
	// Without a network of its own it has the machine's, or would not reach its model.
	spec.Network = spec.Network || h.Network && local.session == ""
	spec.Writable = append(slices.Clone(spec.Writable), h.Writable...)
	spec.ReadOnly = append(slices.Clone(spec.ReadOnly), h.Readable...)
	if h.Home != "" {
		spec.Home = h.Home
		if err := writeLogin(h.Home); err != nil {
			return nil, err
		}
	}
	r.Argv = slices.Clone(r.Argv)
	path, err := lookPath(r.Argv[0], r.Dir, h.Env)
	if err != nil {
		return nil, &box.RefusedError{Why: err.Error()}
	}
	var readable []string
	if !inAny(path, roots) {
		r.Argv[0], readable = installation(path)
		spec.ReadOnly = append(spec.ReadOnly, readable...)
	}
	spec.ReadOnly = append(spec.ReadOnly, h.show(r.Dir)...)
	spec.Env = withoutVCS(h.environ(), spec.Root)
	local.give(&spec)
	run, why, err := c.enter(&spec, &r)
	switch {
	case err != nil:
		return nil, err
	case run == nil && (why != "" || r.Held): // in a shadow nothing is held
		return nil, &box.RefusedError{Why: "what the program writes could not be reviewed, because it would see the disk: " + why}
	}
	if why := c.keeps(run, h); why != "" {
		_, _ = run.End(false)
		return nil, &box.RefusedError{Why: "what the program writes could not be reviewed, because " + why}
	}
	if run != nil {
		p.runs = []*world.Run{run}
		others, more := enterBeside(c.Confiner, &spec, list[1:], &r, run.Kind())
		p.runs, unseen = append(p.runs, others...), append(unseen, more...)
		p.moved = func() (said []string) {
			for _, text := range unseen {
				said = append(said, strings.ToUpper(text[:1])+text[1:]+".")
			}
			return said
		}
	}
	if p.Cmd, err = c.Command(ctx, spec, r.Dir, r.Argv...); err == nil {
		p.Stdout, p.Stderr = r.Stdout, r.Stderr
		if h.Stdin != nil {
			p.Stdin = h.Stdin
		}
		err = p.reaching(c.exits, local, filepath.Base(r.Argv[0]))
	}
	if err != nil {
		_, _ = p.End(false)
		return nil, err
	}
	c.ports.Runs(p.Done())
	if len(h.Hosts) > 0 {
		go func() {
			<-p.Done()
			c.exits.left(r.Session, p)
		}()
	}
	if run != nil {
		p.follow = time.AfterFunc(0, c.follow)
	}
	return p, nil
}

// keeps is why a program would leave the copy of the workspace that it is to work in;
// "" when it would not.
func (c *Confiner) keeps(run *world.Run, h Hosted) string {
	if run == nil || run.Kind() != world.SeparateCopy {
		return ""
	}
	if loose(c) {
		return "nothing would keep it in a copy of the workspace: there is no sandbox, or sidecar.sandbox.writable lets it write the workspace"
	}
	if h.InPlace {
		return errElsewhere.Error()
	}
	return ""
}

// How long a program must have written nothing before what it wrote is taken over,
// and how long it may write on until that is done all the same.
const (
	hostedQuiet = 100 * time.Millisecond
	hostedMost  = time.Second
)

// Watch implements Program.
func (p *process) Watch(ctx context.Context, changed func()) error {
	for _, run := range p.runs { // without one it wrote where it belongs
		dir, without := run.Written()
		if err := watch.Settled(ctx, dir, without, hostedQuiet, hostedMost, changed); err != nil {
			return err
		}
	}
	return nil
}

// Again implements Program.
func (p *process) Again() error {
	var failed []error
	for _, run := range p.runs {
		failed = append(failed, run.Again())
	}
	return errors.Join(failed...)
}

// show has the variables of Runs name their programs by paths that the program can
// see, and returns what has to be readable for them.
func (h *Hosted) show(dir string) (readable []string) {
	h.Env = slices.Clone(h.Env)
	for i, v := range h.Env {
		name, program, _ := strings.Cut(v, "=")
		if program == "" || !slices.Contains(h.Runs, name) {
			continue
		}
		if path, err := lookPath(program, dir, h.Env); err == nil {
			path, its := installation(path)
			h.Env[i] = name + "=" + path
			readable = append(readable, its...)
		}
	}
	return readable
}

// InWorld is the variable by which the programs of a world know that they are in one.
const InWorld = "SIDECAR_WORLD"

// environ is the environment of the program. What it prints goes to a person's
// terminal, if it has one.
func (h Hosted) environ() []string {
	env := box.Environ(h.Env)
	pass := h.Pass
	if h.Terminal {
		env = slices.DeleteFunc(env, func(v string) bool { // a person may answer
			return strings.HasPrefix(v, "TERM=") || strings.HasPrefix(v, "PAGER=") || strings.HasPrefix(v, "GIT_PAGER=") || slices.Contains(box.Unattended(), v)
		})
		pass = append(slices.Clone(pass), "TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "COLUMNS", "LINES")
	}
	for _, v := range h.Env {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(pass, name) {
			env = append(env, v)
		}
	}
	return append(env, InWorld+"=1")
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
