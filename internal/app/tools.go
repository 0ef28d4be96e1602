package app

import (
	"github.com/sidecar-ls/sidecar-ls/internal/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/textindex"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
	"github.com/sidecar-ls/sidecar-ls/tools/git"
	"github.com/sidecar-ls/sidecar-ls/tools/search"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
	"github.com/sidecar-ls/sidecar-ls/tools/web"
)

// builtins is the list of all tools that come with the server, by family.
func builtins(e editor.Deps, sys system.Deps, o indexing.Symbols, g git.Deps, k search.Knowledge, sh shell.Deps, x *textindex.Index, w web.Deps) []*tools.Tool {
	finder := o.Finder()
	if x != nil {
		finder.Narrow = x.Containing
	}
	var list []*tools.Tool
	for _, family := range [][]*tools.Tool{
		fs.Tools(fs.Deps{Outline: o.Outline}),
		search.Tools(search.Deps{References: finder, Knowledge: k, Index: x}),
		git.Tools(g),
		shell.Tools(sh),
		web.Tools(w),
		system.Tools(sys),
		editor.Tools(e),
	} {
		list = append(list, family...)
	}
	return list
}

// git is what the tools over repositories need of the core.
func (c *core) git() git.Deps {
	return git.Deps{
		Open: c.repos.Open,
		Models: func(session string) []string {
			s, err := c.sessions.Get(session)
			if err != nil {
				return nil // it was closed meanwhile
			}
			return s.Models()
		},
		Committed: func(session string) {
			if s, err := c.sessions.Get(session); err == nil {
				s.Committed()
			}
		},
	}
}

// shell is what the tools need that run commands.
func (c *core) shell() shell.Deps {
	commands := confine.Commands{Confiner: c.confiner}
	deps := shell.Deps{
		Home: commands.Home, Offline: commands.Offline, Isolate: commands.Isolate, Start: commands.Start,
		Closed: func(id string) <-chan struct{} {
			s, err := c.sessions.Get(id)
			if err != nil {
				return nil
			}
			return s.Done()
		},
	}
	if !c.door.resident {
		deps.NoBackground = "this process ends with the call, and the command would end with it; leave background out, or call while an editor or an agent has the workspace open with sidecar-ls"
	}
	return deps
}
