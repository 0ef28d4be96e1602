package app

import (
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
	"github.com/sidecar-ls/sidecar-ls/tools/git"
	"github.com/sidecar-ls/sidecar-ls/tools/search"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
)

// builtins is the list of all tools that come with the server, by family.
func builtins(people editor.People, pages system.Pager, o outliner, g git.Deps, k search.Knowledge) []*tools.Tool {
	var list []*tools.Tool
	for _, family := range [][]*tools.Tool{
		fs.Tools(fs.Deps{Outline: o.outline}),
		search.Tools(search.Deps{References: o.finder(), Knowledge: k}),
		git.Tools(g),
		system.Tools(pages),
		editor.Tools(people),
	} {
		list = append(list, family...)
	}
	return list
}
