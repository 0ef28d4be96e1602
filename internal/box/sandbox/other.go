//go:build !linux && !darwin

package sandbox

import "context"

// machine has nothing that is known elsewhere.
type machine struct{}

func (s *Sandbox) probe() { s.status = Status{Why: unsupported} }

// prepare makes a command that is not confined.
func (s *Sandbox) prepare(_ Level, spec Spec, dir string, argv []string) (*Cmd, error) {
	return plainly(None, spec, dir, spec.environ(spec.Home, userDirs()), argv), nil
}

// Prove has nothing to prove here.
func (s *Sandbox) Prove(context.Context) ([]Trial, error) {
	return nil, &RefusedError{unsupported}
}
