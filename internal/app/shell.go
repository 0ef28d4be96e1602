package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/settle"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// shell lets the tools start commands, each confined as the settings say.
func (c *core) shell(self string, box *sandbox.Sandbox) shell.Deps {
	alone := ""
	if !c.door.resident {
		alone = "this process ends with the call, and the command would end with it; leave background out, or call while an editor or an agent has the workspace open with sidecar-ls"
	}
	return shell.Deps{
		NoBackground: alone,

		Home: c.commandHome,
		Closed: func(id string) <-chan struct{} {
			s, err := c.sessions.Get(id)
			if err != nil {
				return nil
			}
			return s.Done()
		},
		Offline: func(root string) bool {
			set := c.settings.Now()
			level, err := box.LevelFor(sandbox.Mode(set.String("sandbox.mode")))
			return err == nil && level > sandbox.None && !sandboxSpec(set, root).Network
		},
		Isolate: func(ctx context.Context, r shell.Run) (shell.Process, error) {
			if self == "" {
				return nil, errors.New("this process can't confine commands; start sidecar-ls itself")
			}
			cmd, err := box.Command(ctx, sandbox.Spec{
				Root: r.Root, Env: sandbox.Environ(os.Environ()), Mode: sandbox.Require,
				Limits: sandbox.Limits{FileSize: 64 << 20, Processes: 64, Memory: 1 << 30},
			}, r.Dir, r.Argv...)
			if err != nil {
				return nil, err
			}
			cmd.Stdout, cmd.Stderr = r.Stdout, r.Stderr
			return cmd, cmd.Start()
		},
		Start: func(ctx context.Context, r shell.Run) (shell.Process, error) {
			if self == "" {
				return nil, errors.New("this process can't confine commands; start sidecar-ls itself")
			}
			conf, err := c.confinement(ctx, r.Root)
			if err != nil {
				return nil, err
			}
			conf.HomeVariable = shell.HomeVariable
			cmd, err := c.confine(ctx, box, conf, func(text string) { c.door.log.Warn(setAside(text)) }, r.Dir, r.Argv...)
			if err != nil {
				return nil, err
			}
			cmd.Stdout, cmd.Stderr = r.Stdout, r.Stderr
			return &noted{cmd, c.trackedNote(r, conf.Sealed)}, cmd.Start()
		},
	}
}

// confinedBy says what confines commands, as the settings are.
func (c *core) confinedBy(self string, box *sandbox.Sandbox) string {
	set := c.settings.Now()
	if self == "" {
		return ""
	}
	level, err := box.LevelFor(sandbox.Mode(set.String("sandbox.mode")))
	if err != nil {
		return ""
	}
	if weak := level.Weak(); weak != "" {
		return weak
	}
	return level.Words(sandboxSpec(set, c.disk.Folders()[0].Dir).Network)
}

// noted is a command with a note for its result.
type noted struct {
	*sandbox.Cmd
	note string
}

// Words implements shell.Process.
func (c *noted) Words() string { return c.Cmd.Words() + c.note }

// trackedNote says, once in a session's root, that what git tracks can be read
// out of the repository although the files can't.
func (c *core) trackedNote(r shell.Run, sealed []string) string {
	if len(sealed) == 0 {
		return ""
	}
	if _, told := c.toldTracked.LoadOrStore(r.Session+"\x00"+r.Root, true); told {
		return ""
	}
	return "; " + trackedWords(r.Root, sealed)
}

// unconfined says what confines commands less than it should, as the settings
// are.
func (c *core) unconfined(self string, box *sandbox.Sandbox) string {
	if self == "" {
		return "" // nothing is run
	}
	level, err := box.LevelFor(sandbox.Mode(c.settings.Now().String("sandbox.mode")))
	if err != nil {
		return "" // likewise; the result says why
	}
	return level.Weak()
}

// commandHome is the home that commands have, whichever tree of this project
// they run in: what they cache is found again.
func (c *core) commandHome(string) (string, error) {
	if c.stateErr != nil {
		return "", c.stateErr
	}
	return c.home.CommandHome()
}

// confinement is what commands in a root may see and do, and what is looked
// after while they do.
type confinement struct {
	sandbox.Spec
	areas []settle.Area
}

// confinement is what commands in root may see and do.
func (c *core) confinement(ctx context.Context, root string) (confinement, error) {
	home, err := c.commandHome(root)
	if err != nil {
		return confinement{}, err
	}
	conf := confinement{Spec: sandboxSpec(c.settings.Now(), root)}
	spec := &conf.Spec
	spec.Home = home
	r, repoErr := c.repos.Open(ctx, root)
	level, err := c.box.LevelFor(spec.Mode)
	if err == nil && level > sandbox.None {
		secrets, err := c.surroundings(ctx, spec)
		if err != nil {
			return conf, fmt.Errorf("it is not known what must be hidden from a command: %w", err)
		}
		var tracked []string
		if repoErr == nil {
			tracked, secrets = c.tracked.split(r, secrets)
		}
		if err := hide(spec, tracked, secrets); err != nil && level >= sandbox.Bubblewrap {
			return conf, err
		}
		if conf.areas, err = areasOf(spec); err != nil {
			return conf, err
		}
	}
	if err := c.gitSettings(ctx, root, home, len(spec.Sealed) > 0); err != nil {
		return conf, err
	}
	if repoErr == nil && r.CommonDir != filepath.Join(r.Dir, ".git") {
		// A linked working tree has its repository elsewhere: a commit can be made
		// there, but nothing that git runs and no branch of others changed.
		spec.ReadOnly = append(spec.ReadOnly, r.CommonDir)
		spec.Writable = append(spec.Writable, r.GitDir, filepath.Join(r.CommonDir, "objects"))
	}
	return conf, nil
}
