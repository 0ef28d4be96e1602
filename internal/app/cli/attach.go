package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
)

// shellSession is the session of the command lines that name none.
const shellSession = "shell"

// attach goes on with a session of the process that serves the workspace, in the
// mode of the command line: what an earlier call was told to come back with,
// cursors and commands in the background, is there. It returns nil when there is
// no such process, or none that can be reached: then the command works by itself.
func (c *cli) attach(ctx context.Context) (endpoint.Backend, error) {
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	dirs := workspace.Dirs(folders)
	conn, g, err := attach.Dial(ctx, dirs[0], attach.Wish{Mode: c.mode, Session: firstOf(c.session, shellSession)}, dirs[1:]...)
	if err == nil {
		var b endpoint.Backend
		who := endpoint.Agent{Name: "sidecar-ls call", Version: version.String(), CanAsk: c.who.Person() && canAsk()}
		if b, err = endpoint.Remote(ctx, conn, fmt.Sprintf("the sidecar-ls of process %d", g.PID), who); err == nil {
			return b, nil
		}
	}
	switch {
	case errors.Is(err, attach.ErrApart):
		return nil, err
	case !errors.Is(err, attach.ErrNone):
		fmt.Fprintln(c.Err, "sidecar-ls: not attached:", err)
	}
	return nil, nil
}

// callThere runs a tool of the process at the other end.
func (c *cli) callThere(ctx context.Context, b endpoint.Backend, r dispatch.Request) (*dispatch.Result, error) {
	return endpoint.CallBy(ctx, b, endpoint.Call{Name: r.Name, Arguments: r.Arguments, Ask: endpoint.AskBy(askHere)})
}
