package dispatch

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/retry"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// again waits and reports whether the tool is to be retried after err. The tool's
// time-out bounds all attempts together.
func (r *toolRun) again(ctx context.Context, t *tools.Tool, p retry.Policy, err error) bool {
	if err == nil || !t.Repeatable() {
		return false
	}
	e := tools.AsError(err)
	done := int(r.attempts.Load())
	if e.Class() != tools.Transient || done >= p.Attempts {
		return false
	}
	wait := max(p.After(done), e.RetryAfter)
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
	r.attempts.Add(1)
	return true
}
