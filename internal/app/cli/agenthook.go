package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/agenthook"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// maxHook bounds what an agent tells its hook, in bytes.
const maxHook = 32 << 20

// blocks is the exit code by which a hook holds back what it was asked about.
const blocks = exitCode(2)

// answerHook is a hook of another agent. What goes wrong holds the agent's call back,
// with the reason on standard error: that is how agents are told. In a world the agent
// works on what is reviewed anyway; a variable alone says nothing, because a project's
// settings can set it.
func answerHook(ctx context.Context, c *cli, agent string) error {
	if os.Getenv(confine.InWorld) != "" && sandbox.Inside() {
		return nil
	}
	out, err := c.hookAnswer(ctx, agent)
	if err == nil {
		_, err = c.Out.Write(out)
	}
	if err != nil {
		fmt.Fprintln(c.Err, "sidecar-ls:", err)
		return blocks
	}
	return nil
}

func (c *cli) hookAnswer(ctx context.Context, agent string) ([]byte, error) {
	in, err := io.ReadAll(io.LimitReader(c.In, maxHook+1))
	switch {
	case err != nil:
		return nil, err
	case len(in) > maxHook:
		return nil, fmt.Errorf("the call has more than %d MiB", maxHook>>20)
	}
	call, err := agenthook.Read(agent, in)
	if err != nil || !call.Matters() {
		return nil, err
	}
	if len(c.roots) == 0 {
		c.roots = rootFlag{projectAround(cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), os.Getenv("GEMINI_PROJECT_DIR"), call.Dir))}
	}
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	o := agenthook.Options{Roots: workspace.Dirs(folders), Home: home, Getenv: os.Getenv, Gate: c.gate, Secret: ownDirs(home)}
	if runtime.GOOS == "linux" { // elsewhere no world is at the path of the workspace
		o.Self = c.Self
	}
	return call.Answer(ctx, o)
}

// ownDirs are the directories with the user's settings of ours, which may have keys, and
// what is kept beside them: where they are, and where they would be without variables
// that a project may have set.
func ownDirs(home string) (dirs []string) {
	usual := userdirs.User{System: runtime.GOOS, Home: home, Getenv: func(string) string { return "" }}
	for _, user := range []userdirs.User{userdirs.Here(), usual} {
		for _, kind := range []userdirs.Kind{userdirs.Config, userdirs.State} {
			if dir, err := user.Dir(kind); err == nil {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// hookPermit asks for a decision about what an agent does itself.
var hookPermit = query[agenthook.Wish, agenthook.Verdict]{name: "hook permit", queue: app.QueueByMode, answer: permitWish}

// gate has whoever serves the workspace decide, who may have a person to ask; or else
// this process, which has none: the terminal is the agent's.
func (c *cli) gate(ctx context.Context, w agenthook.Wish) (v agenthook.Verdict, err error) {
	if there, err := c.askThere(ctx, hookPermit.name, w, &v); there || err != nil {
		return v, err
	}
	here, err := c.openAs(ctx, app.Options{Queue: hookPermit.queue, Mode: c.mode})
	if err != nil {
		return v, err
	}
	defer func() { _ = here.Close() }()
	return permitWish(ctx, here, w)
}

func permitWish(ctx context.Context, w *app.Workspace, wish agenthook.Wish) (v agenthook.Verdict, err error) {
	if _, err := w.Client.Sessions.Open(session.OpenRequest{ID: wish.Session}); err != nil && !errors.Is(err, session.ErrExists) {
		return v, err
	}
	res, err := w.Dispatch.Permit(ctx, dispatch.Own{Session: wish.Session, Agent: wish.Agent, Tool: wish.Tool, Arguments: wish.Arguments, As: wish.As, With: wish.With})
	switch {
	case err != nil:
		return v, err
	case res.OK:
		v.Decision = agenthook.Allow
	case res.Error.Code == tools.NotApproved && res.Decision.By != policy.ByUser:
		v.Decision, v.Reason = agenthook.Ask, res.Error.Message
	default:
		v.Decision, v.Reason = agenthook.Deny, res.Error.Message
	}
	if wish.Path == "" || w.Home.Queue == nil {
		return v, nil
	}
	if name, err := w.Disk.Resolve(wish.Path); err == nil {
		_, _, v.Pending = w.Home.Queue.Edit(name)
	}
	return v, nil
}
