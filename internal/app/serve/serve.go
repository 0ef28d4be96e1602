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
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/ide"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
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

	// Stay says that what the editor has open stays while its agents work, for the
	// next one.
	Stay bool

	// Setup is where clients are set up, for the directory of a project; nil: nothing is.
	Setup func(dir string) (setup.Env, error)

	// Places are where agents look for editors; nil: they never find this one.
	Places func() (ide.Places, error)

	// Person serves a command line, over the socket of the workspace; nil serves none.
	Person func(context.Context, *app.Client, *Agents, peers.Peer)
}

// Server serves one editor after the other: all have the same client.
type Server struct {
	o      Options
	seat   *seat
	client atomic.Pointer[app.Client]    // nil: no editor has come yet
	agents *Agents                       // the client's
	trust  *trustAsker                   // the client's
	host   atomic.Pointer[endpoint.Host] // nil: there is no folder

	coming  chan net.Conn // an editor that would have the seat
	changed chan struct{} // what the agents do may have changed
}

// New returns a server that waits for its editor.
func New(o Options) *Server {
	o.App.Queue, o.App.Resident = app.QueueAlways, true
	return &Server{o: o, seat: newSeat(redact.OfLogger(o.App.Log)), coming: make(chan net.Conn, 1), changed: make(chan struct{}, 1)}
}

// Serve serves one editor and ends with it.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	return New(o).Serve(ctx, r, w)
}

// Serve speaks LSP over r and w until the editor leaves.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	log := s.o.App.Log
	speaks := server.New(server.Options{
		Version: version.String(),
		Log:     log,
		Hide:    redact.OfLogger(log).Text,
		Left: func(orderly bool) {
			if !s.stays() {
				leave(s.o.Exit, orderly, log)
			}
		},
		Start: s.start,
	})
	log.Info("start", "version", version.String())
	err := speaks.Serve(ctx, r, w)
	log.Info("end", "error", err)
	return err
}

// start gives an editor the seat, and the first one a client.
func (s *Server) start(ctx context.Context, st server.Start) (*server.Core, error) {
	if s.client.Load() == nil {
		s.open(st)
	}
	c := s.client.Load()
	d := &desk{client: c, start: st, places: s.o.Places}
	s.seat.take(st, d)
	core, _, err := editor{Client: c, server: s, desk: d}.SetFolders(ctx, st.Folders)
	s.host.Load().SetKind(attach.Editor)
	return core, err
}

// open makes the client.
func (s *Server) open(st server.Start) {
	o := s.o.App
	o.User = s.seat.user()
	if len(st.Settings) > 0 {
		o.Layers = []json.RawMessage{st.Settings}
	}
	if s.o.Person != nil {
		o.Person = func(ctx context.Context, c *app.Client, p peers.Peer) {
			s.o.Person(ctx, c, s.agents, p)
		}
	}
	s.agents = NewAgents(o.Program)
	s.agents.seat = s.seat
	o.User = s.agents.Through(o.User)
	c := app.NewClient(o)
	s.trust = newTrustAsker(c, s.seat)
	c.Settings.OnChange(s.trust.about)
	s.agents.Of(c)
	s.agents.Subscribe(func(conversation.Event) {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	})
	s.client.Store(c)
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

// editor is a client with an editor in its seat.
type editor struct {
	*app.Client
	server *Server
	desk   *desk
}

// Close ends all that the editor has open: first what agents show in it, and do.
// While they work on without it, they keep the client.
func (c editor) Close() error {
	c.desk.close()
	stays := c.server.stays()
	c.server.seat.leave()
	if stays {
		c.server.host.Load().SetKind(attach.Left)
		return nil
	}
	return c.server.close()
}

// SetFolders opens folders for it. Without a folder, the commands that need one say so.
func (c editor) SetFolders(ctx context.Context, folders []workspace.Folder) (*server.Core, []string, error) {
	before := c.Workspace()
	if len(folders) == 0 {
		c.desk.stop() // while the queue is there
	}
	if before == nil {
		for _, f := range folders {
			attach.MakeRoom(ctx, f.Dir)
		}
	}
	w, problems, err := c.Client.SetFolders(ctx, folders)
	switch {
	case err != nil:
		return nil, problems, err
	case w == nil:
		c.server.host.Store(nil)
		return &server.Core{Parts: commands.Parts{Setup: c.setup(), Agents: c.server.agents}, Lifecycle: opened{editor: c}, Bus: c.Bus}, problems, nil
	case before == nil:
		c.server.host.Store(c.Host(endpoint.HostOptions{Kind: attach.Editor, Editor: c.server.editor}))
		c.Admit()
	}
	return c.core(w), problems, nil
}

// core is the workspace as the server knows it.
func (c editor) core(w *app.Workspace) *server.Core {
	switch err := w.Home.LockedOut(); {
	case errors.Is(err, pendingedits.ErrLocked):
		w.Problems.Add("edits can't be reviewed here yet: " + err.Error())
	case err != nil:
		w.Problems.Add("edits can't be held for review: " + err.Error())
	}
	for _, p := range w.Problems.Show() {
		c.Log().Warn("start", "problem", p)
	}
	o := opened{c, w}
	index := projectIndex{w.Index, w.Live}
	core := &server.Core{
		Parts: commands.Parts{
			Dispatch: w.Dispatch, Sessions: c.Sessions, Settings: o, Reports: o,
			Review: w.Home.Queue, NoReview: w.Home.QueueErr,
			Shadows: w.ShadowsForPeople(), Output: output{w.Confiner, w.Live}, Ports: w.Confiner.Ports(), Knowledge: index,
			MCP: mcpServers{w.Sources, c.Settings}, Hooks: w.Extensions, Plugins: w.Extensions.Plugins(),
			Setup: c.setup(), Agents: c.server.agents, Always: forGood{RulesOf(w)},
		},
		Lifecycle: o, Bus: c.Bus, ShownChanged: c.desk.shownChanged(),
	}
	if w.Home.Err == nil {
		core.StateDir = w.Home.Dir.State()
	}
	if w.Checker != nil {
		core.Introduced = w.Checker
	}
	if c.Settings.Now().Bool("knowledge.documentSymbols") {
		core.DocumentSymbols = indexing.Symbols{Parsers: c.Parsers}
	}
	if c.Settings.Now().Bool("knowledge.workspaceSymbols") {
		core.WorkspaceSymbols = index
	}
	return core
}

// opened is an editor's client with the workspace that it has open; nil is none.
type opened struct {
	editor
	w *app.Workspace
}

// Configure implements server.Lifecycle, as do SetFolders and Close.
func (o opened) Configure(layers ...json.RawMessage) []string {
	if o.w == nil {
		return nil
	}
	fresh := o.w.Problems.Of(func() []string { return o.Settings.Load(layers...) })
	o.w.Sources.Reload()
	o.w.Extensions.Follow()
	o.desk.follow()
	return fresh
}

// SaveEdits implements commands.Settings, as do Batch and Modes.
func (o opened) SaveEdits() (clean, accepted bool) {
	save := o.Settings.Now().String("edits.save")
	return save != "never", save == "onAccept"
}

// Modes are the modes as editors list them.
func (o opened) Modes() (out []commands.Mode) {
	for _, m := range o.Settings.Modes() {
		out = append(out, commands.Mode{Name: m.Name, Description: m.Help})
	}
	return out
}

// Backend implements commands.Reports, as do its neighbours.
func (o opened) Backend() (any, error) { return o.Backends().Describe() }

// Audit reports whether the audit log is as it was written.
func (o opened) Audit() (any, error) {
	log, err := o.w.Home.Records()
	if err != nil {
		return nil, err
	}
	return log.Verify()
}

// Effects lists what left a session.
func (o opened) Effects(session string, limit int) ([]effects.Effect, error) {
	log, err := o.w.Home.Records()
	if err != nil {
		return nil, err
	}
	return effects.List(log, session, limit)
}

// Skills are what a session knows how to do.
func (o opened) Skills(ctx context.Context, session string) (commands.SkillList, error) {
	return SkillList(ctx, o.w, session)
}

// projectIndex is the project index as the server knows it.
type projectIndex struct {
	*indexing.Knowledge
	live workspace.Files
}

// Status implements commands.Knowledge.
func (p projectIndex) Status() (commands.KnowledgeStatus, error) { return IndexStatus(p.Knowledge) }

// OfWorkspace implements server.WorkspaceSymbols.
func (p projectIndex) OfWorkspace(ctx context.Context, query string) ([]pki.Definition, error) {
	return p.Knowledge.OfWorkspace(ctx, p.live, query)
}

// IndexStatus is what is in a project index, as clients are told it.
func IndexStatus(k *indexing.Knowledge) (commands.KnowledgeStatus, error) {
	s, err := k.Status()
	if err != nil {
		return commands.KnowledgeStatus{}, err
	}
	out := commands.KnowledgeStatus{Files: s.Files, Symbols: s.Symbols, Ready: s.Ready, Skipped: s.Skipped, Generated: s.Generated, Bytes: s.Bytes, Looked: s.Looked, Parsed: s.Parsed, Parseable: s.Parseable, Error: s.Failed}
	if m := s.Meaning; m != nil {
		out.Embeddings = commands.KnowledgeEmbeddings{State: m.State, Model: m.Model, Units: m.Units, Embedded: m.Embedded, Error: m.Err}
	}
	if !s.IndexedAt.IsZero() {
		out.IndexedAt = s.IndexedAt.UTC().Format(time.RFC3339)
	}
	return out, nil
}

// output is held output, with the files that it can be built of afresh.
type output struct {
	*confine.Confiner
	live workspace.Files
}

// Accepted are those with nothing that is pending.
func (o output) Accepted() workspace.Files { return o.live }
