package confine

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
)

// LanguageServer starts a language server. Its program may lie where commands
// see nothing, and is shown to it.
func (c *Confiner) LanguageServer(ctx context.Context, p langserver.Program) (*langserver.Process, error) {
	spec, err := c.Spec(ctx, p.Folder)
	if err != nil {
		return nil, err
	}
	if !p.Writes {
		spec.LookOnly, spec.Writable = true, nil // it stays, and so would what stands in for missing names
	}
	program, readable := installation(p.Argv[0])
	spec.ReadOnly = append(spec.ReadOnly, readable...)
	started, err := c.Start(ctx, spec, p.Dir, append([]string{program}, p.Argv[1:]...))
	if err != nil {
		return nil, err
	}
	return &langserver.Process{In: started.In, Out: started.Out, Wait: started.Wait, Kill: started.Kill, Said: started.Said}, nil
}
