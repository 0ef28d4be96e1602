// Package editor has the tools that speak to the person at the editor, and
// those that ask what an editor would: language servers.
package editor

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps are what the tools of this family need.
type Deps struct {
	People People // nil: nobody can be asked

	// Servers are the language servers that we run.
	Servers *langserver.Pool

	// Shown returns what the editor shows against a file, or, for "", against
	// all files: what its own servers found in the text that it has. nil, or ok
	// false, when it does not tell. Stale names files whose text in files is
	// another than the editor's.
	Shown func(ctx context.Context, files workspace.Files, name string) (shown Shown, ok bool)
}

// Shown is what the editor shows.
type Shown struct {
	Problems []langserver.Problem
	Stale    func(name string) bool
}

// Tools are the tools of this family.
func Tools(d Deps) []*tools.Tool {
	list := []*tools.Tool{askUser(d.People)}
	if d.Servers != nil {
		list = append(list, getDiagnostics(d), lspDefinition(d), lspReferences(d), lspHover(d), lspSymbols(d), lspRename(d))
	}
	return list
}
