//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
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
	ctx, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	b := &bare{cmd: cmd, kills: kill, terminal: spec.Terminal, limits: proctree.Limits{Processes: spec.Limits.Processes, Memory: spec.Limits.Memory}}
	c := &Cmd{level: level, network: spec.Network, plain: true, delay: bareDelay, proc: b}
	c.tidy = func() {
		kill()
		if spec.After != nil {
			c.removed = spec.After()
		}
	}
	return c
}

// bare is a command and what comes of it, with all rights of the user.
type bare struct {
	cmd      *exec.Cmd
	kills    context.CancelFunc
	terminal bool // it has one, whose signals go to the group that it is in
	limits   proctree.Limits
	waits    func() error
}

func (b *bare) start(in, out, said *os.File) (err error) {
	b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = in, out, said
	if b.terminal {
		b.waits, err = b.cmd.Wait, b.cmd.Start()
	} else {
		var tree *proctree.Tree
		if tree, err = proctree.Start(b.cmd, b.limits); err == nil {
			b.waits = tree.Wait
		}
	}
	if err != nil {
		return &setupError{err.Error()}
	}
	return nil
}

func (b *bare) wait() (int, error) {
	err := b.waits()
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) {
		return 0, err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

func (b *bare) kill() { b.kills() }

// Init has nothing to do here.
func Init(_ []string, _, stderr io.Writer, _ func(string)) int {
	fmt.Fprintln(stderr, "this command is for the server's own use")
	return 125
}

// Sweep has nothing to remove here.
func Sweep(string, ...string) {}

// AdoptOrphans has nothing to do here: where no keeper is there are no tests of
// one.
func AdoptOrphans() (end func(), err error) { return func() {}, nil }
