package sandbox

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// machine is what was found out about the machine, besides the level.
type machine = probe.Machine

func (s *Sandbox) probe() {
	s.tools = probe.FindMachine(s.opts.Bwrap, s.opts.Programs)
	s.status = s.prober().Status()
}

func (s *Sandbox) prober() *probe.Prober {
	return &probe.Prober{Self: s.self, Machine: s.tools, CacheDir: s.opts.CacheDir, Capture: s.capture}
}

// Prove makes all attempts to escape at the level of this machine, each also
// without a sandbox.
func (s *Sandbox) Prove(ctx context.Context) ([]probe.Trial, error) {
	level, err := s.LevelFor(spec.Auto)
	if err != nil {
		return nil, err
	}
	if level == spec.None {
		return nil, &spec.RefusedError{Why: "there is no sandbox on this machine: " + s.Status().Why}
	}
	return s.prober().Trials(ctx, level, probe.TryAll)
}

// Works reports whether something was seen to work here before; see Worked.
func (s *Sandbox) Works(what string) bool {
	s.Status() // finds the programs that the key is made of
	return s.prober().Works(what)
}

// Worked says that something works here, so that the next process need not try it;
// "" is that nothing does.
func (s *Sandbox) Worked(what string) { s.prober().Worked(what) }

// LimitsMemory reports whether a command's memory is bounded as a whole.
func (s *Sandbox) LimitsMemory() bool {
	s.once.Do(s.probe)
	return len(s.tools.Cgroups) > 0
}
