package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// newServers makes the pool of language servers, each confined as commands are.
func newServers(c *core, d door, box *sandbox.Sandbox) *langserver.Pool {
	return langserver.New(langserver.Options{
		Start: func(ctx context.Context, p langserver.Program) (*langserver.Process, error) {
			return c.startServer(ctx, d.parser, box, p)
		},
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

// startServer starts a language server in the sandbox. Its program may lie
// where commands see nothing, and is shown to it.
func (c *core) startServer(ctx context.Context, self string, box *sandbox.Sandbox, p langserver.Program) (*langserver.Process, error) {
	conf, err := c.confinement(ctx, p.Folder)
	if err != nil {
		return nil, err
	}
	spec := &conf.Spec
	if !p.Writes {
		spec.LookOnly, spec.Writable = true, nil // it stays, and so would what stands in for missing names
	}
	program, readable := installation(p.Argv[0])
	spec.ReadOnly = append(spec.ReadOnly, readable...)
	return c.startConfined(ctx, self, box, conf, p.Dir, append([]string{program}, p.Argv[1:]...))
}

// startConfined starts a program that is spoken to on its standard streams.
func (c *core) startConfined(ctx context.Context, self string, box *sandbox.Sandbox, conf confinement, dir string, argv []string) (_ *langserver.Process, err error) {
	if self == "" {
		return nil, errors.New("this process can't confine programs; start sidecar-ls itself")
	}
	told := func(text string) {
		text = setAside(text)
		c.door.log.Warn(text, "program", filepath.Base(argv[0]))
		if c.door.warn != nil {
			c.door.warn(text)
		}
	}
	cmd, err := c.confine(ctx, box, conf, told, dir, argv...)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	defer func() {
		if err != nil {
			for _, f := range files {
				f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	theirIn, in, err := pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := pipe()
	if err != nil {
		return nil, err
	}
	said := &lastWords{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	theirIn.Close()
	theirOut.Close()
	return &langserver.Process{In: in, Out: out, Wait: cmd.Wait, Kill: cmd.Kill, Said: said.String}, nil
}

// installation is the path of a program without links on the way (one at its
// end stays: some programs go by their name), and what has to be readable for it to run: its directory, and for
// one of npm's all packages that were installed with it.
func installation(program string) (path string, readable []string) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil {
		return program, nil
	}
	path = filepath.Join(dir, filepath.Base(program))
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	home, _ := os.UserHomeDir()
	for _, name := range names {
		dir := filepath.Dir(name)
		if i := strings.Index(name, "/node_modules/"); i >= 0 {
			dir = name[:i+len("/node_modules")]
		}
		if dir != home && dir != "/" && !slices.Contains(readable, dir) {
			readable = append(readable, dir)
		}
	}
	return path, readable
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu  sync.Mutex
	buf []byte
}

const mostWords = 4 << 10

func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	if len(l.buf) > 2*mostWords {
		l.buf = append(l.buf[:0], l.buf[len(l.buf)-mostWords:]...)
	}
	return len(b), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.buf))
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
		shown := editor.Shown{Stale: func(name string) bool { return c.differs(files, name) }}
		for _, f := range list {
			shown.Problems = append(shown.Problems, langserver.Problem{
				Path: f.Path, Span: langserver.Span{Line: f.Line, Column: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn},
				Severity: langserver.Severity(f.Severity), Code: f.Code, Source: f.Source, Message: f.Message, Server: "editor",
			})
		}
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
