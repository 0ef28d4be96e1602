// Package programs runs a program of the user's in a session of its own: it sees what
// the session sees, and what it writes becomes edits of the session while it runs.
package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Parts are what running a program takes.
type Parts struct {
	Root     string // the workspace's first folder
	Sessions *session.Store
	Dispatch interface {
		CallOwn(ctx context.Context, t *tools.Tool, session, line string) (*dispatch.Result, error)
	}
	Start func(context.Context, shell.Run, confine.Hosted) (confine.Program, error)
	Leave func(session string) // gives up its world

	Started func() // is called once the program has its streams, or will not get any; nil: nobody cares
}

// Request is a program to run.
type Request struct {
	Session string // "" is one that is named after the program
	Mode    string // of the session; "" is review
	Argv    []string
	Dir     string // below Root
	Host    confine.Hosted
	Out     *os.File // standard output and error, unless the input is a terminal
	Err     *os.File
}

// Result is how a program ended.
type Result struct {
	Session string   `json:"session"`
	Code    int      `json:"code"`
	Changed []string `json:"changed"` // names, sorted
	Held    bool     `json:"held"`    // they wait for review
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
	h := &hosted{p: p, r: r, session: s.ID, line: strings.Join(r.Argv, " "), known: map[string]bool{}}
	err = h.start(ctx)
	if p.Started != nil {
		p.Started()
	}
	if err != nil {
		return Result{}, err
	}
	watch, stop := context.WithCancel(context.Background())
	if err := h.program.Watch(watch, h.takeOver); err != nil {
		h.say([]string{"What it writes is taken over at its end alone: " + err.Error()})
	}
	code, err := exitOf(h.program.Wait())
	stop()
	h.end()
	res := h.result()
	res.Code = code
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return res, err
}

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

// reviewed is that of a session that a program runs in: all that it writes waits.
const reviewed = "review"

// open opens the session of a program.
func (p Parts) open(r Request) (*session.Session, error) {
	mode := r.Mode
	if mode == "" {
		mode = reviewed
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

// hosted is a program that runs.
type hosted struct {
	p       Parts
	r       Request
	session string
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
func (h *hosted) tool(f func(c *tools.Call) ([]workspace.Change, error)) *tools.Tool {
	return tools.NewReadEdit(tools.Def{
		Name: "run", Title: "Run a program", Description: "Runs a program of the user's and takes over what it writes.", Example: "{}",
		Category: "shell", Output: tools.NoOutput{}, Wrote: "run",
	}, func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, []workspace.Change, error) {
		changes, err := f(c)
		return tools.Result{}, changes, err
	})
}

// start starts the program, in a call: what it may see is that call's.
func (h *hosted) start(ctx context.Context) (failed error) {
	_, err := h.p.Dispatch.CallOwn(ctx, h.tool(func(c *tools.Call) ([]workspace.Change, error) {
		h.held = c.Held
		h.program, failed = h.p.Start(ctx, shell.Run{
			Session: h.session, Root: h.p.Root, Files: c.Files, Held: c.Held, Stays: true,
			Dir: h.r.Dir, Argv: h.r.Argv, Stdout: writer(h.r.Out), Stderr: writer(h.r.Err),
		}, h.r.Host)
		return nil, failed
	}), h.session, h.line)
	if failed == nil && h.program == nil && err == nil {
		err = errors.New("the program was not started; the log says why")
	}
	return errors.Join(failed, err)
}

// writer is f, or nothing.
func writer(f *os.File) interface{ Write([]byte) (int, error) } {
	if f == nil {
		return nil
	}
	return f
}

// takeOver takes over what was written since the last time.
func (h *hosted) takeOver() { h.take(h.program.Changed) }

// end is takeOver for the last time.
func (h *hosted) end() {
	h.take(func() (shell.Changed, error) { return h.program.End(true) })
}

func (h *hosted) take(from func() (shell.Changed, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	res, err := h.p.Dispatch.CallOwn(context.Background(), h.tool(func(c *tools.Call) ([]workspace.Change, error) {
		changed, err := from()
		if err != nil {
			return nil, err
		}
		h.say(changed.Said)
		for _, commit := range changed.Commits {
			c.MadeCommit(commit)
		}
		return changed.Changes, nil
	}), h.session, h.line)
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
func (h *hosted) say(sentences []string) {
	for _, s := range sentences {
		if !h.known["\x00"+s] {
			h.known["\x00"+s] = true
			h.said = append(h.said, s)
		}
	}
}

func (h *hosted) result() Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.changed)
	return Result{Session: h.session, Changed: h.changed, Held: h.held, Said: h.said}
}
