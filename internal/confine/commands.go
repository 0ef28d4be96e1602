package confine

import (
	"context"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Commands starts the commands of the shell tools.
type Commands struct{ *Confiner }

// Home is the home that commands have in any tree of this project.
func (c Commands) Home(string) (string, error) { return c.home() }

// Offline reports whether commands in root have no network.
func (c Commands) Offline(root string) bool {
	level, err := c.Level()
	return err == nil && level > sandbox.None && !base(c.o.Settings.Now(), root).Network
}

// Isolate starts a program that reads and writes nothing of the workspace.
func (c Commands) Isolate(ctx context.Context, r shell.Run) (shell.Process, error) {
	if c.o.Program == "" {
		return nil, errNoProgram
	}
	cmd, err := c.box.Command(ctx, sandbox.Spec{
		Root: r.Root, Env: sandbox.Environ(os.Environ()), Mode: sandbox.Require,
		Limits: sandbox.Limits{FileSize: 64 << 20, Processes: 64, Memory: 1 << 30},
	}, r.Dir, r.Argv...)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = r.Stdout, r.Stderr
	return cmd, cmd.Start()
}

// Start starts a command, confined as the settings say.
func (c Commands) Start(ctx context.Context, r shell.Run) (shell.Process, error) {
	if c.o.Program == "" {
		return nil, errNoProgram
	}
	spec, err := c.Spec(ctx, r.Root)
	if err != nil {
		return nil, err
	}
	spec.HomeVariable = shell.HomeVariable
	cmd, err := c.Command(ctx, spec, r.Dir, r.Argv...)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = r.Stdout, r.Stderr
	return &noted{cmd, c.trackedNote(r.Session, r.Root, spec.Sealed)}, cmd.Start()
}

// noted is a command with a note for its result.
type noted struct {
	*sandbox.Cmd
	note string
}

// Words implements shell.Process.
func (n *noted) Words() string { return n.Cmd.Words() + n.note }
