package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/rights"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Machine has the facts about the machine, besides the level.
type Machine struct {
	Bwrap         string // "" is none
	DisableUserns bool   // bwrap knows --disable-userns
	Landlock      int    // version
	Home          string // of the user
	Cgroups       []string
}

// probeTimeout bounds one round of trying.
const probeTimeout = 20 * time.Second

// Prober tries levels out on a machine.
type Prober struct {
	Self     string // the path of this program
	Machine  Machine
	CacheDir string // where what was found out is kept; "" is nowhere

	// Capture runs a command in the root of a Spec, at a level, and returns what it printed.
	Capture func(ctx context.Context, level spec.Level, want spec.Spec, argv ...string) ([]byte, error)
}

// Status finds the level: the highest that can be set up, and that holds what it
// must. Results hold until the machine, this program or bwrap changes. A wrong
// memory does no harm: a level that can't be set up runs nothing.
func (p *Prober) Status() Status {
	if p.Self == "" {
		return Status{Broken: "the server does not know the path of its own program"}
	}
	if known, ok := recall[Status](p, CacheName); ok && known.Level >= spec.None && known.Level <= spec.Full {
		return known
	}
	st, tried := p.find()
	if tried && st.Broken == "" {
		remember(p, CacheName, st)
	}
	return st
}

// FindMachine finds what there is, without trying whether it works. bwrap is the
// program; "" has programs look for it.
func FindMachine(bwrap string, programs *lookup.Finder) Machine {
	m := Machine{Landlock: rights.LandlockVersion(), Cgroups: keeper.CgroupParents(), Home: userHome()}
	found := bwrap
	if found == "" {
		var err error
		if found, err = programs.Find("/usr/bin/bwrap"); err != nil { // the one that a distribution's security profile names
			found, _ = programs.Find("bwrap")
		}
	}
	if found != "" && spec.Exists(found) {
		m.Bwrap = found
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, found, "--help")
		cmd.Env = programs.Environ()
		help, _ := cmd.CombinedOutput()
		m.DisableUserns = bytes.Contains(help, []byte("--disable-userns"))
	}
	return m
}

// userHome is the path under which commands see their private home.
func userHome() string {
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil || !filepath.IsAbs(home) || slices.Contains(spec.SystemDirs, home) || home == "/" {
		return "/home/user"
	}
	return home
}

// find tries out the levels, the best first. tried is false when one of them
// could not be tried, for a reason that may pass.
func (p *Prober) find() (st Status, tried bool) {
	var why string
	tried = true
	old := fmt.Sprintf("the kernel has version %d of Landlock, and %d is needed", p.Machine.Landlock, rights.LeastLandlock)
	try := func(level spec.Level) (done bool) {
		err := p.check(level)
		var broken *brokenError
		var scene *sceneError
		switch {
		case err == nil:
			st = Status{Level: level, Why: why}
			return true
		case errors.As(err, &broken):
			st = Status{Broken: broken.what}
			return true
		case errors.As(err, &scene):
			tried = false
		}
		if level >= spec.Bubblewrap {
			why = "bubblewrap does not work: " + err.Error()
		} else {
			why = Join(why, err.Error())
		}
		return false
	}
	switch {
	case p.Machine.Bwrap == "":
		why = "bubblewrap is not installed"
	case p.Machine.Landlock >= rights.LeastLandlock:
		if try(spec.Full) {
			return st, tried
		}
	default:
		why = old
		if try(spec.Bubblewrap) {
			return st, tried
		}
	}
	if p.Machine.Landlock < rights.LeastLandlock {
		return Status{Why: Join(why, old)}, tried
	}
	if try(spec.Landlock) {
		return st, tried
	}
	return Status{Why: why}, tried
}

// brokenError says what a level let through, or what honest programs could not
// do in it.
type brokenError struct{ what string }

func (e *brokenError) Error() string { return e.what }

// sceneError says why there is nothing to try a level with: that says nothing
// about the level.
type sceneError struct{ err error }

func (e *sceneError) Error() string {
	return fmt.Sprintf("the sandbox can't be tried out: %v", e.err)
}
func (e *sceneError) Unwrap() error { return e.err }

// check tries out a level. What is neither broken nor fine can't be set up.
func (p *Prober) check(level spec.Level) error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	trials, err := p.Trials(ctx, level, tryFew)
	var setup *spec.SetupError
	var scene *sceneError
	switch {
	case errors.As(err, &setup):
		return errors.New(setup.Said)
	case errors.As(err, &scene):
		return err
	case err != nil:
		return &brokenError{err.Error()}
	}
	what := ""
	for _, t := range trials {
		if t.Must && !t.Held {
			what = Join(what, fmt.Sprintf("%s: a command could %s", level, t.Name))
		}
	}
	if what != "" {
		return &brokenError{what}
	}
	return nil
}

// honest is a script that must work at every level. It prints "one" and "two".
const honest = `set -e; echo one > made; mkdir -p dir; mv made dir/made; t=$(mktemp); cat dir/made > "$t"; sort "$t"; rm -r dir "$t"; ls /usr/bin > /dev/null; echo two > "$HOME/made"; cat "$HOME/made"`

// Trials makes attempts in a sandbox and outside of it.
func (p *Prober) Trials(ctx context.Context, level spec.Level, which string) (_ []Trial, err error) {
	tmp, err := os.MkdirTemp("", "sidecar-ls-sandbox-*")
	if err != nil {
		return nil, &sceneError{err}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return nil, &sceneError{err}
	}
	run := func(name string, do func(w *scene) ([]byte, error)) (map[string]string, error) {
		w, done, err := NewScene(p.Self, filepath.Join(tmp, name))
		if err != nil {
			return nil, &sceneError{err}
		}
		defer done()
		out, err := do(w)
		if err != nil {
			return nil, err
		}
		var list []outcome
		if err := json.Unmarshal(out, &list); err != nil {
			return nil, fmt.Errorf("the probe gave no result: %w", err)
		}
		met := map[string]string{}
		for _, o := range list {
			met[o.Name] = o.Error
		}
		return met, nil
	}
	inside, err := run("inside", func(w *scene) ([]byte, error) {
		if out, err := p.Capture(ctx, level, w.spec(), "sh", "-c", honest); err != nil || string(out) != "one\ntwo\n" {
			var setup *spec.SetupError
			if errors.As(err, &setup) {
				return nil, err
			}
			return nil, fmt.Errorf("%s: ordinary programs do not work (%q, %w)", level, out, err)
		}
		self := p.Self
		if level >= spec.Bubblewrap {
			self = mask.HelperPath
		}
		data, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		return p.Capture(ctx, level, w.spec(), self, child.InitCommand, child.RoleTry, which, string(data))
	})
	if err != nil {
		return nil, err
	}
	outside := map[string]string{}
	if which == TryAll {
		outside, err = run("outside", func(w *scene) ([]byte, error) {
			data, err := json.Marshal(w)
			if err != nil {
				return nil, err
			}
			cmd := exec.CommandContext(ctx, p.Self, child.InitCommand, child.RoleTry, which, string(data))
			cmd.Dir = w.Root
			return cmd.Output()
		})
		if err != nil {
			return nil, err
		}
	}
	var trials []Trial
	for _, a := range attempts() {
		met, ok := inside[a.name]
		if !ok {
			continue
		}
		control, tried := outside[a.name]
		trials = append(trials, Trial{Name: a.name, Must: a.from <= level, Held: met != "", Control: tried && control == "", Error: met})
	}
	if len(trials) == 0 {
		return nil, errors.New("nothing was tried")
	}
	return trials, nil
}
