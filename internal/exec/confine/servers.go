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
	// It stays, and what it builds is its own: the workspace gets nothing of it.
	var seen *seen
	if !p.Writes {
		spec.look()
	} else if seen, err = c.see(&spec, view{session: "language server " + p.Argv[0] + " in " + p.Dir, root: p.Folder, files: c.o.Watch.Disk(), drop: true}); err != nil {
		return nil, err
	}
	program, readable := installation(p.Argv[0])
	spec.ReadOnly = append(spec.ReadOnly, readable...)
	started, err := c.Start(ctx, spec, p.Dir, append([]string{program}, p.Argv[1:]...))
	if err != nil {
		seen.Close()
		return nil, err
	}
	wait := func() error {
		defer seen.Close()
		return started.Wait()
	}
	return &langserver.Process{In: started.In, Out: started.Out, Wait: wait, Kill: started.Kill, Said: started.Said}, nil
}
