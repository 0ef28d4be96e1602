package indexing

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// read returns all commits, and whether there is news. What commits touched in
// their files takes longer: there is more while that is to be read, which the
// next calls do, some commits each, with looks for new ones between them. A folder
// without a repository, or without a commit, has none; with an error of one folder
// comes what is known of all.
func (p *commits) read(ctx context.Context) (commits []history.Commit, news, more bool, err error) {
	switch {
	case p.of == nil:
		p.of = p.restore()
		news = p.of != nil
		if !news {
			p.of = make([]folderCommits, len(p.folders))
		}
	case p.more() && (p.turn || time.Since(p.looked) < p.rest):
		p.turn = false
		if news, err = p.touch(ctx); news {
			p.save()
		}
		return p.all(), news, err == nil && p.more(), err
	case time.Since(p.looked) < p.rest:
		return nil, false, false, nil
	}
	defer func() { p.looked, p.turn = time.Now(), true }()
	read := false
	for i := range p.folders {
		changed, wrong := p.folder(ctx, i)
		switch {
		case errors.Is(wrong, gitrepo.ErrNoRepository), errors.Is(wrong, gitrepo.ErrNoSuchRev):
			changed = len(p.of[i].commits) > 0
			p.of[i] = folderCommits{}
		case wrong != nil:
			err = errors.Join(err, wrong)
		}
		read = read || changed
	}
	if read {
		p.save()
	}
	return p.all(), news || read, p.more(), err
}

// all are the commits of all folders.
func (p *commits) all() (all []history.Commit) {
	for i := range p.of {
		all = append(all, p.of[i].commits...)
	}
	return all
}

// more reports whether there are commits to be read that may be.
func (p *commits) more() bool {
	return p.share() > 0 && slices.ContainsFunc(p.of, func(f folderCommits) bool { return len(f.unread) > 0 })
}

// folder reads what is new of one folder.
func (p *commits) folder(ctx context.Context, i int) (changed bool, err error) {
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
		*have = folderCommits{below: below}
	}
	h, err := repo.History(ctx, gitrepo.HistoryOptions{Count: history.MaxCommits, Until: have.head, Files: history.MaxFiles})
	if err != nil || h.Head == have.head {
		return false, err
	}
	if !h.Until {
		have.commits, have.unread = nil, nil
	}
	stops := terms.Stops()
	commits, news := make([]history.Commit, 0, len(h.Steps)), make([]unread, 0, len(h.Steps))
	for n, s := range h.Steps {
		names, files := p.names(i, below, s.Files)
		commits = append(commits, history.New(s.Date, s.Message, names, stops))
		if len(files) > 0 {
			news = append(news, unread{n, files})
		}
	}
	for _, u := range have.unread {
		news = append(news, unread{u.commit + len(commits), u.files})
	}
	commits = append(commits, have.commits...)
	commits = slices.Clip(commits[:min(len(commits), history.MaxCommits)])
	news = slices.DeleteFunc(news, func(u unread) bool { return u.commit >= len(commits) })
	*have = folderCommits{h.Head, below, commits, news}
	return true, nil
}

// names are files of a repository as the view of the folders names them, and
// those that are in it.
func (p *commits) names(folder int, below string, files []gitrepo.Edit) (names []string, inside []gitrepo.Edit) {
	prefix := ""
	if below != "." {
		prefix = below + "/"
	}
	for _, f := range files {
		if name, in := strings.CutPrefix(f.Path, prefix); in {
			if len(p.folders) > 1 {
				name = path.Join(p.folders[folder].Name, name)
			}
			names, inside = append(names, name), append(inside, f)
		}
	}
	return names, inside
}
