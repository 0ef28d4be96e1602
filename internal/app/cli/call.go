package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// open opens the workspace for a sub-command.
func (c *cli) open(ctx context.Context, queue app.QueueUse) (*app.Workspace, error) {
	return c.openAs(ctx, app.Options{Queue: queue, Mode: c.mode, User: c.person()})
}

// person is whoever sits at the terminal: nobody, where it is the terminal of a program
// that works for no person.
func (c *cli) person() app.User {
	if !c.who.Person() {
		return app.User{}
	}
	return app.User{Approver: terminal{}, People: terminalPeople{redact.OfLogger(slog.New(slog.DiscardHandler))}}
}

// openAs opens the folders, and prints their problems.
func (c *cli) openAs(ctx context.Context, o app.Options) (*app.Workspace, error) {
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	o.Log, o.Program, o.Programs, o.Machine = slog.New(slog.DiscardHandler), c.Self, c.Programs, c.Machine
	w, err := app.Open(ctx, folders, o)
	if errors.Is(err, app.ErrMode) {
		s := live.New(live.Options{Machine: c.Machine})
		s.Open(workspace.Dirs(folders))
		return nil, noMode(s, c.mode)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range w.Problems.Show() {
		if c.said[p] {
			continue // a command may open the workspace twice
		}
		if c.said == nil {
			c.said = map[string]bool{}
		}
		c.said[p] = true
		fmt.Fprintln(c.Err, "sidecar-ls:", w.Client.Hide.Text(p))
	}
	return w, nil
}

// makeRoom asks agents' processes to give the folders free, and with the first the review
// queue.
func (c *cli) makeRoom(ctx context.Context) error {
	folders, err := c.folders()
	for _, f := range folders {
		attach.MakeRoom(ctx, f.Dir)
	}
	return err
}

// request reads a tool's name and arguments from the command line: a JSON
// object, - for one on standard input, or words.
func (c *cli) request(ctx context.Context, verb string, args []string) (dispatch.Request, error) {
	if len(args) == 0 {
		return dispatch.Request{}, usagef("%s takes a tool and its arguments, as NAME=VALUE or as one JSON object", verb)
	}
	r, words := dispatch.Request{Name: args[0]}, args[1:]
	switch {
	case len(words) == 0:
		return r, nil
	case len(words) == 1 && words[0] == "-":
		data, err := io.ReadAll(io.LimitReader(c.In, workspace.MaxFileSize))
		r.Arguments = data
		return r, err
	case len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{"):
		r.Arguments = json.RawMessage(words[0])
		return r, nil
	}
	m, err := c.manual(ctx, r.Name)
	if err != nil {
		return r, err
	}
	if r.Arguments, err = m.FromWords(words); err != nil {
		err = usagef("%v; sidecar-ls tools %s says more", err, m.Name)
	}
	return r, err
}

// callTool calls a tool.
func callTool(ctx context.Context, c *cli) error {
	if c.help {
		return c.showTool(ctx, c.args[0])
	}
	r, err := c.request(ctx, "call", c.args)
	if err != nil {
		return err
	}
	return c.call(ctx, r, nil)
}

// call runs a tool of the process that serves the workspace already, if there
// is one: what is pending there is seen, and what is held waits there. Else it
// runs it here; before is done first then, if there is anything to do.
func (c *cli) call(ctx context.Context, r dispatch.Request, before func(*app.Workspace) error) error {
	b, err := c.attach(ctx)
	if err != nil {
		return err
	}
	if b != nil {
		defer func() { _ = b.Close() }()
		res, err := c.callThere(ctx, b, r)
		if err != nil {
			return err
		}
		return c.show(res)
	}
	if !c.who.Person() {
		folders, err := c.folders()
		if err == nil {
			err = checkStricter(c.Machine, folders, c.mode)
		}
		if err != nil {
			return err
		}
	}
	w, err := c.openToCall(ctx, r.Name)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	if before != nil {
		if err := before(w); err != nil {
			return err
		}
	}
	if c.session != "" {
		return usagef("--session: no process serves this workspace, so no session outlives its call; leave it out")
	}
	if err := w.Home.LockedOut(); errors.Is(err, pendingedits.ErrLocked) {
		fmt.Fprintln(c.Err, "sidecar-ls: this looks at the disk, without what is pending:", err)
	}
	r.Whole = true
	res, err := w.Dispatch.Call(ctx, r)
	if err != nil {
		return err
	}
	return c.show(res)
}

// openFor opens the workspace for a call of a tool. What one changes can be taken back
// later, of which there is a record where the queue is: that is made for it.
func (c *cli) openToCall(ctx context.Context, tool string) (*app.Workspace, error) {
	w, err := c.open(ctx, app.QueueByMode)
	if err != nil || w.Home.Queue != nil || w.Home.Err != nil {
		return w, err
	}
	if t, err := find(ctx, w, tool); err != nil || t.Access == tools.Read {
		return w, nil //nolint:nilerr // the call says what is wrong with the name
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return c.open(ctx, app.QueueAlways)
}

// show prints a result.
func (c *cli) show(res *dispatch.Result) error {
	if c.json {
		if err := c.print(res); err != nil {
			return err
		}
	} else if res.OK {
		fmt.Fprintln(c.Out, res.Content)
	} else {
		fmt.Fprintf(c.Err, "%s: %s\n", res.Error.Code, res.Content)
	}
	if !res.OK {
		return errReported
	}
	return nil
}

// print writes v as JSON for people and programs.
func (c *cli) print(v any) error {
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
