package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools/git"
)

// maxRepos bounds how many repositories are kept open.
const maxRepos = 16

// repos keeps the repositories that were opened, with what they know of their
// objects. Where a directory belongs is looked up anew by every call.
type repos struct {
	options gitrepo.Options
	shadow  func(dir string) string // the shadow that a directory lies in, or ""

	opened func(*gitrepo.Repo) // is told of each that is kept; may be nil

	mu   sync.Mutex
	list []*gitrepo.Repo // the last one that was used comes last
}

func (r *repos) open(_ context.Context, dir string) (*gitrepo.Repo, error) {
	now, err := gitrepo.Open(dir, r.options)
	if err != nil {
		return nil, err
	}
	if top := r.shadow(dir); top != "" && now.Dir != top && !strings.HasPrefix(now.Dir, top+string(filepath.Separator)) {
		// Whatever became of the shadow's own: the repository around it is the main tree's.
		return nil, fmt.Errorf("%s: %w", dir, gitrepo.ErrNoRepository)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, have := range r.list {
		if have.Dir == now.Dir && have.GitDir == now.GitDir && have.CommonDir == now.CommonDir {
			r.list = append(append(r.list[:i:i], r.list[i+1:]...), have)
			return have, nil
		}
	}
	if len(r.list) == maxRepos {
		r.list = r.list[1:]
	}
	r.list = append(r.list, now)
	if r.opened != nil {
		r.opened(now)
	}
	return now, nil
}

// git is what the tools over repositories need of the core.
func (c *core) git() git.Deps {
	return git.Deps{
		Open: c.repos.open,
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
