package agents

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// driver drives the agent of a run: a program of the user's, or our own agent.
type driver interface {
	conversation.Driver
	// failed is why the agent could not be started the last time, or nil.
	failure() error
	// ready waits until the agent can be prompted.
	ready(ctx context.Context) error
	// choose has it work in another mode of its own, or with another model.
	choose(ctx context.Context, category, value string) error
	// stop finds the command of a call, to end it alone.
	stop(call string) (title string, end func(), err error)
}

var (
	_ driver = (*external)(nil)
	_ driver = (*own)(nil)
)

func (c *external) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

func (c *external) ready(ctx context.Context) error {
	_, err := c.started(ctx)
	return err
}
