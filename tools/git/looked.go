package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// looked is an operation that was looked at before anything was decided about the
// call: what is done is that, or nothing.
type looked struct {
	repo *gitrepo.Repo
	move *gitrepo.Move
	err  error // why it can't be done, for the end of a call that is allowed
}

// look looks at an operation and says what it writes.
func (d Deps) look(ctx context.Context, files workspace.Files, at func(repository) (*gitrepo.Move, error)) (looked, tools.Writes) {
	p, _, err := d.repository(ctx, files, "")
	if err != nil {
		return looked{err: err}, tools.Writes{}
	}
	m, err := at(p)
	if err != nil {
		return looked{err: err}, tools.Writes{}
	}
	w, err := p.writes(m)
	if err != nil {
		return looked{err: err}, tools.Writes{}
	}
	return looked{repo: p.repo, move: m}, w
}

// do does it, with the hooks that come after it.
func (l looked) do(ctx context.Context, h hooks) (notes []string, err error) {
	if l.move == nil {
		return nil, l.err
	}
	notes, err = l.move.Do(ctx, l.repo, h.run)
	return append(notes, h.said()...), err
}

// maxNamed bounds the files that an error names.
const maxNamed = 5

// writes is what an operation writes, under the names of the view. One that writes
// outside of it is refused, as any tool's writing there.
func (p repository) writes(m *gitrepo.Move) (tools.Writes, error) {
	w := tools.Writes{Version: m.Pin}
	var outside []string
	for _, f := range m.Files {
		name, ok := p.name(f.Path)
		if !ok {
			outside = append(outside, shown(f.Path))
			continue
		}
		w.Files = append(w.Files, tools.Written{Path: name, Link: f.Link})
	}
	if n := len(outside); n > 0 {
		if n > maxNamed {
			outside = append(outside[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
		}
		return tools.Writes{}, gitcmd.Failf(gitcmd.Outside, "the repository is larger than the workspace, and files outside of it would change: %s; the user can do it in a terminal", strings.Join(outside, ", "))
	}
	return w, nil
}

// mayWrite asks on the way whether an operation may write what it writes.
func (p repository) mayWrite(ctx context.Context, c *tools.Call, m *gitrepo.Move) error {
	w, err := p.writes(m)
	if err != nil {
		return err
	}
	return c.MayWrite(ctx, w)
}
