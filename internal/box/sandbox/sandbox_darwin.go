package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// sandboxExec is the program of the system that confines another one. It is not
// looked for on PATH, where it could be anybody's.
const sandboxExec = "/usr/bin/sandbox-exec"

// machine is what was found out about the machine.
type machine struct{ Home string } // of the user

// probeTimeout bounds one round of trying.
const probeTimeout = 20 * time.Second

// probe tries to escape from the sandbox. What can't be set up is no level, and what
// does not hold runs nothing.
func (s *Sandbox) probe() {
	home, err := os.UserHomeDir()
	if err != nil {
		s.status = probe.Status{Broken: "the user's home, which commands can't read, is not known: " + err.Error()}
		return
	}
	s.tools.Home = truePath(home)
	if _, err := os.Stat(sandboxExec); err != nil {
		s.status = probe.Status{Why: "macOS has no sandbox for programs here: " + err.Error()}
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	trials, err := s.trials(ctx, false)
	var setup *spec.SetupError
	if errors.As(err, &setup) {
		s.status = probe.Status{Why: sandboxExec + " does not work: " + setup.Said}
		return
	}
	if err != nil {
		s.status = probe.Status{Broken: err.Error()}
		return
	}
	what := ""
	for _, t := range trials {
		if !t.Held {
			what = probe.Join(what, fmt.Sprintf("%s: a command could %s", spec.Seatbelt, t.Name))
		}
	}
	if what != "" {
		s.status = probe.Status{Broken: what}
		return
	}
	s.status = probe.Status{Level: spec.Seatbelt}
}

// Prove makes all attempts to escape, each also without a sandbox.
func (s *Sandbox) Prove(ctx context.Context) ([]probe.Trial, error) {
	level, err := s.LevelFor(spec.Auto)
	if err != nil {
		return nil, err
	}
	if level == spec.None {
		return nil, &spec.RefusedError{Why: "there is no sandbox on this machine: " + s.Status().Why}
	}
	return s.trials(ctx, true)
}

// trials makes the attempts in a sandbox, and if control is set outside of it.
func (s *Sandbox) trials(ctx context.Context, control bool) (_ []probe.Trial, err error) {
	tmp, err := os.MkdirTemp("", "sidecar-ls-sandbox-*")
	if err != nil {
		return nil, &spec.SetupError{Said: err.Error()}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	// Programs that do not work at all show nothing about the sandbox.
	root := filepath.Join(truePath(tmp), "honest")
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, &spec.SetupError{Said: err.Error()}
	}
	if out, err := s.capture(ctx, spec.Seatbelt, spec.Spec{Root: root, Env: spec.Environ(os.Environ())}, "/bin/sh", "-c", ordinary); err != nil || string(out) != "one\ntwo\n" {
		err = fmt.Errorf("ordinary programs do not work (%q, %w)", out, err)
		if strings.Contains(err.Error(), "sandbox-exec:") { // which says why it did not start them
			err = &spec.SetupError{Said: err.Error()}
		}
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // at once
	if err != nil {
		return nil, &spec.SetupError{Said: err.Error()}
	}
	defer func() { _ = listener.Close() }()
	met := map[bool][]string{}
	for _, inside := range []bool{true, false} {
		if !inside && !control {
			continue
		}
		e, err := newEscape(filepath.Join(truePath(tmp), fmt.Sprint(inside)), listener.Addr())
		if err != nil {
			return nil, &spec.SetupError{Said: err.Error()}
		}
		level := spec.None
		if inside {
			level = spec.Seatbelt
		}
		out, err := s.capture(ctx, level, e.spec(), "/bin/sh", "-c", e.script())
		if err != nil {
			return nil, fmt.Errorf("the attempts to escape could not be made: %w", err)
		}
		met[inside] = strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	var trials []probe.Trial
	for _, a := range escapes {
		trials = append(trials, probe.Trial{Name: a.name, Must: true, Held: !slices.Contains(met[true], a.name), Control: slices.Contains(met[false], a.name)})
	}
	return trials, nil
}

// prepare makes a command that its profile confines.
func (s *Sandbox) prepare(level spec.Level, want spec.Spec, dir string, argv []string) (_ *Cmd, err error) {
	if level == spec.None {
		s.once.Do(s.probe) // which for the other level is done
		return plainly(level, want, dir, want.Environ(want.Home, map[string]string{"HOME": s.tools.Home, "TMPDIR": os.TempDir()}), argv), nil
	}
	own, err := os.MkdirTemp("", "sidecar-ls-command-*")
	if err != nil {
		return nil, err
	}
	tidy := func() { _ = os.RemoveAll(own) }
	defer func() {
		if err != nil {
			tidy()
			if want.After != nil {
				want.After()
			}
		}
	}()
	for _, d := range []struct {
		dir  *string
		name string
	}{{&want.Home, "home"}, {&want.Temp, "tmp"}} {
		if *d.dir == "" {
			*d.dir = filepath.Join(own, d.name)
			if err := os.Mkdir(*d.dir, 0o700); err != nil {
				return nil, err
			}
		}
	}
	want = truly(want)
	b := belt{home: s.tools.Home, readable: spec.Installed(s.tools.Home)}
	for _, dir := range want.WritableDirs() {
		list, see, err := obeyed(want, dir)
		if err != nil {
			return nil, err
		}
		b.obeyed, b.readable = append(b.obeyed, list...), append(b.readable, see...)
	}
	rules, params := profile(want, b)
	line := []string{sandboxExec, "-p", rules}
	for _, p := range params {
		line = append(line, "-D", p)
	}
	c := plainly(level, want, dir, want.Environ(want.Home, map[string]string{"HOME": want.Home, "TMPDIR": want.Temp}), append(append(line, "--"), argv...))
	after := c.tidy
	c.tidy = func() {
		after()
		tidy()
	}
	return c, nil
}

// truly is a Spec by the paths that the kernel knows its files by.
func truly(s spec.Spec) spec.Spec {
	all := func(list []string) []string {
		var out []string
		for _, path := range list {
			out = append(out, truePath(path))
		}
		return out
	}
	s.Root, s.Home, s.Temp = truePath(s.Root), truePath(s.Home), truePath(s.Temp)
	s.Writable, s.ReadOnly, s.Hidden, s.Sealed, s.Repositories = all(s.Writable), all(s.ReadOnly), all(s.Hidden), all(s.Sealed), all(s.Repositories)
	return s
}

// truePath is a path as the kernel has it: without links, and in the letters in which
// its names were made, which are not always those by which they are found. What
// can't be opened is in a directory that can.
func truePath(path string) string {
	fd, err := unix.Open(path, unix.O_EVTONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		if dir := filepath.Dir(path); dir != path {
			return filepath.Join(truePath(dir), filepath.Base(path))
		}
		return path
	}
	defer unix.Close(fd)
	var b [unix.PathMax]byte
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&b[0])))); err != nil {
		return path
	}
	name, _, _ := bytes.Cut(b[:], []byte{0})
	return string(name)
}

// LimitsMemory reports whether a command's memory is bounded as a whole.
func (s *Sandbox) LimitsMemory() bool { return false }

// warm has nothing to start here.
func (*Sandbox) warm(*boxnet.Joint) {}
