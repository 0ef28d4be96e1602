package confine

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Git runs git itself for a call that runs unasked, as a command of its session's world. ok says
// that it ended without an error.
func (g *GitHooks) Git(ctx context.Context, args ...string) (said string, ok bool, err error) {
	var words lastWords
	p, err := g.c.Start(ctx, shell.Run{
		Session: g.call.Session, Root: g.root, Dir: g.root, Files: g.call.Files, Held: true, Drop: g.call.Drop, Unasked: true,
		Argv: append([]string{"git"}, args...), Env: []string{"GIT_EDITOR=:", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"},
		Stdout: &words, Stderr: &words,
	})
	if err != nil {
		return "", false, err
	}
	g.call.SawFiles()
	failed := p.Wait()
	changed, err := p.End(true)
	if err != nil {
		return "", false, err
	}
	changed.Tell(g.call)
	g.took(changed)
	var exit interface{ ExitCode() int }
	if failed != nil && !errors.As(failed, &exit) {
		return "", false, failed
	}
	return words.String(), failed == nil, nil
}
