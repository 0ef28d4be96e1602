//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

const noOverlays = "there are no overlays on this system"

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
func (s *Sandbox) Overlay(Overlay) (*Mount, error) { return nil, errors.New(noOverlays) }

func (*Merged) path() string { return "" }

// plainly makes a command of a program and its environment, with nothing between it
// and us. What it leaves behind stays, apart from its processes.
func plainly(level Level, spec Spec, dir string, env, argv []string) *Cmd {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // Cmd ends it
	cmd.Dir, cmd.Env = dir, env
	if !spec.Terminal { // whose signals go to the group that it has
		ownGroup(cmd)
	}
	c := &Cmd{level: level, network: spec.Network, plain: true, delay: bareDelay, proc: &bare{cmd: cmd}}
	c.tidy = func() {
		if spec.After != nil {
			c.removed = spec.After()
		}
	}
	return c
}

// bare is a command by itself, with its group.
type bare struct {
	cmd *exec.Cmd

	mu    sync.Mutex
	ended bool // it has, or is not to begin
}

func (b *bare) start(in, out, said *os.File) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return &setupError{"it was ended before it began"}
	}
	b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = in, out, said
	if err := b.cmd.Start(); err != nil {
		return &setupError{err.Error()}
	}
	return nil
}

func (b *bare) wait() (int, error) {
	err := b.cmd.Wait()
	b.kill() // what it left in the background
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exitCode(exit.ProcessState), nil
	}
	return 0, err
}

func (b *bare) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended && b.cmd.Process != nil {
		endGroup(b.cmd)
	}
	b.ended = true
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
