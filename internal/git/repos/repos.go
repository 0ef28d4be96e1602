// Package repos has the git repositories that the folders of a workspace lie in,
// open as long as they are used.
package repos

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
)

// Max bounds how many repositories are kept open.
const Max = 16

// Repos retains the repositories that were opened, with what they know of their
// objects. To which one a directory belongs is found again by every call.
type Repos struct {
	// Options are those of every repository.
	Options gitrepo.Options
	// Shadow is the shadow workspace that a directory lies in, or "".
	Shadow func(dir string) string

	mu   sync.Mutex
	list []*gitrepo.Repo // the last one that was used comes last
}

// Open opens the repository of a directory.
func (r *Repos) Open(_ context.Context, dir string) (*gitrepo.Repo, error) {
	now, err := gitrepo.Open(dir, r.Options)
	if err != nil {
		return nil, err
	}
	if top := r.Shadow(dir); top != "" && now.Dir != top && !strings.HasPrefix(now.Dir, top+string(filepath.Separator)) {
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
	if len(r.list) == Max {
		r.list = r.list[1:]
	}
	r.list = append(r.list, now)
	return now, nil
}
