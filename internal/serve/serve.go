// Package serve serves editors: a Client of internal/app for each connection of
// the LSP server, and the parts of its workspace as that server knows them.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/backend"
	"github.com/sidecar-ls/sidecar-ls/internal/ide"
	"github.com/sidecar-ls/sidecar-ls/internal/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/version"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/server"
	asking "github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// GCPercent trades a little memory for speed: what lives in the server is
// small, so that searches would set off one collection after another. Listing
// a large tree takes a fifth less processor time with it.
const GCPercent = 200

// Stay readies a process that stays.
func Stay() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(GCPercent)
	}
}

// Options are what serving an editor takes. Of App, what is the editor's way to its
// user is set here.
type Options struct {
	App app.Options

	// Exit ends the process when its work does not end in time after the editor has
	// left; nil waits for it.
	Exit func(code int)

	// Setup is where clients are set up, for the directory of a project; nil: nothing is.
	Setup func(dir string) (setup.Env, error)

	// Places are where agents look for editors; nil: they never find this one.
	Places func() (ide.Places, error)

	// Person serves a command line of a person, over the socket of the workspace;
	// own: this process has started the program. nil serves none.
	Person func(ctx context.Context, c *app.Client, a *Agents, conn net.Conn, own bool)
}

// Serve speaks LSP over r and w until the editor leaves.
func Serve(ctx context.Context, r io.Reader, w io.Writer, opts Options) error {
	o, exit := opts.App, opts.Exit
	o.Queue, o.Resident = app.QueueAlways, true
	s := server.New(server.Options{
		Version: version.String(),
		Log:     o.Log,
		Hide:    redact.OfLogger(o.Log).Text,
		Left:    func(orderly bool) { leave(exit, orderly, o.Log) },
		Start: func(ctx context.Context, st server.Start) (*server.Core, error) {
			d := &desk{start: st, places: opts.Places}
			queueChanged := func() {
				st.ReviewChanged()
				d.server.Load().QueueChanged()
			}
			o.User = app.User{
				Approver: st.Approver, People: people{st.People, redact.OfLogger(o.Log)}, Diagnostics: st.Diagnostics,
				Warn: st.Warn, QueueChanged: queueChanged, IndexChanged: st.KnowledgeChanged,
				OpenDocuments: func(base workspace.View) workspace.View { return st.Editor(base) },
			}
			if len(st.Settings) > 0 {
				o.Layers = []json.RawMessage{st.Settings}
			}
			e := editor{env: opts.Setup, desk: d}
			if opts.Person != nil {
				o.Person = func(ctx context.Context, c *app.Client, conn net.Conn, own bool) {
					opts.Person(ctx, c, e.agents, conn, own)
				}
			}
			e.Client = app.NewClient(o)
			e.agents = NewAgents(e.Client, o.Program)
			d.client = e.Client
			core, _, err := e.serve(ctx, st.Folders)
			return core, err
		},
	})
	o.Log.Info("start", "version", version.String())
	err := s.Serve(ctx, r, w)
	o.Log.Info("end", "error", err)
	return err
}

// leaveBy is how long a server may work on after its editor has left.
const leaveBy = 1250 * time.Millisecond

// leave ends the process soon, whatever it is busy with. What was acknowledged
// is kept: the queue and what is applied outlive a process that is killed.
func leave(exit func(int), orderly bool, log *slog.Logger) {
	if exit == nil {
		return
	}
	code := 1
	if orderly {
		code = 0
	}
	time.AfterFunc(leaveBy, func() {
		log.Warn("the editor has left, and not all work has ended; it is given up", "after", leaveBy)
		exit(code)
	})
}

// editor is a client that is an editor.
type editor struct {
	*app.Client
	env    func(dir string) (setup.Env, error) // nil: it sets up nothing
	agents *Agents
	desk   *desk
}

// Close ends all that the editor has open: first what agents show in it, and do.
func (c editor) Close() error {
	c.desk.close()
	return errors.Join(c.agents.Close(), c.Client.Close())
}

// serve opens folders for it. Without a folder, the commands that need one say so.
func (c editor) serve(ctx context.Context, folders []workspace.Folder) (*server.Core, []string, error) {
	before := c.Workspace()
	if len(folders) == 0 {
		c.desk.stop() // while the queue is there
	}
	if before == nil {
		for _, f := range folders {
			attach.MakeRoom(ctx, f.Dir)
		}
	}
	w, problems, err := c.SetFolders(ctx, folders)
	switch {
	case err != nil:
		return nil, problems, err
	case w == nil:
		return &server.Core{Bus: c.Bus, Setup: c.setup(), Agents: c.agents, SetFolders: c.serve, Close: c.Close}, problems, nil
	case before == nil:
		c.Host(attach.Editor, nil)
		c.Admit()
	}
	return c.core(w), problems, nil
}

// core is the workspace as the server knows it.
func (c editor) core(w *app.Workspace) *server.Core {
	switch err := w.Home.LockedOut(); {
	case errors.Is(err, pendingedits.ErrLocked):
		w.Problems.Add("edits can't be held for review until another process gives the queue free: " + err.Error())
	case err != nil:
		w.Problems.Add("edits can't be held for review: " + err.Error())
	}
	for _, p := range w.Problems.Show() {
		c.Log().Warn("start", "problem", p)
	}
	core := &server.Core{
		Dispatch: w.Dispatch,
		Sessions: c.Sessions,
		Review:   w.Home.Queue,
		NoReview: w.Home.QueueErr,
		Batch:    c.Batch,
		Modes:    c.modes,
		Bus:      c.Bus,
		Shadows:  w.ShadowsForPeople(),
		Audit: func() (any, error) {
			log, err := w.Home.Records()
			if err != nil {
				return nil, err
			}
			return log.Verify()
		},
		Knowledge: projectIndex{w.Index},
		Backend:   backend.Backends{Settings: c.Settings}.Describe,

		StrictSchemas: c.Settings.StrictSchemas, SaveEdits: func() bool { return c.Settings.Now().String("edits.save") == "auto" },

		MCP:   mcpServers{w.Sources, c.Settings},
		Setup: c.setup(), Agents: c.agents,
		Configure: func(layers ...json.RawMessage) []string {
			fresh := w.Problems.Of(func() []string { return c.Settings.Load(layers...) })
			w.Sources.Reload()
			c.desk.follow()
			return fresh
		},
		ShownChanged: c.desk.shownChanged(),
		SetFolders:   c.serve,
		Close:        c.Close,
	}
	if w.Home.Err == nil {
		core.StateDir = w.Home.Dir.State()
	}
	if w.Checker != nil {
		core.Introduced = w.Checker
	}
	if c.Settings.Now().Bool("knowledge.documentSymbols") {
		core.DocumentSymbols = indexing.Symbols{Parsers: c.Parsers}.OfDocument
	}
	if c.Settings.Now().Bool("knowledge.workspaceSymbols") {
		core.WorkspaceSymbols = func(ctx context.Context, query string) ([]pki.Definition, error) {
			return w.Index.OfWorkspace(ctx, w.Live, query)
		}
	}
	return core
}

// modes are the modes as editors list them.
func (c editor) modes() (out []server.Mode) {
	for _, m := range c.Settings.Modes() {
		out = append(out, server.Mode{Name: m.Name, Description: m.Help})
	}
	return out
}

// people lets the tools ask through the editor. A question is a model's text:
// secrets are kept out of it, and what can't be seen is made visible.
type people struct {
	p    *server.People
	hide *redact.Redactor
}

func (p people) Ask(ctx context.Context, q asking.Question) (string, bool, error) {
	text, shown := q.Shown(p.hide.Shown)
	answer, ok, err := p.p.Ask(ctx, text, shown, q.AllowCustom)
	if i := slices.Index(shown, answer); i >= 0 {
		answer = q.Options[i]
	}
	return answer, ok, err
}

// projectIndex is the project index as the server knows it.
type projectIndex struct{ *indexing.Knowledge }

func (p projectIndex) Status() (server.KnowledgeStatus, error) { return IndexStatus(p.Knowledge) }

// IndexStatus is what is in a project index, as clients are told it.
func IndexStatus(k *indexing.Knowledge) (server.KnowledgeStatus, error) {
	s, err := k.Status()
	if err != nil {
		return server.KnowledgeStatus{}, err
	}
	out := server.KnowledgeStatus{Files: s.Files, Symbols: s.Symbols, Ready: s.Ready, Skipped: s.Skipped, Generated: s.Generated, Bytes: s.Bytes, Looked: s.Looked, Parsed: s.Parsed, Parseable: s.Parseable, Error: s.Failed}
	if m := s.Meaning; m != nil {
		out.Embeddings = server.KnowledgeEmbeddings{State: m.State, Model: m.Model, Units: m.Units, Embedded: m.Embedded, Error: m.Err}
	}
	if !s.IndexedAt.IsZero() {
		out.IndexedAt = s.IndexedAt.UTC().Format(time.RFC3339)
	}
	return out, nil
}
