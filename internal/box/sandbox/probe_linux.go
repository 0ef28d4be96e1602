package sandbox

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
)

// machine is what was found out about the machine, besides the level.
type machine struct {
	Bwrap         string // "" is none
	DisableUserns bool   // bwrap knows --disable-userns
	Landlock      int    // version
	Home          string // of the user
	Cgroups       []string
}

// probeTimeout bounds one round of trying.
const probeTimeout = 20 * time.Second

// probe sets the level: the highest that can be set up, and that holds what it
// must. What was found out holds until the machine, this program or bwrap is
// another one. Nothing depends on the truth of what is remembered: a level
// that can't be set up runs nothing.
func (s *Sandbox) probe() {
	s.tools = probeMachine(s.opts)
	if s.self == "" {
		s.status = Status{Broken: "the server does not know the path of its own program"}
		return
	}
	if known, ok := recall[Status](s, cacheName); ok && known.Level >= None && known.Level <= Full {
		s.status = known
		return
	}
	var tried bool
	if s.status, tried = s.find(); tried && s.status.Broken == "" {
		remember(s, cacheName, s.status)
	}
}

// probeMachine finds what there is, without trying whether it works.
func probeMachine(o Options) machine {
	m := machine{Landlock: landlockVersion(), Cgroups: cgroupParents(), Home: userHome()}
	found := o.Bwrap
	if found == "" {
		var err error
		if found, err = o.Programs.Find("/usr/bin/bwrap"); err != nil { // the one that a distribution's security profile names
			found, _ = o.Programs.Find("bwrap")
		}
	}
	if found != "" && exists(found) {
		m.Bwrap = found
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, found, "--help")
		cmd.Env = o.Programs.Environ()
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
	if err != nil || !filepath.IsAbs(home) || slices.Contains(systemDirs, home) || home == "/" {
		return "/home/user"
	}
	return home
}

// find tries out the levels, the best first. tried is false when one of them
// could not be tried, for a reason that may pass.
func (s *Sandbox) find() (st Status, tried bool) {
	var why string
	tried = true
	old := fmt.Sprintf("the kernel has version %d of Landlock, and %d is needed", s.tools.Landlock, leastLandlock)
	try := func(level Level) (done bool) {
		err := s.check(level)
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
		if level >= Bubblewrap {
			why = "bubblewrap does not work: " + err.Error()
		} else {
			why = join(why, err.Error())
		}
		return false
	}
	switch {
	case s.tools.Bwrap == "":
		why = "bubblewrap is not installed"
	case s.tools.Landlock >= leastLandlock:
		if try(Full) {
			return st, tried
		}
	default:
		why = old
		if try(Bubblewrap) {
			return st, tried
		}
	}
	if s.tools.Landlock < leastLandlock {
		return Status{Why: join(why, old)}, tried
	}
	if try(Landlock) {
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
func (s *Sandbox) check(level Level) error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	trials, err := s.trials(ctx, level, tryFew)
	var setup *setupError
	var scene *sceneError
	switch {
	case errors.As(err, &setup):
		return errors.New(setup.said)
	case errors.As(err, &scene):
		return err
	case err != nil:
		return &brokenError{err.Error()}
	}
	what := ""
	for _, t := range trials {
		if t.Must && !t.Held {
			what = join(what, fmt.Sprintf("%s: a command could %s", level, t.Name))
		}
	}
	if what != "" {
		return &brokenError{what}
	}
	return nil
}

// Prove makes all attempts to escape at the level of this machine, each also
// without a sandbox.
func (s *Sandbox) Prove(ctx context.Context) ([]Trial, error) {
	level, err := s.LevelFor(Auto)
	if err != nil {
		return nil, err
	}
	if level == None {
		return nil, &RefusedError{"there is no sandbox on this machine: " + s.Status().Why}
	}
	return s.trials(ctx, level, tryAll)
}

// honest is what must work at every level. It ends with what it must print.
const honest = `set -e; echo one > made; mkdir -p dir; mv made dir/made; t=$(mktemp); cat dir/made > "$t"; sort "$t"; rm -r dir "$t"; ls /usr/bin > /dev/null; echo two > "$HOME/made"; cat "$HOME/made"`

// trials makes attempts in a sandbox and outside of it.
func (s *Sandbox) trials(ctx context.Context, level Level, which string) (_ []Trial, err error) {
	tmp, err := os.MkdirTemp("", "sidecar-ls-sandbox-*")
	if err != nil {
		return nil, &sceneError{err}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return nil, &sceneError{err}
	}
	run := func(name string, do func(w *scene) ([]byte, error)) (map[string]string, error) {
		w, done, err := newScene(s.self, filepath.Join(tmp, name))
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
		if out, err := s.capture(ctx, level, w.spec(), "sh", "-c", honest); err != nil || string(out) != "one\ntwo\n" {
			var setup *setupError
			if errors.As(err, &setup) {
				return nil, err
			}
			return nil, fmt.Errorf("%s: ordinary programs do not work (%q, %w)", level, out, err)
		}
		self := s.self
		if level >= Bubblewrap {
			self = helperPath
		}
		data, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		return s.capture(ctx, level, w.spec(), self, InitCommand, roleTry, which, string(data))
	})
	if err != nil {
		return nil, err
	}
	outside := map[string]string{}
	if which == tryAll {
		outside, err = run("outside", func(w *scene) ([]byte, error) {
			data, err := json.Marshal(w)
			if err != nil {
				return nil, err
			}
			cmd := exec.CommandContext(ctx, s.self, InitCommand, roleTry, which, string(data))
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
