// Package program runs a program of the user's in a session of its own: it sees what
// the session sees, and what it writes becomes edits of the session while it runs.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Parts are what running a program takes.
type Parts struct {
	Sessions *session.Store
	Dispatch interface {
		CallOwn(ctx context.Context, t *tools.Tool, session, line string) (*dispatch.Result, error)
	}
	Start func(context.Context, shell.Run, confine.Hosted) (confine.Program, error)
	Leave func(session string) // gives up its world
	Shell func() (shells.Shell, error)

	Pending func() []string // names of what waits for review; nil: nothing does
}

// Request is a program to run.
type Request struct {
	Session string // "" is one that is named after the program
	Mode    string // of the session; "" is review
	Argv    []string
	Title   string // of the product that the program is, as people know it; "": they know the command line
	Dir     string // below the session's root
	Host    confine.Hosted
	Out     io.Writer // standard output; nil: nowhere
	Err     io.Writer

	Started func() // is called once the program has its streams, or will not get any; nil: nobody cares
}

// Result is how a program ended.
type Result struct {
	Session string   `json:"session"`
	Code    int      `json:"code"`
	Changed []string `json:"changed"` // names, sorted
	Held    bool     `json:"held"`    // they wait, or waited, for review
	Waits   []string `json:"waits"`   // those that still do
	Said    []string `json:"said"`    // what was not taken over, and why
}

// Run runs a program to its end. The error is why it was not run, or the context's.
func Run(ctx context.Context, p Parts, r Request) (Result, error) {
	if len(r.Argv) == 0 || r.Argv[0] == "" {
		return Result{}, errors.New("there is no program to run; name one after --")
	}
	s, err := p.open(r)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		_ = p.Sessions.Close(s.ID)
		p.Leave(s.ID)
	}()
	h, err := Begin(ctx, p, s, r)
	if err != nil {
		return Result{}, err
	}
	return h.Wait()
}

// Begin starts a program in a session that is open. It ends with ctx; Wait must follow.
func Begin(ctx context.Context, p Parts, s *session.Session, r Request) (*Running, error) {
	h := &Running{ctx: ctx, p: p, r: r, session: s, line: cmp.Or(r.Title, strings.Join(r.Argv, " ")), known: map[string]bool{}}
	err := h.start(ctx)
	if r.Started != nil {
		r.Started()
	}
	return h, err
}

// Wait takes over what the program writes until it ends. The error is why its end is
// not known, or that of the context of Begin.
func (h *Running) Wait() (Result, error) {
	watch, stop := context.WithCancel(context.Background())
	if err := h.program.Watch(watch, h.Collect); err != nil {
		h.say([]string{"What it writes is taken over at its end alone: " + err.Error()})
	}
	code, err := exitOf(h.program.Wait())
	stop()
	h.end()
	res := h.result()
	res.Code = code
	if h.ctx.Err() != nil {
		err = h.ctx.Err()
	}
	return res, err
}

// Kill ends the program and all that it started.
func (h *Running) Kill() { h.program.Kill() }

// exitOf is the exit code of a program.
func exitOf(err error) (int, error) {
	var exit interface {
		error
		ExitCode() int
	}
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	}
	return 0, err
}

// Reviewed is the mode of a session in which all that a program writes waits.
const Reviewed = "review"

// open opens the session of a program.
func (p Parts) open(r Request) (*session.Session, error) {
	mode := r.Mode
	if mode == "" {
		mode = Reviewed
	}
	if r.Session != "" {
		return p.Sessions.Open(session.OpenRequest{ID: r.Session, Mode: mode})
	}
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, filepath.Base(r.Argv[0]))
	name = strings.TrimLeft(name, "-._")
	for n := 1; ; n++ {
		id := name
		if n > 1 || id == "" {
			id = fmt.Sprintf("%s-%d", strings.TrimSuffix("run-"+name, "-"), n)
		}
		s, err := p.Sessions.Open(session.OpenRequest{ID: id, Mode: mode})
		if !errors.Is(err, session.ErrExists) || n > session.MaxSessions {
			return s, err
		}
	}
}

// Running is a program that runs.
type Running struct {
	ctx     context.Context
	p       Parts
	r       Request
	session *session.Session
	line    string
	program confine.Program

	mu      sync.Mutex // one harvest at a time
	held    bool
	known   map[string]bool // what is in changed, or was said
	changed []string
	said    []string
}

// tool is what takes over what the program wrote: the review and the record of calls
// know it by this name.
func (h *Running) tool(f func(c *tools.Call) ([]workspace.Change, error)) *tools.Tool {
	return tools.NewReadEdit(tools.Def{
		Name: "run", Title: "Run a program", Description: "Runs a program of the user's and takes over what it writes.", Example: "{}",
		Category: "shell", Output: tools.NoOutput{}, Wrote: "run", OnDisk: true,
	}, func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, []workspace.Change, error) {
		changes, err := f(c)
		return tools.Result{}, changes, err
	})
}

// start starts the program, in a call: what it may see is that call's.
func (h *Running) start(ctx context.Context) (failed error) {
	_, err := h.p.Dispatch.CallOwn(ctx, h.tool(func(c *tools.Call) ([]workspace.Change, error) {
		h.held = c.Held
		h.program, failed = h.p.Start(ctx, shell.Run{
			Session: h.session.ID, Root: h.session.Root, Files: c.Files, Held: c.Held, Drop: c.Drop, Stays: true,
			Dir: h.r.Dir, Argv: h.r.Argv, Stdout: h.r.Out, Stderr: h.r.Err,
		}, h.r.Host)
		return nil, failed
	}), h.session.ID, h.line)
	if failed == nil && h.program == nil && err == nil {
		err = errors.New("the program was not started; the log says why")
	}
	return errors.Join(failed, err)
}

// Collect collects what the program wrote since the last time.
func (h *Running) Collect() { h.take(h.program.Changed) }

// Again has the program see what its session sees now.
func (h *Running) Again() error { return h.program.Again() }

// end is Collect for the last time.
func (h *Running) end() {
	h.take(func() (shell.Changed, error) { return h.program.End(true) })
}

func (h *Running) take(from func() (shell.Changed, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	res, err := h.p.Dispatch.CallOwn(context.Background(), h.tool(func(c *tools.Call) ([]workspace.Change, error) {
		changed, err := from()
		if err != nil {
			return nil, err
		}
		h.say(changed.Said)
		changed.Tell(c)
		return changed.Changes, nil
	}), h.session.ID, h.line)
	if err == nil && !res.OK {
		err = errors.New(res.Content)
	}
	if err != nil {
		h.say([]string{"Something that it wrote is not taken over: " + err.Error()})
		return
	}
	for _, ch := range res.Changes {
		if !h.known[ch.Path] {
			h.known[ch.Path] = true
			h.changed = append(h.changed, ch.Path)
		}
	}
	h.say(res.Notes)
}

// say keeps what is to be said at the end, each once.
func (h *Running) say(sentences []string) {
	for _, s := range sentences {
		if !h.known["\x00"+s] {
			h.known["\x00"+s] = true
			h.said = append(h.said, s)
		}
	}
}

func (h *Running) result() Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.changed)
	r := Result{Session: h.session.ID, Changed: h.changed, Held: h.held, Waits: []string{}, Said: h.said}
	if h.held && h.p.Pending != nil {
		pending := h.p.Pending()
		for _, name := range h.changed {
			if slices.Contains(pending, name) {
				r.Waits = append(r.Waits, name)
			}
		}
	}
	return r
}
