package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// shell lets the tools start commands, each confined as the settings say.
func (c *core) shell(self string, box *sandbox.Sandbox) shell.Deps {
	return shell.Deps{
		Home: c.commandHome,
		Closed: func(id string) <-chan struct{} {
			s, err := c.sessions.Get(id)
			if err != nil {
				return nil
			}
			return s.Done()
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
			spec, err := c.confinement(ctx, r.Root)
			if err != nil {
				return nil, err
			}
			spec.HomeVariable = shell.HomeVariable
			cmd, err := box.Command(ctx, spec, r.Dir, r.Argv...)
			if err != nil {
				return nil, err
			}
			cmd.Stdout, cmd.Stderr = r.Stdout, r.Stderr
			return cmd, cmd.Start()
		},
	}
}

// confinedBy says what confines commands, as the settings are.
func (c *core) confinedBy(self string, box *sandbox.Sandbox) string {
	set := c.settings.now.Load()
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

// unconfined says what confines commands less than it should, as the settings
// are.
func (c *core) unconfined(self string, box *sandbox.Sandbox) string {
	if self == "" {
		return "" // nothing is run
	}
	level, err := box.LevelFor(sandbox.Mode(c.settings.now.Load().String("sandbox.mode")))
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
	if err := c.keepOutOfGit(); err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(c.stateDir), "cache", "home")
	return dir, os.MkdirAll(dir, 0o700)
}

// confinement is what commands in root may see and do.
func (c *core) confinement(ctx context.Context, root string) (sandbox.Spec, error) {
	home, err := c.commandHome(root)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandboxSpec(c.settings.now.Load(), root)
	spec.Home = home
	r, repoErr := c.repos.open(ctx, root)
	if spec.Hidden = c.secrets(ctx, root); repoErr == nil {
		spec.Sealed, spec.Hidden = c.tracked.split(r, spec.Hidden)
	}
	if err := c.gitSettings(ctx, root, home, len(spec.Sealed) > 0); err != nil {
		return sandbox.Spec{}, err
	}
	if repoErr == nil && r.CommonDir != filepath.Join(r.Dir, ".git") {
		// A linked working tree has its repository elsewhere: a commit can be made
		// there, but nothing that git runs and no branch of others changed.
		spec.ReadOnly = append(spec.ReadOnly, r.CommonDir)
		spec.Writable = append(spec.Writable, r.GitDir, filepath.Join(r.CommonDir, "objects"))
	}
	return spec, nil
}

// How far secrets are looked for before each command: what lies deeper, or in
// a directory that holds what others wrote, is not hidden from it.
const (
	secretsDepth = 5
	secretsTime  = time.Second
)

// secrets lists the files below root that commands must not see.
func (c *core) secrets(ctx context.Context, root string) []string {
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: root}}, workspace.DiskOptions{})
	if err != nil {
		return nil
	}
	defer disk.Close()
	ctx, cancel := context.WithTimeout(ctx, secretsTime)
	defer cancel()
	allowed := c.settings.dispatch.Load().SensitiveOK
	var mu sync.Mutex
	var found []string
	_ = disk.Walk(ctx, workspace.WalkOptions{
		IncludeIgnored: true, Hidden: true,
		Keep: func(name string, dir bool) bool {
			if dir {
				return strings.Count(name, "/") < secretsDepth && !strings.HasSuffix(name, "node_modules") && !strings.HasPrefix(name, ".sidecar")
			}
			return workspace.Sensitive(name) && !allowed(name)
		},
	}, func(e *workspace.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, disk.Abs(e.Path))
		if len(found) == 1000 {
			return fs.SkipAll
		}
		return nil
	})
	return found
}
