package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/localsock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// serveMCP speaks MCP until the agent leaves.
func serveMCP(ctx context.Context, c *cli) error {
	switch {
	case len(c.args) > 0 && c.args[0] == "sign-in":
		return signInToMCP(ctx, c)
	case len(c.args) > 0:
		return usagef("mcp has the verb sign-in and takes no other arguments, but got %q", c.args[0])
	}
	if c.door == "" && c.mode == "" && sandbox.Inside() {
		c.door = agents.DoorInside() // an agent's own settings name none
	}
	if c.door != "" {
		return throughDoor(ctx, c)
	}
	folders, err := c.folders()
	if err != nil {
		return err
	}
	if err := checkStricter(c.Machine, folders, c.mode); err != nil {
		return err
	}
	families, err := config.Families(c.tools)
	if err != nil {
		return usagef("--tools: %v", err)
	}
	log, end, err := c.logger()
	if err != nil {
		return err
	}
	defer end()
	serve.Stay()
	e := &entrance{folders: folders, mode: c.mode, strict: c.strict != nil && *c.strict, tools: families, who: c.who, self: c.Self, programs: c.Programs, machine: c.Machine, log: log}
	return endpoint.Serve(ctx, io.NopCloser(c.In), unclosed{c.Out}, endpoint.Options{
		Version: version.String(), Instructions: endpoint.Instructions, Connect: e.connect, Hide: redact.OfLogger(log).Text,
	})
}

// throughDoor serves an agent that a server has started, by the socket that the agent
// has of it.
func throughDoor(ctx context.Context, c *cli) error {
	conn, err := localsock.Dial(ctx, c.door)
	if err != nil {
		return fmt.Errorf("--door is for agents that sidecar-ls has started: %w", err)
	}
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.Copy(conn, c.In)
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	_, err = io.Copy(c.Out, conn)
	return err
}

// checkStricter refuses a mode that is looser than that of the settings. Whoever
// starts the agent names it, which may be a file that came with a project: only
// the user's settings say that less is asked.
func checkStricter(machine config.MachineFile, folders []workspace.Folder, mode string) error {
	if mode == "" {
		return nil
	}
	row, _ := config.Lookup("mode")
	if !slices.Contains(row.Enum, mode) {
		return usagef("--mode: %s", tools.NoSuch("mode", mode, row.Enum))
	}
	s := live.New(live.Options{Machine: machine})
	s.Open(workspace.Dirs(folders)) // what is wrong with them is reported when they are used
	have := s.Now().String("mode")
	if s.Stricter(have, mode) == mode {
		return nil
	}
	return usagef("--mode %s is not stricter than the mode %s of your settings, and what starts an agent may only tighten that; to loosen it, set {\"mode\": %q} in %s", mode, have, mode, config.UserFile())
}

// unclosed is a stream that others own.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// entrance is the way of one agent into a workspace: through the process that
// serves it already, or else on its own.
type entrance struct {
	folders  []workspace.Folder
	mode     string   // the agent works in no looser one; "": that of the settings
	strict   bool     // it is given strict schemas
	tools    []string // families that it is listed; nil: as the settings say
	who      peers.Who
	self     string
	programs *lookup.Finder
	machine  config.MachineFile
	log      *slog.Logger

	gaveWay atomic.Pointer[time.Time] // when another process was last given way
}

func (e *entrance) connect(ctx context.Context, a endpoint.Agent) (endpoint.Backend, error) {
	if e.mode != "" {
		a.Mode = e.mode
	}
	a.Strict = a.Strict || e.strict
	if e.tools != nil {
		a.Tools = e.tools
	}
	return enter(ctx, e, func() (endpoint.Backend, error) {
		dirs := workspace.Dirs(e.folders)
		conn, g, err := attach.Dial(ctx, dirs[0], attach.Wish{}, dirs[1:]...)
		if errors.Is(err, attach.ErrApart) {
			return nil, err
		}
		if err != nil {
			return nil, notThere{err}
		}
		return endpoint.Remote(ctx, conn, fmt.Sprintf("the sidecar-ls of process %d", g.PID), a)
	}, func() (endpoint.Backend, error) { return e.alone(ctx, a) })
}

// notThere says that nobody who serves the folder could be asked.
type notThere struct{ error }

// enter takes the way through the process that serves the folder, or else that through
// this one, which fails with attach.ErrTaken when another process was faster.
func enter[T any](ctx context.Context, e *entrance, there, alone func() (T, error)) (T, error) {
	for begun := time.Now(); ; {
		t, err := there()
		var not notThere
		if !errors.As(err, &not) {
			return t, err
		}
		if !errors.Is(not.error, attach.ErrNone) {
			e.log.Warn("not attached", "error", not.error)
		} else if gave := e.gaveWay.Load(); gave != nil && time.Since(*gave) < settleTime {
			// Whoever asked for the room has not moved in yet.
			if err := e.pause(ctx); err != nil {
				return t, err
			}
			continue
		}
		t, err = alone()
		if !errors.Is(err, attach.ErrTaken) || time.Since(begun) > settleTime {
			return t, err
		}
		if err := e.pause(ctx); err != nil {
			return t, err
		}
	}
}

// How long processes that come and go at the same moment may be in each other's
// way, or a command that decides on pending edits may hold the queue, and how
// often is looked whether that is over.
const (
	settleTime = 2 * time.Second
	settleLook = 20 * time.Millisecond
)

func (e *entrance) pause(ctx context.Context) error {
	select {
	case <-time.After(settleLook):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// alone serves the agent with a workspace of its own, and lets other agents in. It
// fails with attach.ErrTaken when another process was faster.
func (e *entrance) alone(ctx context.Context, a endpoint.Agent) (endpoint.Backend, error) {
	w, theirs, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	gone, ended := make(chan struct{}), make(chan struct{})
	retire := sync.OnceFunc(func() {
		go func() {
			<-w.Dispatch.Retire()
			close(gone)
		}()
	})
	host := w.Client.Host(endpoint.HostOptions{Kind: attach.Alone, Leave: func() bool {
		retire()
		select {
		case <-ended:
			return true
		case <-time.After(attach.LeaveTime): // it gives way once its calls have ended
			return false
		}
	}})
	if err := host.Admit(workspace.Dirs(e.folders)...); errors.Is(err, attach.ErrTaken) {
		return nil, errors.Join(err, w.Close())
	} else if err != nil {
		e.log.Warn("other agents can't be let in", "error", err)
	}
	e.awaitQueue(ctx, w)
	t := w.Client.Tools(attach.Alone)
	t.Gone, t.Unasked = gone, !e.who.Person()
	t.Close = func() error {
		defer close(ended)
		select {
		case <-gone: // somebody asked for the room
			now := time.Now()
			e.gaveWay.Store(&now)
		default:
		}
		return errors.Join(theirs.Close(), w.Close())
	}
	b, err := endpoint.Local(t, a)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return b, nil
}

// logger writes where the flags say, with secrets hidden. end closes what it opened.
func (c *cli) logger() (log *slog.Logger, end func(), err error) {
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(firstOf(c.logLevel, "warn"))); err != nil {
		return nil, nil, usagef("--log-level: %v", err)
	}
	if c.logFile == "" {
		return redact.NewLogger(c.Err, level), func() {}, nil
	}
	file, err := openLog(c.logFile)
	if err != nil {
		return nil, nil, err
	}
	return redact.NewLogger(file, level), func() { _ = file.Close() }, nil
}

// awaitQueue waits while somebody decides on pending edits.
func (e *entrance) awaitQueue(ctx context.Context, w *app.Workspace) {
	for begun := time.Now(); errors.Is(w.Home.LockedOut(), pendingedits.ErrLocked) && time.Since(begun) < settleTime; {
		if e.pause(ctx) != nil {
			return
		}
	}
}

// open opens the workspace. Whoever attaches to it may have a mode of its own, so
// it has the queue in every mode.
func (e *entrance) open(ctx context.Context) (*app.Workspace, *serve.Agents, error) {
	user := endpoint.Elicited{Hide: redact.OfLogger(e.log)}
	theirs := serve.NewAgents(e.self)
	w, err := app.Open(ctx, e.folders, app.Options{
		Log: e.log, Queue: app.QueueAlways, Program: e.self, Programs: e.programs, Machine: e.machine, Resident: true,
		Person: func(ctx context.Context, c *app.Client, p peers.Peer) { AnswerPerson(ctx, c, theirs, p) },
		User:   theirs.Through(app.User{Approver: user, People: user}),
	})
	if err != nil {
		return nil, nil, err
	}
	theirs.Of(w.Client)
	for _, p := range w.Problems.Show() {
		e.log.Warn("start", "problem", p)
	}
	w.Client.Settings.OnChange(func(changed []*trust.State) { // an agent's client is not asked about it
		for _, state := range changed {
			e.log.Warn("trust", "problem", state.Words())
		}
	})
	w.Sources.Reload()
	return w, theirs, nil
}
