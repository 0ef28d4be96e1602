package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// joint is a workspace that other shells work in, too.
type joint struct {
	*app.Workspace
	agents *serve.Agents
	told   io.Writer // the person

	others atomic.Int64  // programs and agents that other shells have started here
	over   chan struct{} // one of them has ended

	unasked sync.Once // the first command that runs without a question
}

// besideTerminal asks where a call comes from, and has the person at the terminal here read
// that commands run without a question.
type besideTerminal struct {
	endpoint.Elicited

	told io.Writer
	once *sync.Once
}

// Unasked implements dispatch.Noticer.
func (b besideTerminal) Unasked() {
	if _, at := b.told.(visible); at {
		b.once.Do(func() { serve.UnaskedAt(b.told) })
	}
}

// begun counts something that another shell has started, until over is called.
func (s *joint) begun() (over func()) {
	s.others.Add(1)
	return func() {
		s.others.Add(-1)
		select {
		case s.over <- struct{}{}:
		default:
		}
	}
}

// close ends it all, after what other shells have started, unless ctx ends first.
func (s *joint) close(ctx context.Context) error {
	if s.others.Load() > 0 {
		fmt.Fprintln(s.told, "sidecar-ls: waiting for another shell's program or agent, which runs through this one. Ctrl-C ends it, too.")
	}
	for s.others.Load() > 0 && ctx.Err() == nil {
		select {
		case <-s.over:
		case <-ctx.Done():
		}
	}
	return errors.Join(s.agents.Close(), s.Close())
}

// share opens the folders for a program or an agent that works in this process. The
// person's other shells review and answer meanwhile, and other agents work beside it, as
// with an editor's server. Questions are put where the call comes from: the terminal here
// may be the program's.
func share(ctx context.Context, c *cli) (*joint, error) {
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	a := serve.NewAgents(c.Self)
	s := &joint{agents: a, over: make(chan struct{}, 1), told: onTerminal(c.Err)}
	var user app.User
	if c.who.Person() {
		asks := endpoint.Elicited{Hide: redact.OfLogger(slog.New(slog.DiscardHandler))}
		user = app.User{Approver: besideTerminal{asks, s.told, &s.unasked}, People: asks}
	}
	w, err := c.openAs(ctx, app.Options{
		Queue: app.QueueAlways, User: a.Through(user), // c.mode is that of the session
		Person: func(ctx context.Context, w *app.Client, p peers.Peer) { answerPerson(ctx, w, a, p, s.begun) },
	})
	if err != nil {
		return nil, err
	}
	s.Workspace = w
	a.Of(w.Client)
	if !w.Client.Settings.Now().Bool("mcp.attach") {
		return s, nil
	}
	host := w.Client.Host(endpoint.HostOptions{Kind: attach.Alone, Leave: func() bool { return false }})
	err = host.Admit(workspace.Dirs(folders)...)
	switch taken := errors.Is(err, attach.ErrTaken); {
	case taken && len(folders) > 1: // while this one opened them
		return nil, errors.Join(fmt.Errorf("%w; try again", err), s.close(ctx))
	case err != nil && !taken: // by whom it is taken, its lock on the queue says
		fmt.Fprintln(s.told, "sidecar-ls: other shells can't reach this one:", err)
	}
	return s, nil
}
