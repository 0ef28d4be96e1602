package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/config/live"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// instructions are what every agent is told once.
const instructions = "Read, search, edit and run commands in this workspace with these tools rather than your own: " +
	"the user reviews the edits made here, and those made otherwise pass the review by. Paths are relative to the workspace. " +
	"An edit may be held until the user accepts it: these tools see it at once, other programs only then."

// serveMCP speaks MCP until the agent leaves.
func serveMCP(ctx context.Context, c *cli) error {
	if len(c.args) > 0 {
		return usagef("mcp takes no arguments, but got %q", c.args[0])
	}
	f, err := c.folder()
	if err != nil {
		return err
	}
	if err := checkStricter(f, c.mode); err != nil {
		return err
	}
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(firstOf(c.logLevel, "warn"))); err != nil {
		return usagef("--log-level: %v", err)
	}
	out := c.Err
	if c.logFile != "" {
		file, err := openLog(c.logFile)
		if err != nil {
			return err
		}
		defer file.Close()
		out = file
	}
	settleIn()
	e := &entrance{folder: f, mode: c.mode, self: c.Self, log: redact.NewLogger(out, level)}
	return endpoint.Serve(ctx, io.NopCloser(c.In), unclosed{c.Out}, endpoint.Options{
		Version: Version(), Instructions: instructions, Connect: e.connect,
	})
}

// checkStricter refuses a mode that is looser than that of the settings. Whoever
// starts the agent names it, which may be a file that came with a project: only
// the user's settings say that less is asked.
func checkStricter(f workspace.Folder, mode string) error {
	if mode == "" {
		return nil
	}
	row, _ := config.Lookup("mode")
	if !slices.Contains(row.Enum, mode) {
		return usagef("--mode: there is no mode %q; it may be %s", mode, strings.Join(row.Enum, ", "))
	}
	s := live.New([]string{f.Dir}, live.Options{})
	s.Load() // what is wrong with them is reported when they are used
	have := s.Now().String("mode")
	if config.StricterMode(have, mode) == mode {
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
	folder workspace.Folder
	mode   string // the agent works in no looser one; "": that of the settings
	self   string
	log    *slog.Logger
}

func (e *entrance) connect(ctx context.Context, a endpoint.Agent) (endpoint.Backend, error) {
	if e.mode != "" {
		a.Mode = e.mode
	}
	for begun := time.Now(); ; {
		conn, g, err := attach.Dial(ctx, e.folder.Dir, attach.Wish{})
		if err == nil {
			return endpoint.Remote(ctx, conn, fmt.Sprintf("the sidecar-ls of process %d", g.PID), a)
		}
		if !errors.Is(err, attach.ErrNone) {
			e.log.Warn("not attached", "error", err)
		}
		b, err := e.alone(ctx, a)
		if !errors.Is(err, attach.ErrTaken) || time.Since(begun) > settleTime {
			return b, err
		}
		if err := e.pause(ctx); err != nil {
			return nil, err
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

// alone serves the agent with a core of its own, and lets other agents in. It
// fails with attach.ErrTaken when another process was faster.
func (e *entrance) alone(ctx context.Context, a endpoint.Agent) (endpoint.Backend, error) {
	k, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	gone, ended := make(chan struct{}), make(chan struct{})
	retire := sync.OnceFunc(func() {
		go func() {
			<-k.dispatch.Retire()
			close(gone)
		}()
	})
	room := newAgents(k, attach.Alone, func() bool {
		retire()
		select {
		case <-ended:
			return true
		case <-time.After(leaveTime): // it gives way once its calls have ended
			return false
		}
	})
	if err := room.admit(e.folder.Dir); errors.Is(err, attach.ErrTaken) {
		return nil, errors.Join(err, k.close())
	} else if err != nil {
		e.log.Warn("other agents can't be let in", "error", err)
	}
	e.awaitQueue(ctx, k)
	t := room.tools()
	t.Gone = gone
	t.Close = func() error {
		defer close(ended)
		room.close()
		return k.close()
	}
	b, err := endpoint.Local(t, a)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return b, nil
}

// awaitQueue waits while somebody decides on pending edits.
func (e *entrance) awaitQueue(ctx context.Context, k *core) {
	for begun := time.Now(); errors.Is(k.queueErr(), pendingedits.ErrLocked) && time.Since(begun) < settleTime; {
		if e.pause(ctx) != nil {
			return
		}
	}
}

// open builds a core. Whoever attaches to it may have a mode of its own, so it
// has the queue in every mode.
func (e *entrance) open(ctx context.Context) (*core, error) {
	k, err := open(ctx, []workspace.Folder{e.folder}, door{
		log: e.log, approver: elicited{}, people: elicitedPeople{redact.OfLogger(e.log)}, queue: queueAlways, parser: e.self, resident: true,
	})
	if err != nil {
		return nil, err
	}
	for _, p := range k.problems.show() {
		e.log.Warn("start", "problem", p)
	}
	k.sources.Reload()
	return k, nil
}

// elicited asks the user of the agent that makes the call, where no editor is.
type elicited struct{}

func (elicited) Approve(ctx context.Context, a dispatch.Ask) (dispatch.Answer, error) {
	answer, err := endpoint.AskerOf(ctx).Approve(ctx, a)
	switch {
	case errors.Is(err, endpoint.ErrCantAsk):
		err = fmt.Errorf("no editor is there, and %w", err)
	case errors.Is(err, endpoint.ErrUnseen), errors.Is(err, endpoint.ErrClosed):
	default:
		return answer, err
	}
	return answer, fmt.Errorf("%w: %w. Tell the user: %s", dispatch.ErrNobody, err, waysOut(a))
}

// waysOut is what the user can do so that somebody is asked, or nobody needs to
// be.
func waysOut(a dispatch.Ask) string {
	ways := "open the workspace in an editor with sidecar-ls, which then shows the question"
	if !a.Rememberable {
		return ways
	}
	file := config.UserFile()
	if file == "" {
		file = "the user's settings"
	}
	if a.Diff != "" {
		ways += "; or set {\"mode\": \"review\"} in " + file + ", so that edits wait for `sidecar-ls review`"
	}
	return ways + fmt.Sprintf("; or allow the tool for good: {\"toolPermissions\": {%q: \"allow\"}} in %s", a.Tool, file)
}

// elicitedPeople puts a tool's question to the user of its agent.
type elicitedPeople struct{ hide *redact.Redactor }

func (p elicitedPeople) Ask(ctx context.Context, q editor.Question) (string, bool, error) {
	text, options := shownQuestion(p.hide, q)
	answer, ok, err := endpoint.AskerOf(ctx).Choose(ctx, text, options, q.AllowCustom)
	if i := slices.Index(options, answer); i >= 0 {
		answer = q.Options[i]
	}
	return answer, ok, err
}

// checkAgents says who serves the agents of a folder.
func checkAgents(ctx context.Context, dir string) finding {
	const name = "mcp"
	self := fmt.Sprintf("`sidecar-ls mcp --root %s`", filepath.Clean(dir))
	switch g, err := attach.Find(ctx, dir); {
	case errors.Is(err, attach.ErrNone):
		return finding{name, true, "no editor's server is here to attach to; " + self + " runs by itself"}
	case err != nil:
		return finding{name, false, err.Error()}
	case g.Kind == attach.Editor:
		return finding{name, true, fmt.Sprintf("%s attaches to the editor's server, process %d: its editor is asked and has the edits", self, g.PID)}
	default:
		return finding{name, true, fmt.Sprintf("%s joins another agent's, process %d; an editor that is started takes over", self, g.PID)}
	}
}
