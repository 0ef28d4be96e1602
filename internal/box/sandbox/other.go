//go:build !linux && !darwin

package sandbox

import (
	"context"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// machine has nothing that is known elsewhere.
type machine struct{}

func (s *Sandbox) probe() { s.status = probe.Status{Why: unsupported} }

// prepare makes a command that is not confined.
func (s *Sandbox) prepare(_ spec.Level, want spec.Spec, dir string, argv []string) (*Cmd, error) {
	return plainly(spec.None, want, dir, want.Environ(want.Home, userDirs()), argv), nil
}

// LimitsMemory reports whether a command's memory is bounded as a whole.
func (s *Sandbox) LimitsMemory() bool { return true }

// Prove has nothing to prove here.
func (s *Sandbox) Prove(context.Context) ([]probe.Trial, error) {
	return nil, &spec.RefusedError{Why: unsupported}
}

// warm has nothing to start here.
func (*Sandbox) warm(*boxnet.Joint) {}
