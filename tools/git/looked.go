package git

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
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
	return looked{repo: p.repo, move: m}, p.writes(m)
}

// do does it, with the hooks that come after it.
func (l looked) do(ctx context.Context, h hooks) (notes []string, err error) {
	if l.move == nil {
		return nil, l.err
	}
	notes, err = l.move.Do(ctx, l.repo, h.run)
	return append(notes, h.said()...), err
}

// writes is what an operation writes, under the names of the view. What lies outside
// of it keeps the name that it has in the repository.
func (p repository) writes(m *gitrepo.Move) tools.Writes {
	w := tools.Writes{Version: m.Pin}
	for _, f := range m.Files {
		name, ok := p.name(f.Path)
		if !ok {
			name = f.Path
		}
		w.Files = append(w.Files, tools.Written{Path: name, Link: f.Link})
	}
	return w
}
