package dispatch

import (
	"context"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// waits reports whether all that the call does waits for review.
func waits(c *call) bool {
	return c.queued() || c.mode.ToStore && c.bound.Effects.Waits
}

// queued reports whether the call is a commit that waits for its batch.
func (c *call) queued() bool { return c.mode.Batch && c.bound.Effects.Commit != nil }

// queueCommit queues the call's commit instead of running it.
func (c *call) queueCommit(ctx context.Context) (tools.Result, error) {
	message := c.bound.Effects.Commit.Message
	if strings.TrimSpace(message) == "" {
		return tools.Result{}, tools.Errorf(tools.InvalidArguments, "message: the message of a commit must not be empty; say in a line what the commit does")
	}
	n, err := c.dest.QueueCommit(ctx, c.session.ID, message, c.session.Models(), "")
	if err != nil {
		return tools.Result{}, err
	}
	c.session.Committed()
	text := fmt.Sprintf("Queued as commit %d of this batch. It is made when the user accepts the batch, after its files; until then git does not show it.", n)
	return tools.Result{Text: text, Structured: tools.Queued{Queued: true, Position: n}}, nil
}
