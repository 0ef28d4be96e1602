package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/worker"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// NewClient returns a client that has no folder open.
func NewClient(o Options) *Client {
	c := &Client{o: o, Bus: events.NewBus(), Hide: redact.OfLogger(o.Log), Parsers: worker.NewParsers(o.Program)}
	c.Settings = live.New(live.Options{Machine: o.Machine, Level: o.Level, Programs: o.Programs, Secrets: func(values []string) { c.Hide.Know("settings", values) }})
	c.close = sync.OnceValue(c.end)
	return c
}

// Open opens folders for a client of its own; closing that ends them.
func Open(ctx context.Context, folders []workspace.Folder, o Options) (*Workspace, error) {
	c := NewClient(o)
	w, _, err := c.SetFolders(ctx, folders)
	if err == nil && w == nil {
		err = errors.New("sidecar-ls needs a workspace folder; open a folder in the editor, or name one with --root")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return w, nil
}

// Workspace is what the client has open now; nil is no folder.
func (c *Client) Workspace() *Workspace { return c.workspace.Load() }

// Log is where it is logged.
func (c *Client) Log() *slog.Logger { return c.o.Log }

// Warn puts a text before the user, if there is a way to them.
func (c *Client) Warn(text string) {
	if c.o.User.Warn != nil {
		c.o.User.Warn(text)
	}
}

// SetFolders opens the folders that the client has now, in the place of those
// that it had, and returns what is wrong with some of them, in words for the
// user. The first folder stays the first as long as it is one. With no folder
// left there is no workspace. One call at a time.
func (c *Client) SetFolders(ctx context.Context, folders []workspace.Folder) (w *Workspace, problems []string, err error) {
	if before := c.Workspace(); before != nil {
		folders, problems = workspace.Usable(folders)
		if len(folders) == 0 {
			return nil, problems, c.closeFolders()
		}
		if folders = workspace.KeepFirst(folders, before.Disk.Folders()[0].Dir); slices.Equal(folders, before.Disk.Folders()) {
			return before, problems, nil
		}
		w, err = c.replace(ctx, before, folders)
		return w, problems, err
	}
	if len(folders) == 0 {
		return nil, nil, nil
	}
	w, err = c.openFirst(ctx, folders)
	return w, nil, err
}

// openFirst opens folders where none is open.
func (c *Client) openFirst(ctx context.Context, folders []workspace.Folder) (*Workspace, error) {
	w := &Workspace{Client: c}
	w.Problems.Add(c.Settings.Open(workspace.Dirs(folders), c.o.Layers...)...)
	if c.o.Mode != "" {
		if _, ok := c.Settings.Mode(c.o.Mode); !ok {
			return nil, fmt.Errorf("%w as %q", ErrMode, c.o.Mode)
		}
	}
	home, err := c.openHome(folders[0].Dir)
	if err != nil {
		return nil, err
	}
	c.home.Store(home)
	if c.Sessions == nil {
		c.Sessions = c.newSessions()
	}
	w.Home = home
	if err := w.build(ctx, folders, nil); err != nil {
		c.home.Store(nil)
		return nil, errors.Join(err, home.close())
	}
	c.begin(w)
	return w, nil
}

func (c *Client) openHome(dir string) (*Home, error) {
	return newHome(statedir.Dir(dir), homeOptions{settings: c.Settings, hide: c.Hide, log: c.o.Log, user: c})
}

// replace opens folders in the place of those of before.
func (c *Client) replace(ctx context.Context, before *Workspace, folders []workspace.Folder) (*Workspace, error) {
	c.left = slices.DeleteFunc(c.left, func(dir string) bool { return dir == folders[0].Dir }) // its queue is opened
	w, stays := &Workspace{Client: c, Home: before.Home}, true
	if home := before.Home; string(home.Dir) != folders[0].Dir || home.Err != nil || home.Dir.Check() != nil {
		stays = false
		var err error
		if w.Home, err = c.openHome(folders[0].Dir); err != nil {
			return nil, err
		}
	}
	err := w.build(ctx, folders, before)
	if err == nil && stays && w.Home.Queue != nil {
		err = w.Home.Queue.Move(ctx, w.Live, w.tree.Names, w.commits)
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}
	if err != nil {
		if !stays {
			err = errors.Join(err, w.Home.close())
		}
		return nil, err
	}
	if !stays {
		if err := w.importEdits(ctx, before); err != nil {
			w.Problems.Add("some pending edits stay with " + string(before.Home.Dir) + ": " + err.Error())
		}
		c.left = append(c.left, string(before.Home.Dir))
	}
	w.undoImport(ctx)
	c.begin(w)
	c.Settings.SetFolders(workspace.Dirs(folders))
	c.Admit()
	c.ending.Go(func() {
		<-before.Dispatch.Retire()
		if !stays {
			_ = w.importEdits(context.WithoutCancel(ctx), before) // that the last calls have proposed
			_ = before.Home.close()
		}
		_ = before.close()
	})
	return w, nil
}

// begin is the moment from which a workspace is the client's.
func (c *Client) begin(w *Workspace) {
	w.commits.SetHooks(confine.Commands{Confiner: w.Confiner}.HooksOver(session.Default, w.Live))
	c.home.Store(w.Home)
	c.workspace.Store(w)
	w.Checker.Begin()
	if c.o.Resident && w.Home.Queue != nil {
		w.Confiner.TakeLeft()
	}
}

// Close ends all that the client has open.
func (c *Client) Close() error { return c.close() }

func (c *Client) end() error {
	err := c.closeFolders()
	c.Parsers.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return errors.Join(err, c.Bus.Close(ctx))
}

// closeFolders ends what belongs to folders.
func (c *Client) closeFolders() error {
	c.host.Close()
	c.host = nil
	c.ending.Wait()
	w := c.workspace.Swap(nil)
	if w == nil {
		return nil
	}
	return errors.Join(w.Home.close(), w.close())
}

// newSessions are kept as long as the client stays.
func (c *Client) newSessions() *session.Store {
	return session.NewStore(session.Options{
		Settings: live.OfSessions{Settings: c.Settings, First: c.o.Mode},
		Stricter: c.Settings.Stricter,
		Root: func(shadow string) (string, error) {
			home := c.home.Load()
			if shadow == "" {
				return string(home.Dir), nil
			}
			return home.rootOf(shadow)
		},
	})
}

// Batch reports whether what a session proposes is accepted as a whole or not at
// all.
func (c *Client) Batch(sessionID string) bool {
	s, err := c.Sessions.Get(sessionID)
	if err != nil {
		return false
	}
	m, ok := c.Settings.Mode(s.Mode())
	if s.Shadow != "" {
		m = m.InShadow()
	}
	return ok && m.Batch
}

// Notify puts a text into the next result of a session.
func (c *Client) Notify(sessionID, text string) { c.Sessions.Tell(sessionID, text) }

// Changed tells those who show the review queue.
func (c *Client) Changed() {
	if w := c.Workspace(); w != nil {
		w.Checker.QueueChanged()
		w.Confiner.Pending()
	}
	if c.o.User.QueueChanged != nil {
		c.o.User.QueueChanged()
	}
}

// Host lets agents and command lines in, by the sockets of the folders. Of the
// options, what kind of host this is and how it is left are the caller's.
func (c *Client) Host(o endpoint.HostOptions) *endpoint.Host {
	o.Version, o.Log = version.String(), c.o.Log
	o.Tools = func() endpoint.Tools { return c.Tools(o.Kind) }
	if answer := c.o.Person; answer != nil {
		o.Person = func(ctx context.Context, p peers.Peer) { answer(ctx, c, p) }
	}
	c.host = endpoint.NewHost(o)
	return c.host
}

// Tools are what agents get.
func (c *Client) Tools(kind attach.Kind) endpoint.Tools {
	last := c.Workspace()
	return endpoint.Tools{
		Dispatch: func() *dispatch.Dispatcher {
			if w := c.Workspace(); w != nil {
				return w.Dispatch
			}
			return last.Dispatch // all ends
		},
		Sessions: c.Sessions, Bus: c.Bus, Library: last.Skills,
		People: kind == attach.Editor,
	}
}

// Admit lets the agents of the folders in.
func (c *Client) Admit() {
	dirs := workspace.Dirs(c.Workspace().Disk.Folders())
	if !c.Settings.Now().Bool("mcp.attach") {
		dirs = nil
	}
	if err := c.host.Admit(dirs...); err != nil {
		c.o.Log.Warn("agents can't attach to this server", "error", err)
	}
}
