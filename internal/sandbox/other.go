//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

const unsupported = "there is no sandbox for this system"

// machine has nothing that is known elsewhere.
type machine struct{}

func (s *Sandbox) probe() { s.status = Status{Why: unsupported} }

// keepers has nothing that waits elsewhere.
type keepers struct{}

func (*keepers) close() {}

// mounter has nothing to mount elsewhere.
type mounter struct{}

func (*mounter) close() {}

// Mount is never made here.
type Mount struct{}

// Path is nowhere, and its neighbours have nothing to do.
func (*Mount) Path() string { return "" }

// Refresh does nothing.
func (*Mount) Refresh() error { return nil }

// Close does nothing.
func (*Mount) Close() {}

// Overlay has nothing to make here.
func (s *Sandbox) Overlay(Overlay) (*Mount, error) { return nil, errors.New(unsupported) }

func (*Merged) path() string { return "" }

// prepare makes a command that is not confined. What it leaves behind stays.
func (s *Sandbox) prepare(level Level, spec Spec, dir string, argv []string) (*Cmd, error) {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // Cmd ends it
	cmd.Dir, cmd.Env = dir, spec.environ(spec.Home, map[string]string{})
	c := &Cmd{level: level, network: spec.Network, plain: true, delay: bareDelay, proc: &bare{cmd}}
	c.tidy = func() {
		if spec.After != nil {
			c.removed = spec.After()
		}
	}
	return c, nil
}

// bare is a command by itself.
type bare struct{ cmd *exec.Cmd }

func (b *bare) start(in, out, said *os.File) error {
	b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = in, out, said
	if err := b.cmd.Start(); err != nil {
		return &setupError{err.Error()}
	}
	return nil
}

func (b *bare) wait() (int, error) {
	err := b.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func (b *bare) kill() { _ = b.cmd.Process.Kill() }

// Prove has nothing to prove here.
func (s *Sandbox) Prove(context.Context) ([]Trial, error) {
	return nil, &RefusedError{unsupported}
}

// Init has nothing to do here.
func Init(_ []string, _, stderr io.Writer, _ func(string)) int {
	fmt.Fprintln(stderr, "this command is for the server's own use")
	return 125
}

// Sweep has nothing to remove here.
func Sweep(string, ...string) {}

func defaultMemory() int64 { return -1 }

// AdoptOrphans has nothing to do here: where no keeper is there are no tests of
// one.
func AdoptOrphans() (end func(), err error) { return func() {}, nil }
