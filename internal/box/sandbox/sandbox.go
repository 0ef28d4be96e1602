package sandbox

import (
	"fmt"
	"sync"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mount"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Options are what a Sandbox is made of.
type Options struct {
	Bwrap    string         // the program; "" looks for it
	Programs *lookup.Finder // by this
	CacheDir string         // where what was found out is kept until the next boot; "" finds out again

	// NoLocalhost hears, once, why the commands of a session have no localhost in common.
	// nil: nobody does.
	NoLocalhost func(error)

	// Hand takes the connections of sessions to other hosts, where a Spec has Names. nil: names
	// lead nowhere.
	Hand boxnet.Hand
}

// Sandbox starts confined commands. It may be used by many goroutines.
type Sandbox struct {
	self string
	opts Options

	once    sync.Once
	status  probe.Status
	tools   machine        // where there is a sandbox
	keepers keeper.Keepers // Linux only
	mounter mount.Mounter  // likewise

	networks boxnet.Networks // of sessions
}

// Open returns a Sandbox. self is the path of a program that hands its
// arguments after InitCommand to Init; the server's own. Nothing is tried out
// before it is needed.
func Open(self string, o Options) *Sandbox {
	s := &Sandbox{self: self, opts: o, keepers: keeper.Keepers{Self: self}, mounter: mount.Mounter{Self: self}}
	s.networks = boxnet.Networks{Self: self, Failed: o.NoLocalhost, Made: s.warm, Over: s.keepers.Sweep}
	return s
}

// Close ends the processes that wait for commands. Commands that run go on, and
// more can be started.
func (s *Sandbox) Close() {
	s.keepers.Close()
	s.networks.Close()
	s.mounter.Close()
}

// Expect begins to make the localhost of a session, for a command that comes in a moment.
func (s *Sandbox) Expect(session string, ended <-chan struct{}) {
	if s.Status().Level >= spec.Bubblewrap {
		go s.networks.Join(session, ended)
	}
}

// Localhosts are the networks of sessions.
func (s *Sandbox) Localhosts() *boxnet.Networks { return &s.networks }

// Overlay makes an overlay, which a Spec may have as its Mount.
func (s *Sandbox) Overlay(o spec.Overlay) (*mount.Mount, error) { return s.mounter.Overlay(o) }

// Status finds out, once, what this machine can do.
func (s *Sandbox) Status() probe.Status {
	s.once.Do(s.probe)
	return s.status
}

// LevelFor is the level at which a command runs, which is never less than what
// was wanted. It fails when none may run.
func (s *Sandbox) LevelFor(mode spec.Mode) (spec.Level, error) {
	switch mode {
	case spec.Off:
		return spec.None, nil
	case spec.Auto, spec.Require, "":
	default:
		return spec.None, &spec.RefusedError{Why: fmt.Sprintf("there is no sandbox mode %q", mode)}
	}
	st := s.Status()
	switch {
	case st.Broken != "":
		return spec.None, &spec.RefusedError{Why: "the sandbox does not hold on this machine (" + st.Broken + "), so no command is run; `sidecar-ls doctor` shows more, and the setting sidecar.sandbox.mode = off runs commands without it"}
	case st.Level == spec.None && mode == spec.Require:
		return spec.None, &spec.RefusedError{Why: "the setting sidecar.sandbox.mode requires a sandbox, and this machine has none: " + st.Why}
	}
	return st.Level, nil
}
