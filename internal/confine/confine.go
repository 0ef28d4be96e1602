// Package confine says what a child process may see and reach, and starts it so:
// commands, language servers and MCP servers get one Spec, made of the settings,
// of what is found in the workspace (secrets, repositories, sockets) and of
// where git has its own.
//
//	Spec ── settings ── hidden.go ── tracked.go ── gitconfig.go
//	  └─► Command (run.go), looked after by internal/settle until it has ended
//	        └─► commands.go, servers.go, mcp.go: for whom
package confine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/secrets"
	"github.com/sidecar-ls/sidecar-ls/internal/settle"
	"github.com/sidecar-ls/sidecar-ls/internal/statedir"
)

// Options are what a Confiner works with.
type Options struct {
	Program  string // this program's path; "" can start nothing
	Root     string // the workspace's first folder
	Home     statedir.Dir
	NoHome   error // why Home must not be used
	Settings Settings
	Secrets  *secrets.Finder
	Repos    Repos

	// Log and Warn hear of what was set aside of a program's making while nobody
	// waited for it; see internal/settle. Warn puts a text before the user.
	Log  *slog.Logger
	Warn func(text string)
}

// Settings are those that hold now: *live.Settings.
type Settings interface {
	Now() *config.Settings
	SensitiveOK(name string) bool
}

// Repos opens the repository of a directory: *repos.Repos.
type Repos interface {
	Open(ctx context.Context, dir string) (*gitrepo.Repo, error)
}

// Confiner confines the child processes of a workspace.
type Confiner struct {
	o       Options
	box     *sandbox.Sandbox
	tracked trackedSecrets

	reportedTracked sync.Map // sessions and roots that know of tracked secrets
}

// New returns a Confiner. Nothing is tried before the first use.
func New(o Options) *Confiner { return &Confiner{o: o, box: newSandbox(o.Program)} }

func newSandbox(program string) *sandbox.Sandbox {
	var o sandbox.Options
	if dir, err := os.UserCacheDir(); err == nil {
		o.CacheDir = filepath.Join(dir, "sidecar-ls")
	}
	return sandbox.Open(program, o)
}

// Close ends the processes that are still there.
func (c *Confiner) Close() { c.box.Close() }

// Level is what confines commands, as the settings are.
func (c *Confiner) Level() (sandbox.Level, error) {
	return c.box.LevelFor(sandbox.Mode(c.o.Settings.Now().String("sandbox.mode")))
}

// Words say what confines commands, as the settings are; "" when nothing is run.
func (c *Confiner) Words() string {
	level, err := c.Level()
	if c.o.Program == "" || err != nil {
		return ""
	}
	if weak := level.Weak(); weak != "" {
		return weak
	}
	return level.Words(base(c.o.Settings.Now(), c.o.Root).Network)
}

// Weak says what confines commands less than it should, as the settings are; ""
// when nothing does, or nothing is run.
func (c *Confiner) Weak() string {
	level, err := c.Level()
	if c.o.Program == "" || err != nil {
		return "" // the result of a command says why
	}
	return level.Weak()
}

// base is what the settings say about every child process in root.
func base(set *config.Settings, root string) sandbox.Spec {
	return sandbox.Spec{
		Root:     root,
		ReadOnly: set.Strings("sandbox.readOnly"),
		Writable: set.Strings("sandbox.writable"),
		Network:  set.Bool("sandbox.network"),
		Env:      sandbox.Environ(os.Environ()),
		Mode:     sandbox.Mode(set.String("sandbox.mode")),
	}
}

// Spec is what a child process may see and do, and what is looked after while it
// does.
type Spec struct {
	sandbox.Spec
	areas []settle.Area
}

// Spec makes the Spec of child processes in root. Nothing runs when not all is
// known that must be hidden.
func (c *Confiner) Spec(ctx context.Context, root string) (Spec, error) {
	home, err := c.home()
	if err != nil {
		return Spec{}, err
	}
	spec := Spec{Spec: base(c.o.Settings.Now(), root)}
	spec.Home = home
	repo, repoErr := c.o.Repos.Open(ctx, root)
	level, err := c.box.LevelFor(spec.Mode)
	if err == nil && level > sandbox.None {
		hidden, err := c.surroundings(ctx, &spec.Spec)
		if err != nil {
			return spec, fmt.Errorf("it is not known what must be hidden from a command: %w", err)
		}
		var tracked []string
		if repoErr == nil {
			tracked, hidden = c.tracked.split(repo, hidden)
		}
		if err := hide(&spec.Spec, tracked, hidden); err != nil && level >= sandbox.Bubblewrap {
			return spec, err
		}
		if spec.areas, err = areasOf(&spec.Spec); err != nil {
			return spec, err
		}
	}
	gitDir := ""
	if repoErr == nil {
		gitDir = repo.GitDir
	}
	if err := writeGitConfig(home, gitDir, len(spec.Sealed) > 0); err != nil {
		return spec, err
	}
	if repoErr == nil && repo.CommonDir != filepath.Join(repo.Dir, ".git") {
		// A linked working tree has its repository elsewhere: a commit can be made
		// there, but nothing that git runs and no branch of others changed.
		spec.ReadOnly = append(spec.ReadOnly, repo.CommonDir)
		spec.Writable = append(spec.Writable, repo.GitDir, filepath.Join(repo.CommonDir, "objects"))
	}
	return spec, nil
}

// home is the home that child processes have.
func (c *Confiner) home() (string, error) {
	if c.o.NoHome != nil {
		return "", c.o.NoHome
	}
	return c.o.Home.CommandHome()
}

// Secrets lists the files in root that are hidden from commands, and those of
// them that git tracks. It fails when no command is run.
func (c *Confiner) Secrets(ctx context.Context, root string) (all, tracked []string, err error) {
	spec := base(c.o.Settings.Now(), root)
	if all, err = c.surroundings(ctx, &spec); err != nil {
		return nil, nil, fmt.Errorf("what is to be hidden from commands is not known, so none is run: %w", err)
	}
	rest := all
	if repo, err := c.o.Repos.Open(ctx, root); err == nil {
		tracked, rest = c.tracked.split(repo, all)
	}
	if err := hide(&spec, tracked, rest); err != nil {
		return nil, nil, fmt.Errorf("no command is run: %w", err)
	}
	return all, tracked, nil
}

// Try runs a command that does nothing in root, with what the settings say.
func Try(ctx context.Context, program, root string, set *config.Settings) error {
	s := newSandbox(program)
	defer s.Close()
	cmd, err := s.Command(ctx, base(set, root), root, "true")
	if err != nil {
		return err
	}
	return cmd.Run()
}

// errNoProgram is why nothing can be started.
var errNoProgram = errors.New("this process can't confine programs; start sidecar-ls itself")
