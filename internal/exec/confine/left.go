package confine

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// leftovers take what commands changed and nobody took, one folder at a time.
type leftovers struct {
	mu     sync.Mutex
	ctx    context.Context // nil: nobody takes any
	stop   context.CancelFunc
	taking sync.WaitGroup
	turn   sync.Mutex
}

// TakeLeft has the texts wait for review that commands of sessions which have ended, or of a
// server that was killed, changed and nobody took: those that there are, and from now on all.
func (c *Confiner) TakeLeft() {
	if c.o.Review == nil || c.o.Files == nil {
		return
	}
	c.left.mu.Lock()
	if c.left.ctx == nil {
		c.left.ctx, c.left.stop = context.WithCancel(context.Background())
	}
	c.left.mu.Unlock()
	c.takeAllLeft()
}

func (c *Confiner) takeAllLeft() {
	for _, dir := range c.o.Folders {
		c.takeLeft(dir)
	}
}

// takeLeft takes those of a folder, and waits for nothing.
func (c *Confiner) takeLeft(dir string) {
	c.left.mu.Lock()
	defer c.left.mu.Unlock()
	ctx := c.left.ctx
	if ctx == nil || ctx.Err() != nil {
		return // they stay for the next server
	}
	c.left.taking.Go(func() {
		c.left.turn.Lock()
		defer c.left.turn.Unlock()
		if err := c.worlds.TakeLeft(dir, c.o.Files(), func(l world.Left) error { return c.hold(ctx, l) }); err != nil {
			c.o.Log.Warn("what commands changed and nobody took stays where it is", "folder", dir, "error", err)
		}
	})
}

// hold has the texts that one world left wait for review, and says so.
func (c *Confiner) hold(ctx context.Context, l world.Left) error {
	names, err := c.o.Review.Hold(ctx, tools.NewReadEdit(tools.Def{
		Name: "left_behind", Title: "Hold what commands left", Description: "Holds what commands of a session changed that has ended.", Example: "{}",
		Category: "shell", Output: tools.NoOutput{}, Wrote: "run_command", OnDisk: true,
	}, func(context.Context, *tools.Call, struct{}) (tools.Result, []workspace.Change, error) {
		return tools.Result{}, l.Changes, nil
	}), fmt.Sprintf("what commands of the session %s left", l.Session))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	text := fmt.Sprintf("The session %s ended, or its server was killed, before anybody took over what its commands had changed.", l.Session)
	if len(names) > 0 {
		const most = 20
		more := ""
		if n := len(names); n > most {
			names, more = names[:most], fmt.Sprintf(" and %d more", n-most)
		}
		text += " It waits for review: " + strings.Join(names, ", ") + more + "."
	} else if len(l.Said) == 0 {
		return nil // it was taken over after all
	}
	text = strings.Join(append([]string{text}, l.Said...), " ")
	c.o.Log.Warn(text)
	c.o.Warn(text)
	return nil
}

// end takes no more, and waits for what is being taken.
func (l *leftovers) end() {
	l.mu.Lock()
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	l.taking.Wait()
}
