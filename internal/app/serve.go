package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/backend"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/config/live"
	"github.com/sidecar-ls/sidecar-ls/internal/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// serve speaks LSP until the client leaves.
func serve(ctx context.Context, c *cli) error {
	if len(c.args) > 0 {
		return usagef("serve takes no arguments, but got %q", c.args[0])
	}
	user, err := config.UserSource()
	if err != nil {
		return err
	}
	set, _ := config.Load(user) // problems are told to the client when it is there
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(firstOf(c.logLevel, set.String("log.level")))); err != nil {
		return usagef("--log-level: %v", err)
	}
	out := c.Err
	if name := firstOf(c.logFile, set.String("log.file")); name != "" {
		f, err := openLog(name)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	settleIn()
	follow := level
	if c.logLevel != "" {
		follow = nil // the flag is stronger than the setting
	}
	return serveOver(ctx, c.Streams, redact.NewLogger(out, level), follow)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// GCPercent trades a little memory for speed: what lives in the server is
// small, so that searches would set off one collection after another. Listing
// a large tree takes a fifth less processor time with it.
const GCPercent = 200

// settleIn readies a process that stays.
func settleIn() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(GCPercent)
	}
}

// Serve speaks LSP over r and w. level follows the setting log.level; nil
// leaves the level as it is.
func Serve(ctx context.Context, r io.Reader, w io.Writer, log *slog.Logger, level *slog.LevelVar) error {
	return serveOver(ctx, Streams{In: r, Out: w}, log, level)
}

func serveOver(ctx context.Context, streams Streams, log *slog.Logger, level *slog.LevelVar) error {
	client := new(visit)
	s := server.New(server.Options{
		Version: Version(),
		Log:     log,
		Hide:    redact.OfLogger(log).Text,
		Left:    func(orderly bool) { leave(streams.Exit, orderly, log) },
		Start: func(ctx context.Context, st server.Start) (*server.Core, error) {
			return startCore(ctx, st, client, streams.Self, log, level)
		},
	})
	log.Info("start", "version", Version())
	widen(streams.Out)
	err := s.Serve(ctx, streams.In, streams.Out)
	log.Info("end", "error", err)
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
	code := exitError
	if orderly {
		code = exitOK
	}
	time.AfterFunc(leaveBy, func() {
		log.Warn("the editor has left, and not all work has ended; it is given up", "after", leaveBy)
		exit(code)
	})
}

// startCore builds the core for an editor's workspace. Without a folder the
// commands that need one say so.
func startCore(ctx context.Context, st server.Start, client *visit, parser string, log *slog.Logger, level *slog.LevelVar) (*server.Core, error) {
	if len(st.Folders) == 0 {
		return &server.Core{}, nil
	}
	d := door{
		log: log, level: level, approver: st.Approver, people: people{st.People, redact.OfLogger(log)}, shows: st.Diagnostics, changed: st.ReviewChanged, indexed: st.KnowledgeChanged,
		queue: queueAlways, parser: parser, resident: true,
		warn: st.Warn, visit: client,
		live: func(base workspace.View) workspace.View { return st.Editor(base) },
	}
	if len(st.Settings) > 0 {
		d.client = []json.RawMessage{st.Settings}
	}
	for _, f := range st.Folders {
		makeRoom(ctx, f.Dir)
	}
	c, err := open(ctx, st.Folders, d)
	if err != nil {
		return nil, err
	}
	c.line.agents = newAgents(c, attach.Editor, nil)
	c.admitAgents()
	return c.served(), nil
}

// admitAgents lets the agents of the core's folders in.
func (c *core) admitAgents() {
	dirs := []string{}
	for _, f := range c.disk.Folders() {
		dirs = append(dirs, f.Dir)
	}
	if !c.settings.Now().Bool("mcp.attach") {
		dirs = nil
	}
	if err := c.line.agents.admit(dirs...); err != nil {
		c.door.log.Warn("agents can't attach to this server", "error", err)
	}
}

// served is the core as the server knows it.
func (c *core) served() *server.Core {
	log, problems := c.door.log, c.problems.show()
	var introduced server.Introduced
	if c.checker != nil {
		introduced = c.checker
	}
	switch err := c.queueErr(); {
	case errors.Is(err, pendingedits.ErrLocked):
		problems = append(problems, "edits can't be held for review until another process gives the queue free: "+err.Error())
	case err != nil:
		problems = append(problems, "edits can't be held for review: "+err.Error())
	}
	for _, p := range problems {
		log.Warn("start", "problem", p)
	}
	reported := live.NewProblems(problems)
	state := c.home.State()
	if c.stateErr != nil {
		state = ""
	}
	var documents func(context.Context, string, []byte) ([]pki.Symbol, error)
	if c.settings.Now().Bool("knowledge.documentSymbols") {
		documents = indexing.Symbols{Parsers: c.parsers}.OfDocument
	}
	var project func(context.Context, string) ([]pki.Definition, error)
	if c.settings.Now().Bool("knowledge.workspaceSymbols") {
		project = func(ctx context.Context, query string) ([]pki.Definition, error) {
			return c.knowledge.OfWorkspace(ctx, c.live, query)
		}
	}
	return &server.Core{
		Dispatch:   c.dispatch,
		Sessions:   c.sessions,
		Review:     c.review,
		NoReview:   c.reviewErr,
		Batch:      c.batch,
		Modes:      c.modes,
		Bus:        c.bus,
		Shadows:    c.shadows,
		Introduced: introduced,
		StateDir:   state,
		Audit:      func() (any, error) { return c.verifyAudit() },
		Knowledge:  projectIndex{c},
		Backend:    backend.Backends{Settings: c.settings}.Describe,

		StrictSchemas: c.settings.StrictSchemas,

		DocumentSymbols:  documents,
		WorkspaceSymbols: project,

		MCP: sources{c.sources, c},
		Configure: func(layers ...json.RawMessage) []string {
			problems := reported.Of(func() []string { return c.settings.Load(layers...) })
			c.sources.Reload()
			return problems
		},
		SetFolders: func(ctx context.Context, folders []workspace.Folder) (*server.Core, []string, error) {
			next, problems, err := c.follow(ctx, folders)
			if err != nil || next == nil {
				return &server.Core{}, problems, err
			}
			return next.served(), problems, nil
		},
		Close: c.close,
	}
}

// people lets the tools ask through the editor. A question is a model's text:
// secrets are kept out of it, and what can't be seen is made visible.
type people struct {
	p    *server.People
	hide *redact.Redactor
}

func (p people) Ask(ctx context.Context, q editor.Question) (string, bool, error) {
	text, shown := shownQuestion(p.hide, q)
	answer, ok, err := p.p.Ask(ctx, text, shown, q.AllowCustom)
	if i := slices.Index(shown, answer); i >= 0 {
		answer = q.Options[i]
	}
	return answer, ok, err
}

// shownQuestion is a question as people see it.
func shownQuestion(hide *redact.Redactor, q editor.Question) (text string, options []string) {
	show := func(s string) string { return redact.Visible(hide.Text(s)) }
	options = make([]string, len(q.Options))
	for i, o := range q.Options {
		options[i] = show(o)
	}
	return show(q.Text), options
}

// openLog opens the file that is logged to, for its owner alone.
func openLog(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// modes are the modes as editors list them.
func (c *core) modes() (out []server.Mode) {
	for _, m := range c.settings.Modes() {
		out = append(out, server.Mode{Name: m.Name, Description: m.Help})
	}
	return out
}
