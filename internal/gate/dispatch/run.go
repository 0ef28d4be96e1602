package dispatch

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// run runs the tool under its time-out. A tool that does not stop when it is
// told to is left behind: its call ends all the same.
func (c *call) run(ctx context.Context) (tools.Result, []workspace.Change, error) {
	outer := ctx
	ctx, cancel := waitLimit(ctx, c.tool, c.set.ApprovalTimeout)
	defer cancel()
	type outcome struct {
		res     tools.Result
		changes []workspace.Change
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		res, changes, err := c.runTool(ctx)
		done <- outcome{res, changes, err}
	}()
	for waits := true; waits; {
		select {
		case o := <-done:
			return o.res, o.changes, o.err
		case q := <-c.ran.asking: // a call is one thread: what is decided is decided here
			q.answer <- c.mayWrite(outer, q.writes)
		case <-ctx.Done():
			waits = false
		}
	}
	select {
	case o := <-done: // it finished, or stopped in good order
		return o.res, o.changes, o.err
	case <-time.After(graceAfterCancel):
		return tools.Result{}, nil, ctx.Err()
	}
}

// writesAsked is a question of a tool that runs.
type writesAsked struct {
	writes tools.Writes
	answer chan error
}

// toolRun is what a tool asks and reports while it runs, which it may still do when
// the call is over. It is a tools.Gate.
type toolRun struct {
	asking  chan writesAsked
	commits madeCommits  // that programs made, and that only the session sees
	output  atomic.Int64 // files of output that went to the workspace
	saw     atomic.Bool  // the programs that the tool ran saw what it sees
	last    lastThings

	attempts atomic.Int32 // how often the tool was run
}

// MadeCommit, SawFiles and AtEnd are reports.
func (r *toolRun) MadeCommit(commit workspace.Commit) { r.commits.add(commit) }

// WroteOutput is one, too.
func (r *toolRun) WroteOutput(files int) { r.output.Add(int64(files)) }

// SawFiles is one, too.
func (r *toolRun) SawFiles() { r.saw.Store(true) }

// AtEnd is one, too.
func (r *toolRun) AtEnd(f func()) { r.last.add(f) }

// MayWrite asks the call, which is one thread.
func (r *toolRun) MayWrite(ctx context.Context, w tools.Writes) error {
	q := writesAsked{w, make(chan error, 1)}
	select {
	case r.asking <- q:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-q.answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runTool runs the tool, again after a transient error, and turns a crash into an
// error.
func (c *call) runTool(ctx context.Context) (res tools.Result, changes []workspace.Change, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.d.o.Log.Error("tool crashed", "tool", c.tool.Name, "call", c.req.CallID, "panic", r, "stack", string(debug.Stack()))
			err = crashed(c.tool.Name, r)
		}
	}()
	if c.tool.Access == tools.Exec || c.tool.SeesDisk || c.tool.OnDisk {
		if err := c.dest.ToDisk(ctx); err != nil {
			return tools.Result{}, nil, err
		}
	}
	looking, unasked := looks(ctx, c)
	c.ran.attempts.Store(1)
	for {
		res, changes, err = c.bound.Run(ctx, &tools.Call{ID: c.req.CallID, Session: c.session.ID, Files: c.see, Emit: c.out.emit, Most: c.bill.resultBytes(), Held: c.mode.ToStore, Drop: c.req.over != nil && !c.req.fresh, Fresh: c.req.fresh,
			Gate: &c.ran, Known: known(c), Unasked: c.res.Decision.Rule == policy.WorldComplete || unasked, Looks: looking, Frozen: frozen(c),
		})
		if !c.ran.again(ctx, c.tool, c.set.Retry, err) {
			return res, changes, err
		}
	}
}

// known is what the session knows of the files; what a person has done over others is no
// knowledge of its own.
func known(c *call) tools.Known {
	if c.req.over != nil {
		return nil
	}
	return &c.session.Known
}

// graceAfterCancel is how long a tool has to stop once its context has ended.
const graceAfterCancel = 50 * time.Millisecond

// waitLimit is ctx bounded by the tool's own time-out.
func waitLimit(ctx context.Context, t *tools.Tool, approval time.Duration) (context.Context, context.CancelFunc) {
	if t.Interactive {
		return context.WithCancel(ctx)
	}
	limit := t.Timeout
	if limit == 0 {
		limit = tools.DefaultTimeout
	}
	if t.Asks {
		limit += approval
	}
	return context.WithTimeout(ctx, limit)
}
