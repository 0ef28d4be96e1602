package app

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// past reads the commits of the repositories that the folders lie in, for the
// project index. Only one goroutine uses it.
type past struct {
	folders []workspace.Folder
	options gitrepo.Options
	rest    time.Duration // how long nothing is looked at after a look
	store   *index.Store  // keeps what was read between runs; nil: nothing does
	problem func(error)   // is told what is wrong with that; may be nil

	of     []folderPast // the folders'
	looked time.Time
}

// folderPast is what was read for a folder.
type folderPast struct {
	head    gitrepo.OID
	below   string           // where the folder is in its repository
	commits []history.Commit // the newest first
}

// read returns all commits, and whether there is news. A folder without a
// repository, or without a commit, has none.
func (p *past) read(ctx context.Context) ([]history.Commit, bool, error) {
	news := false
	switch {
	case p.of == nil:
		p.of = p.restore()
		news = p.of != nil
		if !news {
			p.of = make([]folderPast, len(p.folders))
		}
	case time.Since(p.looked) < p.rest:
		return nil, false, nil
	}
	defer func() { p.looked = time.Now() }()
	read := false
	var all []history.Commit
	for i := range p.folders {
		changed, err := p.folder(ctx, i)
		switch {
		case errors.Is(err, gitrepo.ErrNoRepository), errors.Is(err, gitrepo.ErrNoSuchRev):
			changed = len(p.of[i].commits) > 0
			p.of[i] = folderPast{}
		case err != nil:
			return nil, false, err
		}
		read = read || changed
		all = append(all, p.of[i].commits...)
	}
	if read {
		p.keep()
	}
	return all, news || read, nil
}

// folder reads what is new of one folder.
func (p *past) folder(ctx context.Context, i int) (changed bool, err error) {
	dir, have := p.folders[i].Dir, &p.of[i]
	repo, err := gitrepo.Open(dir, p.options) // and let go again: it is seldom needed
	if err != nil {
		return false, err
	}
	below, err := repo.Rel(dir)
	if err != nil {
		return false, err
	}
	if have.below != below {
		*have = folderPast{below: below}
	}
	h, err := repo.History(ctx, gitrepo.HistoryOptions{Count: history.MaxCommits, Until: have.head, Paths: history.MaxFiles})
	if err != nil || h.Head == have.head {
		return false, err
	}
	stops := terms.Stops()
	commits := make([]history.Commit, 0, len(h.Steps))
	for _, s := range h.Steps {
		commits = append(commits, history.New(s.Date, s.Message, p.names(i, below, s.Paths), stops))
	}
	if h.Until {
		commits = append(commits, have.commits...)
	}
	*have = folderPast{h.Head, below, slices.Clip(commits[:min(len(commits), history.MaxCommits)])}
	return true, nil
}

// names are paths of a repository as the view of the folders names them.
func (p *past) names(folder int, below string, paths []string) []string {
	prefix := ""
	if below != "." {
		prefix = below + "/"
	}
	var names []string
	for _, name := range paths {
		if name, inside := strings.CutPrefix(name, prefix); inside {
			if len(p.folders) > 1 {
				name = path.Join(p.folders[folder].Name, name)
			}
			names = append(names, name)
		}
	}
	return names
}
