package app

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/models"
	"github.com/sidecar-ls/sidecar-ls/internal/app/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/worker"
	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/agents"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
	"github.com/sidecar-ls/sidecar-ls/tools/git"
	"github.com/sidecar-ls/sidecar-ls/tools/search"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
	"github.com/sidecar-ls/sidecar-ls/tools/web"
)

// builtins is the list of all tools that come with the server, by family.
func builtins(e editor.Deps, sys system.Deps, s indexing.Symbols, g git.Deps, k search.Knowledge, sh shell.Deps, x *textindex.Index, w web.Deps, a agents.Deps) []*tools.Tool {
	finder := s.Finder()
	if x != nil {
		finder.Narrow = x.Containing
	}
	var list []*tools.Tool
	for _, family := range [][]*tools.Tool{
		fs.Tools(fs.Deps{Outline: s.Outline}),
		search.Tools(search.Deps{References: finder, Knowledge: k, Index: x}),
		git.Tools(g),
		shell.Tools(sh),
		web.Tools(w),
		system.Tools(sys),
		editor.Tools(e),
		agents.Tools(a),
	} {
		list = append(list, family...)
	}
	return list
}

// builtins are those tools for the workspace.
func (w *Workspace) builtins() []*tools.Tool {
	c := w.Client
	return builtins(
		w.editorDeps(),
		system.Deps{Pages: w.Dispatch, Catalog: w.Dispatch, Settings: c.Settings.ForTools(), Backends: c.Backends(), Programs: c.Settings.Programs()},
		indexing.Symbols{Parsers: c.Parsers},
		git.Deps{Open: w.repos.Open, Models: c.models, Committed: c.committed, Hooks: func(c *tools.Call, root string) git.Hooks {
			return confine.Commands{Confiner: w.Confiner}.GitHooks(c, root)
		}},
		w.Index, w.shellDeps(), w.texts, w.webDeps(), agents.Deps{Team: c.o.User.Team, Plans: c.o.User.Plans, Work: c.Sessions, Skills: agents.Skills{Library: w.Skills, Has: w.Dispatch, Given: c.Sessions}},
	)
}

// models are those that a session used since its last commit.
func (c *Client) models(id string) []string {
	return of(c.Sessions, id, (*session.Session).Models)
}

// committed says that a session has made a commit that names its models.
func (c *Client) committed(id string) {
	if s, err := c.Sessions.Get(id); err == nil {
		s.Committed()
	}
}

// of asks a session; one that was closed meanwhile answers nothing.
func of[T any](sessions *session.Store, id string, ask func(*session.Session) T) (answer T) {
	if s, err := sessions.Get(id); err == nil {
		answer = ask(s)
	}
	return answer
}

// Backends are the language models of the settings.
func (c *Client) Backends() models.Backends {
	return models.Backends{Settings: c.Settings, Programs: c.Settings.Programs(), Know: c.Hide.Know}
}

// shellDeps is what the tools need that run commands.
func (w *Workspace) shellDeps() shell.Deps {
	c := w.Client
	deps := shell.Deps{
		Host:  confine.Commands{Confiner: w.Confiner},
		Calls: program.Calls{Sessions: c.Sessions, Dispatch: func() *dispatch.Dispatcher { return w.Dispatch }},
	}
	if !c.o.Resident {
		deps.NoBackground = "this process ends with the call, and the command would end with it; leave background out, or call while an editor or an agent has the workspace open with sidecar-ls"
	}
	return deps
}

// webDeps is what the tools need that look outside.
func (w *Workspace) webDeps() web.Deps {
	c := w.Client
	return web.Deps{
		Search: func() web.SearchSettings {
			set := c.Settings.Now()
			return web.SearchSettings{
				Provider: set.String("web.search.provider"), URL: set.String("web.search.url"),
				Key: set.Key("web.search.key"),
			}
		},
		PDF:    worker.PDF(c.o.Program),
		Secret: func(text string) bool { return c.Hide.Text(text) != text },
	}
}

// editorDeps is what the tools need that ask what an editor would.
func (w *Workspace) editorDeps() editor.Deps {
	user := w.Client.o.User
	deps := editor.Deps{People: user.People, Servers: w.Servers}
	if user.Diagnostics == nil {
		return deps
	}
	deps.Shown = func(ctx context.Context, files workspace.Files, name string) (editor.Shown, bool) {
		if disk, _ := files.Base(); disk != w.Disk {
			return editor.Shown{}, false // the editor does not see a shadow
		}
		list, err := user.Diagnostics.Shown(ctx, name)
		if err != nil {
			return editor.Shown{}, false
		}
		return editor.Shown{Problems: list, Stale: func(name string) bool { return workspace.Differs(files, w.Live, name) }}, true
	}
	return deps
}
