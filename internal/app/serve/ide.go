package serve

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/ide"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// desk is the editor as agents find it: there or not, by the settings.
type desk struct {
	client *app.Client
	start  server.Start
	places func() (ide.Places, error) // nil: agents never find it

	turn   sync.Mutex // one change at a time
	ended  bool
	server atomic.Pointer[ide.IDE] // nil: agents don't find the editor
}

// follow makes the settings and the folders true that hold now.
func (d *desk) follow() {
	d.turn.Lock()
	defer d.turn.Unlock()
	w := d.client.Workspace()
	on := w != nil && d.places != nil && !d.ended && d.client.Settings.Now().Bool("ide.enabled")
	switch {
	case !on:
		d.server.Swap(nil).Close()
	case d.server.Load() != nil:
		if err := d.server.Load().SetFolders(workspace.Dirs(w.Disk.Folders())); err != nil {
			d.client.Log().Warn("agents don't find the editor", "error", err)
		}
	default:
		d.open(w)
	}
}

// open starts it, if there is an agent of the user's that could look for it.
func (d *desk) open(w *app.Workspace) {
	places, err := d.places()
	if err != nil {
		d.client.Log().Warn("agents don't find the editor", "error", err)
		return
	}
	if places == (ide.Places{}) {
		return
	}
	c := d.client
	s, err := ide.Start(ide.Options{
		Version: version.String(), Name: cmp.Or(d.start.Client, "SideCar"), Folders: workspace.Dirs(w.Disk.Folders()), Places: places, Log: c.Log(),
		Sessions: c.Sessions, Mode: c.Settings.Mode, Editor: d,
		Hide: c.Hide.Text, Trusted: c.Settings.Trusted,
		Secret: func(name string) bool { return workspace.Sensitive(name) && !c.Settings.SensitiveOK(name) },
	})
	if err != nil {
		c.Log().Warn("agents don't find the editor", "error", err)
		return
	}
	d.server.Store(s)
}

// Workspace implements ide.Editor, as do its neighbours.
func (d *desk) Workspace() ide.Workspace {
	w := d.client.Workspace()
	if w == nil {
		return ide.Workspace{}
	}
	return ide.Workspace{Files: w.Live, Disk: w.Disk, Queue: w.Home.Queue, Dispatch: w.Dispatch}
}

// shownChanged is who is told that the user looks at something else; nil: nobody.
func (d *desk) shownChanged() func() {
	if d.places == nil {
		return nil
	}
	return func() { d.server.Load().ShownChanged() }
}

// Shown is what the user has before them.
func (d *desk) Shown() ide.Shown {
	now := d.start.Shown()
	var out ide.Shown
	for _, doc := range now.Open {
		out.Open = append(out.Open, ide.OpenFile(doc))
	}
	if at := now.Selection; at != nil {
		out.Selection = &ide.Selection{
			Path: at.Path, Text: at.Text,
			Start: ide.Position{Line: int(at.Start.Line), Character: int(at.Start.Character)}, End: ide.Position{Line: int(at.End.Line), Character: int(at.End.Character)},
		}
	}
	return out
}

// stop hangs up; follow may open it again.
func (d *desk) stop() {
	d.turn.Lock()
	defer d.turn.Unlock()
	d.server.Swap(nil).Close()
}

// close is stop for good.
func (d *desk) close() {
	d.turn.Lock()
	d.ended = true
	d.turn.Unlock()
	d.stop()
}

// Problems are those that the editor shows.
func (d *desk) Problems(ctx context.Context, name string) ([]langserver.Problem, error) {
	return d.start.Diagnostics.Shown(ctx, name)
}

// Say puts a text before the user.
func (d *desk) Say(text string) { d.client.Warn(text) }
