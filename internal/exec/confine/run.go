package confine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
	"github.com/sidecar-ls/sidecar-ls/internal/files/secrets"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitguard"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
)

// areasOf are the directories that a command writes to, as far as git may meet
// what is in them, the root first: its private home is below the workspace.
func areasOf(spec *box.Spec) (areas []gitguard.Area, err error) {
	add := func(dir string, a gitguard.Area) {
		if dir != "" && err == nil {
			a.Dir, err = filepath.EvalSymlinks(dir)
			areas = append(areas, a)
		}
	}
	add(spec.Root, gitguard.Area{Without: secrets.Apart})
	add(spec.Home, gitguard.Area{Private: true})
	for _, dir := range spec.Writable {
		add(dir, gitguard.Area{})
	}
	return areas, err
}

// Command prepares a program with a Spec. What it makes of repositories is
// looked after until it has ended.
func (c *Confiner) Command(ctx context.Context, spec Spec, dir string, argv ...string) (*sandbox.Cmd, error) {
	return c.command(ctx, spec, nil, dir, argv...)
}

// command is Command; reported are the words by which the program is named where
// something of its making is set aside, none for a command.
func (c *Confiner) command(ctx context.Context, spec Spec, reported []string, dir string, argv ...string) (*sandbox.Cmd, error) {
	spec.Settings = gitcmd.ShownSettings
	spec.makeLogs()
	if len(spec.areas) == 0 || spec.LookOnly {
		return c.box.Command(ctx, spec.Spec, dir, argv...)
	}
	o := gitguard.Options{
		Areas: spec.areas, Repositories: slices.Concat(spec.Repositories, spec.gitDirs), Tidy: tidy,
		Look: func(ctx context.Context, a gitguard.Area) ([]inventory.Item, error) {
			return c.o.Secrets.Look(ctx, a.Dir, a.Without...)
		},
		Told: func(text string) { report(c.o, setAside(text), reported) },
	}
	if c.o.NoHome == nil {
		o.Dir = c.o.Home.Records()
	}
	w, err := gitguard.Begin(o)
	if err != nil {
		return nil, err
	}
	spec.After, spec.Record = w.End, w.Record()
	cmd, err := c.box.Command(ctx, spec.Spec, dir, argv...)
	if err != nil {
		w.End()
	}
	return cmd, err
}

// report reports what was set aside: a command's result says it, and the user
// hears of a program that stays.
func report(o Options, text string, argv []string) {
	if len(argv) == 0 {
		o.Log.Warn(text)
		return
	}
	o.Log.Warn(text, "program", filepath.Base(argv[0]))
	o.Warn(text)
}

// Leftovers ends what a server left unfinished that was killed, and says what
// was set aside of the makings of its commands.
func Leftovers(home statedir.Dir) (said []string) {
	for _, text := range gitguard.Leftovers(home.Records(), tidy, scanArea) {
		said = append(said, setAside(text))
	}
	return said
}

// SettleRecord does the same for one command.
func SettleRecord(record string) { gitguard.After(record, tidy, scanArea) }

// scanArea looks through an area for the first time.
func scanArea(ctx context.Context, a gitguard.Area) ([]inventory.Item, error) {
	return inventory.New(a.Dir, a.Without...).Look(ctx)
}

// tidy removes what a killed server left in the way.
func tidy(dir string, repositories []string) { mask.Sweep(dir, repositories...) }

// setAside says what was set aside when nobody waited for it.
func setAside(text string) string {
	return "a command made what git would run programs of; set aside: " + text
}

// Process is a program that is spoken to on its standard streams.
type Process struct {
	In, Out *os.File
	Wait    func() error
	Kill    func()
	Said    func() string // the end of what it wrote to standard error
}

// Start starts a program that is spoken to on its standard streams.
func (c *Confiner) Start(ctx context.Context, spec Spec, dir string, argv []string) (_ *Process, err error) {
	if c.o.Program == "" {
		return nil, errNoProgram
	}
	cmd, err := c.command(ctx, spec, argv, dir, argv...)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	defer func() {
		if err != nil {
			for _, f := range files {
				f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	theirIn, in, err := pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := pipe()
	if err != nil {
		return nil, err
	}
	said := &lastWords{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	theirIn.Close()
	theirOut.Close()
	return &Process{In: in, Out: out, Wait: cmd.Wait, Kill: cmd.Kill, Said: said.String}, nil
}

// installation is the path of a program without links on the way (one at its
// end stays: some programs go by their name), and what has to be readable for it to run: its directory, and for
// one of npm's all packages that were installed with it.
func installation(program string) (path string, readable []string) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil {
		return program, nil
	}
	path = filepath.Join(dir, filepath.Base(program))
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	home, _ := os.UserHomeDir()
	for _, name := range names {
		dir := filepath.Dir(name)
		if i := strings.Index(name, "/node_modules/"); i >= 0 {
			dir = name[:i+len("/node_modules")]
		}
		if dir != home && dir != "/" && !slices.Contains(readable, dir) {
			readable = append(readable, dir)
		}
	}
	return path, readable
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu  sync.Mutex
	buf []byte
}

const maxLastWords = 4 << 10

func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	if len(l.buf) > 2*maxLastWords {
		l.buf = append(l.buf[:0], l.buf[len(l.buf)-maxLastWords:]...)
	}
	return len(b), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.buf))
}
