package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// external drives a run of an agent of the user's over ACP. It starts the agent's program, and starts it
// again with the next prompt when it has ended.
type external struct {
	m       *base
	run     *conversation.Run
	profile profile.Profile
	session *session.Session
	model   string

	starting sync.Mutex // one start at a time
	earlier  bool       // the run's conversation is one that the agent had before, and the run knows nothing of it yet; only who starts uses it
	mu       sync.Mutex
	agent    *agent // nil: there is none now
	failed   error  // the latest start, if it did
	starts   int
	closed   bool
}

// warm starts the agent before the first prompt. What goes wrong is told when there
// is one, and here.
func (c *external) warm() {
	if _, err := c.started(c.m.ctx); err != nil && c.m.ctx.Err() == nil {
		c.tell(conversation.Event{Kind: conversation.Note, Reason: "failed", Text: err.Error()})
	}
}

// started is the agent, which is started if there is none.
func (c *external) started(ctx context.Context) (*agent, error) {
	c.mu.Lock()
	before := c.starts
	c.mu.Unlock()
	c.starting.Lock()
	defer c.starting.Unlock()
	c.mu.Lock()
	a, closed := c.agent, c.closed
	tried, failed := c.starts != before, c.failed
	c.mu.Unlock()
	switch {
	case closed:
		return nil, conversation.ErrEnded
	case tried && failed != nil: // while this waited for it
		return nil, failed
	case a != nil && a.conn.Err() == nil:
		return a, nil
	case a != nil:
		a.stop()
	}
	what := "Starting " + c.profile.Title
	if c.profile.Install != "" {
		what = "Installing " + c.profile.Adapter + " and starting " + c.profile.Title
	}
	c.tell(conversation.Event{Kind: conversation.Note, Reason: "starting", Text: what})
	a, err := c.start(ctx)
	c.mu.Lock()
	c.starts++
	if c.failed = err; err != nil {
		c.mu.Unlock()
		return nil, err
	}
	if c.closed {
		c.mu.Unlock()
		a.stop()
		return nil, conversation.ErrEnded
	}
	c.agent = a
	c.mu.Unlock()
	c.tell(conversation.Event{Kind: conversation.Note, Reason: "ready"})
	return a, nil
}

func (c *external) tell(e conversation.Event) { _ = c.run.Emit(e) } // after its end there is nobody to be told

// Prompt implements runs.Driver.
func (c *external) Prompt(ctx context.Context, items []conversation.Item) (string, error) {
	a, err := c.started(ctx)
	if err != nil {
		return "", err
	}
	if title := conversation.TitleOf(items[0].Text); title != "" && c.run.Info().Title == c.profile.Title { // until the agent has one
		c.tell(conversation.Event{Kind: conversation.Note, Reason: "title", Title: title})
	}
	if notes := c.session.TakeNotes(); len(notes) > 0 {
		items = append([]conversation.Item{{Text: "Since your last answer:\n" + strings.Join(notes, "\n")}}, items...)
	}
	_ = a.program.Again() // what was decided is there when it reads of it; what fails, the next command says
	reason, err := a.bridge.Prompt(ctx, items)
	if errors.Is(err, acp.ErrGone) {
		return reason, a.died(err)
	}
	c.collect(a) // the run's end says that all is pending
	return reason, err
}

// collect makes the agent's own writes pending, and notes them in the run.
func (c *external) collect(a *agent) {
	a.program.Collect()
	c.run.Changed(c.m.o.Pending(c.session.ID))
}

// Steer implements runs.Driver.
func (c *external) Steer(ctx context.Context, i conversation.Item) error {
	if a := c.here(); a != nil {
		return a.bridge.Steer(ctx, i)
	}
	return conversation.ErrNoSteer
}

// Cancel implements runs.Driver.
func (c *external) Cancel(ctx context.Context) error {
	if a := c.here(); a != nil {
		return a.bridge.Cancel(ctx)
	}
	return nil
}

func (c *external) here() *agent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.agent
}

// Close implements runs.Driver: it ends the agent and its session. What the agent
// wrote stays pending.
func (c *external) Close() error {
	c.mu.Lock()
	c.closed = true
	a := c.agent
	c.mu.Unlock()
	var err error
	switch {
	case a == nil:
	case c.m.closing.Load(): // there is no time for the agent's good manners
		a.stop()
	default:
		err = a.bridge.Close()
	}
	c.m.runs.left(c.run)
	c.m.o.Parts().Leave(c.session.ID)
	return errors.Join(err, c.m.o.Sessions.Close(c.session.ID))
}

// endTime is how long a program may take to end that has closed its output.
const endTime = time.Second

// died says how the program ended that was an agent.
func (a *agent) died(why error) error {
	timer := time.AfterFunc(endTime, a.program.Kill)
	defer timer.Stop()
	<-a.ended
	text := why.Error()
	if a.err != nil {
		text = a.err.Error()
	} else if a.result.Code != 0 {
		text = fmt.Sprintf("the agent's program ended with exit code %d", a.result.Code)
	}
	if said := a.said.String(); said != "" {
		text += "; its last lines:\n" + said
	}
	return errors.New(text)
}
