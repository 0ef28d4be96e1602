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

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// plainly makes a command of a program and its environment, with nothing between it
// and us. What it leaves behind stays, apart from its processes.
func plainly(level spec.Level, spec spec.Spec, dir string, env, argv []string) *Cmd {
	ctx, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	b := &bare{cmd: cmd, kills: kill, terminal: spec.Terminal, limits: proctree.Limits{Processes: spec.Limits.Processes, Memory: spec.Limits.Memory}}
	c := &Cmd{level: level, reaches: reaches(spec.Network), plain: true, delay: bareDelay, proc: b}
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

func (b *bare) Start(in, out, said *os.File) (err error) {
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
		return &spec.SetupError{Said: err.Error()}
	}
	return nil
}

func (b *bare) Wait() (int, error) {
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

func (b *bare) Kill() { b.kills() }

// Init has nothing to do here.
func Init(_ []string, _, stderr io.Writer, _ func(string)) int {
	fmt.Fprintln(stderr, "this command is for the server's own use")
	return 125
}
