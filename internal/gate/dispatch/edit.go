package dispatch

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// edit runs an editing tool: its changes are computed first, so that policy
// and people judge the real effect, and applied last.
func (c *call) edit(ctx context.Context) (tools.Result, error) {
	planned := c.decide(nil)
	if planned.Outcome == policy.Deny {
		return tools.Result{}, c.settle(ctx, planned, nil)
	}
	turn := c.d.edits.enter()
	defer c.d.edits.leave(turn)
	out, changes, err := c.compute(ctx)
	for {
		stale, werr := c.d.edits.claim(ctx, turn, touched(changes))
		if werr != nil {
			return out, werr
		}
		if !stale {
			break
		}
		// Earlier edits have been applied since: look again.
		out, changes, err = c.compute(ctx)
	}
	if err != nil || len(changes) == 0 {
		c.res.Decision.Outcome = string(policy.Allow)
		why := "nothing would be changed"
		if err != nil {
			why = "it failed before it changed anything"
		}
		c.emitVerdict(policy.Verdict{Outcome: policy.Allow, By: planned.By, Rule: planned.Rule, Reason: why})
		return out, err
	}
	return c.apply(ctx, out, changes)
}

// follow makes the changes that the run of a program led to. Whatever allowed
// the program to run does not allow them: they are decided on as those of a
// tool that only edits. What changed since the tool looked is a conflict,
// because the program is not run again.
func (c *call) follow(ctx context.Context, out tools.Result, changes []workspace.Change) (tools.Result, error) {
	changes = effective(c.to, changes)
	if len(changes) == 0 {
		return out, nil
	}
	line, effects := c.line, c.bound.Effects
	c.line, c.bound.Effects, c.follows = nil, tools.Effects{}, true
	defer func() { c.line, c.bound.Effects, c.follows = line, effects, false }() // the records are of the whole call
	turn := c.d.edits.enter()
	defer c.d.edits.leave(turn)
	if _, err := c.d.edits.claim(ctx, turn, touched(changes)); err != nil {
		return out, err
	}
	return c.apply(ctx, out, changes)
}

// apply decides on changes, asks where that is needed, and makes them.
func (c *call) apply(ctx context.Context, out tools.Result, changes []workspace.Change) (tools.Result, error) {
	if err := plainNames(changes); err != nil {
		return tools.Result{}, err
	}
	if err := c.settle(ctx, c.decide(changes), changes); err != nil {
		return tools.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return tools.Result{}, err
	}
	if err := c.change(ctx, changes...); err != nil {
		if errors.Is(err, workspace.ErrConflict) && c.questions > 0 {
			return tools.Result{}, tools.Errorf(tools.Conflict, "%v: it changed while the approval was open; read it again and redo the edit", err)
		}
		return tools.Result{}, err
	}
	c.changes = changes
	state := "applied"
	if c.mode.ToStore {
		state = "pending"
		c.notes.add("Held for review: reads and searches show it, the disk does not have it yet.")
	}
	for _, ch := range changes {
		c.res.Changes = append(c.res.Changes, ChangeRef{Path: ch.Path, URI: workspace.FileURI(c.to.Abs(ch.Path)), Kind: ch.Kind(), State: state})
	}
	return out, nil
}

// change makes changes.
func (c *call) change(ctx context.Context, changes ...workspace.Change) error {
	if c.req.Making != nil {
		if err := c.req.Making(c.to, changes); err != nil {
			return err
		}
	}
	if err := c.to.Apply(ctx, changes...); err != nil {
		return err
	}
	for _, ch := range changes {
		if !ch.Link() && !ch.Outdated {
			c.session.Known.Made(ch.Path, ch.From, ch.Before, ch.After)
		}
	}
	return nil
}

// compute runs the tool.
func (c *call) compute(ctx context.Context) (tools.Result, []workspace.Change, error) {
	out, changes, err := c.run(ctx)
	return out, effective(c.to, changes), err
}

// effective drops changes that change nothing. The text of a link is that of
// the file it leads to, so that file's name is the one that the queue, the
// editor and people know.
func effective(files workspace.View, changes []workspace.Change) []workspace.Change {
	for i, ch := range changes {
		if ch.From != "" || ch.After == nil || ch.Link() {
			continue // of the link itself
		}
		if real, err := files.RealName(ch.Path); err == nil {
			changes[i].Path = real
		}
	}
	return slices.DeleteFunc(changes, func(ch workspace.Change) bool {
		return ch.From == "" && ch.Before != nil && ch.After != nil && bytes.Equal(ch.Before, ch.After)
	})
}

// plainNames refuses to make a file whose name is another one where it is shown:
// a line break in it, or a character that steers a terminal.
func plainNames(changes []workspace.Change) error {
	for _, ch := range changes {
		if (ch.From != "" || ch.Before == nil) && strings.ContainsFunc(ch.Path, unicode.IsControl) {
			return tools.Errorf(tools.InvalidArguments, "path: %q has a control character, such as a line break, which no name of a new file may have; leave it out", ch.Path)
		}
	}
	return nil
}

// touched lists the files of changes; nil when there are none.
func touched(changes []workspace.Change) []string {
	var names []string
	for _, ch := range changes {
		names = append(names, ch.Path)
		if ch.From != "" {
			names = append(names, ch.From)
		}
	}
	return names
}

// contested says who else may have changed what an edit did not find.
func (c *call) contested(err error) {
	v, ok := c.to.(interface{ Contested() []string })
	if !ok || tools.AsError(err).Code != tools.NoMatch {
		return
	}
	if others := v.Contested(); len(others) > 0 {
		c.notes.add("Another agent may have changed this part since you read it; read it again. What waits for the user: " + strings.Join(others, "; "))
	}
}
