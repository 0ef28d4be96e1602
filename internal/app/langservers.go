package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// newServers makes the pool of language servers, each confined as commands are.
func newServers(c *core, d door) *langserver.Pool {
	return langserver.New(langserver.Options{
		Start:      c.confiner.LanguageServer,
		Settings:   c.serverSettings,
		Changes:    c.changesOf,
		Dependents: c.dependents,
		Log:        d.log,
	})
}

// serverSettings is what the settings say about language servers. They run what
// a project names (build scripts, plug-ins, go list with its toolchain), so an
// unknown project gets none.
func (c *core) serverSettings() langserver.Settings {
	s := langserver.Settings{Servers: map[string]langserver.Server{}}
	if !c.settings.Trusted() {
		s.Refused = "language servers can run what a project brings along, so none runs before the user trusts the workspace (sidecar.workspace.trust)"
	}
	for name, set := range c.settings.Now().LanguageServers() {
		s.Servers[name] = langserver.Server{Off: set.Off, Command: set.Command, Options: json.RawMessage(set.Options)}
	}
	return s
}

// changesOf tells what changes on the disk of files: that of the main tree is
// watched anyway, a shadow's is watched for its servers.
func (c *core) changesOf(files workspace.Files) langserver.Changes {
	disk, _ := files.Base()
	if disk == nil {
		return nil
	}
	if disk == c.disk {
		if feed := c.watching.Subscribe(); feed != nil {
			return &diskChanges{feed: feed}
		}
		return nil
	}
	w := watch.New(disk)
	return &diskChanges{feed: w.Subscribe(), own: w}
}

// diskChanges is a feed of changes as language servers are told of them.
type diskChanges struct {
	feed *watch.Feed
	own  *watch.Watcher // that ends with the feed; nil: it is shared
	last time.Time      // when everything was said to be another
}

const (
	changesTime = 500 * time.Millisecond // for the events that are under way
	blindTime   = 5 * time.Second        // between two looks at a disk that can't be watched
)

// Next implements langserver.Changes.
func (d *diskChanges) Next(ctx context.Context) (names []string, lost bool) {
	ctx, cancel := context.WithTimeout(ctx, changesTime)
	defer cancel()
	batch, err := d.feed.Sync(ctx)
	if err != nil {
		return nil, false
	}
	if !d.feed.State().Watching {
		if time.Since(d.last) < blindTime {
			return nil, false
		}
		d.last = time.Now()
	}
	return batch.Names, batch.Lost || len(batch.Dirs) > 0
}

// Close implements langserver.Changes.
func (d *diskChanges) Close() {
	d.feed.Close()
	if d.own != nil {
		_ = d.own.Close()
	}
}

// dependents lists files that have a text in them, and a name that fits.
func (c *core) dependents(ctx context.Context, files workspace.Files, text string, like func(string) bool, limit int) []string {
	options := workspace.WalkOptions{Keep: func(name string, dir bool) bool { return dir || like(name) }}
	if disk, _ := files.Base(); c.texts != nil && disk == c.disk {
		names, err := c.texts.Containing(ctx, files, []string{text}, func(string) bool { return false })
		if err != nil {
			return nil
		}
		if names != nil {
			options.Names = slices.DeleteFunc(names, func(name string) bool { return !like(name) })
		}
	}
	var mu sync.Mutex
	var found []string
	want := []byte(text)
	_ = files.Walk(ctx, options, func(e *workspace.Entry) error {
		data, err := e.Read(nil)
		if err != nil || !bytes.Contains(data, want) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if found = append(found, strings.Clone(e.Path)); len(found) >= limit {
			return fs.SkipAll
		}
		return nil
	})
	slices.Sort(found)
	return found
}

// editorTools is what the tools need that ask what an editor would.
func (c *core) editorTools(d door) editor.Deps {
	deps := editor.Deps{People: d.people, Servers: c.servers}
	if d.shows == nil {
		return deps
	}
	deps.Shown = func(ctx context.Context, files workspace.Files, name string) (editor.Shown, bool) {
		disk, _ := files.Base()
		if disk != c.disk {
			return editor.Shown{}, false // the editor does not see a shadow
		}
		list, err := d.shows.Shown(ctx, name)
		if err != nil {
			return editor.Shown{}, false
		}
		shown := editor.Shown{Problems: list, Stale: func(name string) bool { return c.differs(files, name) }}
		return shown, true
	}
	return deps
}

// differs reports whether a file is another in files than the editor has it.
func (c *core) differs(files workspace.Files, name string) bool {
	here, err := files.ReadFile(name)
	if err != nil {
		return true
	}
	there, err := c.live.ReadFile(name)
	return err != nil || !bytes.Equal(here, there)
}
