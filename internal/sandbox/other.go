//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"io"
	"os/exec"
)

const unsupported = "there is no sandbox for this system"

// machine has nothing that is known elsewhere.
type machine struct{}

func (s *Sandbox) probe() { s.status = Status{Why: unsupported} }

// prepare makes a command that is not confined. What it leaves behind stays.
func (s *Sandbox) prepare(ctx context.Context, level Level, spec Spec, dir string, argv []string) (*Cmd, error) {
	c := &Cmd{level: level, network: spec.Network, tidy: func() {}}
	c.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.cmd.Dir, c.cmd.Env = dir, environment(spec.Env, nil)
	c.kill = func() {
		if c.cmd.Process != nil {
			_ = c.cmd.Process.Kill()
		}
	}
	c.plain = true
	return c, nil
}

// Prove has nothing to prove here.
func (s *Sandbox) Prove(context.Context) ([]Trial, error) {
	return nil, &RefusedError{unsupported}
}

// Init has nothing to do here.
func Init(_ []string, _, stderr io.Writer) int {
	fmt.Fprintln(stderr, "this command is for the server's own use")
	return 125
}

func defaultMemory() int64 { return -1 }
