package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// again waits and reports whether the tool is to be retried after err. The tool's
// time-out bounds all attempts together.
func (c *call) again(ctx context.Context, err error) bool {
	if err == nil || !c.tool.Repeatable() {
		return false
	}
	e := tools.AsError(err)
	done := int(c.attempts.Load())
	if e.Class() != tools.Transient || done >= c.set.Retry.Attempts {
		return false
	}
	wait := max(c.set.Retry.After(done), e.RetryAfter)
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	c.attempts.Add(1)
	return true
}

// noteAttempts tells the model that what failed was retried.
func (c *call) noteAttempts(failed bool) {
	c.res.Attempts = max(int(c.attempts.Load()), 1)
	if failed && c.res.Attempts > 1 {
		c.notes = append(c.notes, fmt.Sprintf("It was attempted %d times.", c.res.Attempts))
	}
}
