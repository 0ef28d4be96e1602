package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/acpserver"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// acpQuery is the name of the query after which the Agent Client Protocol is spoken.
const acpQuery = "acp"

// acpWish is what new sessions work with.
type acpWish struct {
	Mode  string `json:"mode,omitempty"`
	Model string `json:"model,omitempty"`
}

// serveACP speaks the Agent Client Protocol until the client leaves.
func serveACP(ctx context.Context, c *cli) error {
	if len(c.args) > 0 {
		return usagef("acp takes no arguments, but got %q", c.args[0])
	}
	log, end, err := c.logger()
	if err != nil {
		return err
	}
	defer end()
	serve.Stay()
	d := &acpDialer{c: c, entrance: entrance{mode: c.mode, who: c.who, self: c.Self, programs: c.Programs, machine: c.Machine, log: log}}
	r := acpserver.Relay{Dial: d.dial, Version: version.String(), Log: d.entrance.log}
	return r.Serve(ctx, c.In, c.Out)
}

// answerACP serves a client by the process of which it is asked.
func answerACP(ctx context.Context, c *app.Client, a *serve.Agents, conn net.Conn, args json.RawMessage) {
	var wish acpWish
	err := json.Unmarshal(args, &wish)
	if reply(conn, struct{}{}, err) != nil || err != nil {
		return
	}
	c.Log().Info("an editor has come", "protocol", "acp")
	if err := a.ServeACP(ctx, conn, wish.Mode, wish.Model); err != nil && ctx.Err() == nil {
		c.Log().Warn("an editor was lost", "protocol", "acp", "error", err)
	}
}

// acpDialer finds who serves the folder of a client.
type acpDialer struct {
	c        *cli
	entrance entrance
}

// dial connects to the process that serves the folder around dir and more of them, or has
// this one serve them.
func (d *acpDialer) dial(ctx context.Context, dir string, more []string) (io.ReadWriteCloser, error) {
	if d.entrance.folders == nil {
		folders, err := d.folders(dir, more)
		if err != nil {
			return nil, err
		}
		d.entrance.folders = folders
	}
	return enter(ctx, &d.entrance, func() (io.ReadWriteCloser, error) { return d.there(ctx) }, func() (io.ReadWriteCloser, error) { return d.here(ctx) })
}

// folders are those that --root names, or else those of the first session.
func (d *acpDialer) folders(dir string, more []string) ([]workspace.Folder, error) {
	c := *d.c
	if len(c.roots) == 0 {
		for _, one := range append([]string{dir}, more...) {
			if !filepath.IsAbs(one) {
				return nil, acp.Errorf(acp.CodeInvalidParams, "%.200q is no absolute path", one)
			}
			if _, err := os.Stat(one); err != nil {
				return nil, acp.Errorf(acp.CodeInvalidParams, "%s", err)
			}
		}
		c.roots = rootFlag{projectAround(dir)}
		for _, one := range more {
			if tooWide(one) || holdsHome(one) {
				return nil, acp.Errorf(acp.CodeInvalidParams, "additionalDirectories: %s has too much below it; name it with --root if you mean it", one)
			}
			if !slices.ContainsFunc(c.roots, func(root string) bool { return inside(root, one) }) {
				c.roots = append(c.roots, one)
			}
		}
	}
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	return folders, checkStricter(c.Machine, folders, c.mode)
}

// there is the process that serves the folder already.
func (d *acpDialer) there(ctx context.Context) (io.ReadWriteCloser, error) {
	conn, g, err := attach.DialPerson(ctx, workspace.Dirs(d.entrance.folders)...)
	if errors.Is(err, attach.ErrApart) {
		return nil, err
	}
	if err != nil {
		return nil, notThere{err}
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	args, err := encode(acpWish{d.c.mode, d.c.model})
	if err == nil {
		args, err = encode(queryRequest{acpQuery, args})
	}
	if err == nil {
		_, err = conn.Write(args)
	}
	var t queryReply
	if err == nil {
		err = json.NewDecoder(conn).Decode(&t) // it says no more before it is spoken to
	}
	if err == nil && t.Error != "" {
		err = errors.New(t.Error)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the sidecar-ls of process %d: %w", g.PID, err), conn.Close())
	}
	return conn, nil
}

// here serves the client in this process, with a workspace of its own, which command
// lines and other agents find. An editor that comes gets it once no agent works.
func (d *acpDialer) here(ctx context.Context) (io.ReadWriteCloser, error) {
	e := &d.entrance
	w, theirs, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	ours, clients := net.Pipe()
	h := &servedHere{Conn: clients, ended: make(chan struct{})}
	asked := sync.OnceFunc(func() {
		now := time.Now()
		e.gaveWay.Store(&now)
		_ = ours.Close()
	})
	host := w.Client.Host(endpoint.HostOptions{Kind: attach.Alone, Leave: func() bool {
		if theirs.Working() {
			return false
		}
		asked()
		select {
		case <-h.ended:
			return true
		case <-time.After(attach.LeaveTime):
			return false
		}
	}})
	if err := host.Admit(workspace.Dirs(e.folders)...); errors.Is(err, attach.ErrTaken) {
		return nil, errors.Join(err, w.Close())
	} else if err != nil {
		e.log.Warn("other agents can't be let in", "error", err)
	}
	e.awaitQueue(ctx, w)
	go func() {
		defer close(h.ended)
		err := theirs.ServeACP(ctx, ours, d.c.mode, d.c.model)
		if err = errors.Join(err, theirs.Close(), w.Close()); err != nil && ctx.Err() == nil {
			e.log.Warn("the workspace was not closed as it should", "error", err)
		}
	}()
	return h, nil
}

// servedHere is the client's end of a connection to this process.
type servedHere struct {
	net.Conn
	ended chan struct{} // the workspace is closed
}

// Close ends the connection, and waits until the workspace is closed.
func (h *servedHere) Close() error {
	err := h.Conn.Close()
	<-h.ended
	return err
}
