// Package confine says what a child process may see and reach, and starts it so:
// commands, language servers and MCP servers get one Spec, made of the settings,
// of what is found in the workspace (secrets, repositories, sockets) and of
// where git has its own.
//
//	Spec ── settings ── hidden.go ── tracked.go ── gitconfig.go
//	  └─► Command (run.go), looked after by internal/git/gitguard until it has ended
//	        └─► commands.go, servers.go, mcp.go: for whom
package confine

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/ports"
	"github.com/sidecar-ls/sidecar-ls/internal/files/secrets"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/decisions"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Options are what a Confiner works with.
type Options struct {
	Program  string         // this program's path; "" can start nothing
	Programs *lookup.Finder // finds what runs outside of the sandbox
	Root     string         // the workspace's first folder
	Folders  []string       // all of them
	Home     statedir.Dir
	NoHome   error // why Home must not be used
	Settings Settings
	Secrets  *secrets.Finder
	Repos    Repos

	Sessions *session.Store // whose commands share a localhost each; nil: no two commands do

	Watch Watch // asked once a program stays

	// Files are what MCP servers see: the folders with what is pending.
	Files func() workspace.Files

	Review Review // nil: nothing is held, and nobody asked

	Recorder Recorder // nil: nothing is written down

	// Log and Warn hear of what was set aside of a program's making while nobody
	// waited for it; see internal/git/gitguard. Warn puts a text before the user.
	Log  *slog.Logger
	Warn func(text string)
}

// Review is where a person decides about what commands did.
type Review interface {
	// Hold has what a tool returns wait for review, in the default session: what commands
	// changed and nobody took. line is how the review names it.
	Hold(ctx context.Context, t *tools.Tool, line string) (names []string, err error)
	// GoOn asks whether a command may go on about which nobody was asked, and which spends
	// more than that allows. A nil error is a yes.
	GoOn(ctx context.Context, session, line, why string) error
	// MayReach asks whether a command may reach a host.
	MayReach(ctx context.Context, r dispatch.Reach) dispatch.Reached
}

// Recorder writes down what a person decided: decisions.Recorder.
type Recorder interface {
	// DecidedOutput is about output that was held; whole says that all of it was done.
	DecidedOutput(what string, of []workspace.Held, whole bool, err error)
	// OpenedPort is about a port of a session.
	OpenedPort(session string, port int)
	// Reached is about a host that a command reached, or did not.
	Reached(r decisions.Reach)
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

// Watch tells of changes on the disk: *watch.Lazy.
type Watch interface {
	Disk() *workspace.Disk
	Subscribe() *watch.Feed
}

// Confiner confines the child processes of a workspace.
type Confiner struct {
	o         Options
	box       *sandbox.Sandbox
	worlds    *world.Manager
	following following
	tracked   trackedSecrets
	caches    caches
	homes     homes
	pasts     pasts
	sockets   socketFiles
	spending  spending
	servers   serving
	left      leftovers
	portsOf   portsOf
	ports     *ports.Ports
	exits     *exits
	shell     func() (shells.Shell, error)
	bash      func() (shells.Shell, error) // for lines of who knows no other shell

	reportedTracked  sync.Map // sessions and roots that know of tracked secrets
	reportedBorrowed sync.Map // and of objects that their commands can't read
}

// New returns a Confiner. Nothing is tried before the first use.
func New(o Options) *Confiner {
	out := newExits(o)
	c := &Confiner{o: o, exits: out, box: newSandbox(o.Program, o.Programs, out.take, func(err error) {
		o.Log.Warn("the commands of a session have no localhost in common: each gets its own", "error", err)
	}), spending: spending{may: defaultAllowance()}, sockets: socketFiles{every: time.Minute}, pasts: pasts{repos: o.Repos, settings: o.Settings}}
	c.ports = ports.New(c.box.Localhosts(), func(session string, port int) {
		if o.Recorder != nil {
			o.Recorder.OpenedPort(session, port)
		}
	})
	// A line is decided on as the shell reads it that runs it: it stays the same one.
	c.shell = shells.Here(o.Programs, func() string { return o.Settings.Now().String("commands.shell") })
	c.bash = shells.Here(o.Programs, func() string { return shells.UseBash })
	c.worlds = world.New(world.Options{
		Box: c.box, Tracked: c.trackedFiles, Ignores: &gitrepo.UserIgnores{}, Quota: func() int64 { return int64(o.Settings.Now().Int("output.quota")) << 20 },
		Allowed: allowedOutput{o.Settings}, Left: c.takeAllLeft,
	})
	for _, dir := range o.Folders {
		if err := c.worlds.Sweep(dir); err != nil {
			o.Log.Warn("what commands of an earlier server left", "folder", dir, "error", err)
		}
	}
	return c
}

func newSandbox(program string, programs *lookup.Finder, hand boxnet.Hand, noLocalhost func(error)) *sandbox.Sandbox {
	o := sandbox.Options{Programs: programs, NoLocalhost: noLocalhost, Hand: hand}
	if dir, err := userdirs.Here().Dir(userdirs.Cache); err == nil {
		o.CacheDir = dir
	}
	return sandbox.Open(program, o)
}

// Close ends the processes that are still there.
func (c *Confiner) Close() {
	if c == nil {
		return
	}
	c.ports.End()
	c.exits.gate.Close()
	c.following.stop()
	c.left.end()
	c.homes.closeAll()
	c.worlds.Close()
	c.box.Close()
}

// Look finds a program that is to run confined, wherever PATH leads to; without a
// sandbox it runs as the user, and so comes from where nobody else puts programs.
func (c *Confiner) Look(name string) (string, error) {
	if level, err := c.Level(); err == nil && level == box.None {
		return c.o.Programs.Find(name)
	}
	return lookup.Confined(name)
}

// Shell is what runs command lines.
func (c *Confiner) Shell() (shells.Shell, error) { return own(c, c.shell) }

// own is a shell that the workspace does not choose: without a sandbox it runs as the
// user, also lines about which nobody is asked.
func own(c *Confiner, find func() (shells.Shell, error)) (shells.Shell, error) {
	s, err := find()
	if level, lerr := c.Level(); err != nil || lerr != nil || level != box.None || s.Path != shells.Bash.Path {
		return s, err
	}
	s.Path, err = c.o.Programs.Find(s.Path)
	return s, err
}

// Level is what confines commands, as the settings are.
func (c *Confiner) Level() (box.Level, error) {
	return c.box.LevelFor(box.Mode(c.o.Settings.Now().String("sandbox.mode")))
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
	return level.Words(reaches(c, level))
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
func base(set *config.Settings, root string) box.Spec {
	return box.Spec{
		Root:     root,
		ReadOnly: set.Strings("sandbox.readOnly"),
		Hidden:   doors(),
		Writable: set.Strings("sandbox.writable"),
		Network:  set.Network(nil).All,
		Env:      box.Environ(os.Environ()),
		Mode:     box.Mode(set.String("sandbox.mode")),
	}
}

// doors are the directories of the files by which agents find editors of this machine,
// ours among them: who has the token in one speaks to the editor as an agent that runs
// outside, and no process of ours is one.
func doors() []string {
	dirs := []string{filepath.Join(os.TempDir(), "gemini", "ide")}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "ide"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".claude", "ide"))
	}
	return dirs
}

// errNoProgram is why nothing can be started.
var errNoProgram = errors.New("this process can't confine programs; start sidecar-ls itself")
