package indexing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
)

// historyFile is the file, beside the index, that keeps what was read of the
// commits.
const historyFile = "history.index"

// storedCommits is a folderCommits in that file.
type storedCommits struct {
	Name    string
	Head    plumbing.Hash
	Below   string
	Commits []history.Commit
	Units   bool           // of all commits it was read what they touched
	Unread  []storedUnread // of which it was not; nothing says which if there are none of these either
}

// storedUnread is an unread.
type storedUnread struct {
	Commit int
	Paths  []string
	Blobs  []byte // of each path the old one and the new one
}

// storedUnreadOf is what is kept of commits that are to be read.
func storedUnreadOf(list []unread) []storedUnread {
	out := make([]storedUnread, len(list))
	for i, u := range list {
		out[i].Commit = u.commit
		for _, e := range u.files {
			out[i].Paths = append(out[i].Paths, e.Path)
			out[i].Blobs = append(append(out[i].Blobs, e.Old[:]...), e.New[:]...)
		}
	}
	return out
}

// unread returns the commits that are to be read. It reports whether they are
// among those that are kept, in their order, with the same files.
func (k *storedCommits) unread() (list []unread, ok bool) {
	const size = len(plumbing.ZeroHash)
	next := 0
	for _, u := range k.Unread {
		if u.Commit < next || u.Commit >= len(k.Commits) || len(u.Paths) != len(k.Commits[u.Commit].Files) || len(u.Blobs) != 2*size*len(u.Paths) {
			return nil, false
		}
		next = u.Commit + 1
		files := make([]gitrepo.Edit, len(u.Paths))
		for i, name := range u.Paths {
			blobs := u.Blobs[2*size*i:]
			files[i] = gitrepo.Edit{Path: name, Old: plumbing.Hash(blobs[:size]), New: plumbing.Hash(blobs[size : 2*size])}
		}
		list = append(list, unread{u.Commit, files})
	}
	return list, true
}

// restore returns what was read by an earlier run for the same folders, nil if
// that isn't known. Whether it still holds is seen by its heads.
func (p *commits) restore() []folderCommits {
	if p.store == nil {
		return nil
	}
	data, err := p.store.Kept(historyFile)
	var kept []storedCommits
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			p.wrong(fmt.Errorf("the stored history is not used: %w", err))
		}
		return nil
	}
	if len(kept) != len(p.folders) {
		return nil
	}
	out := make([]folderCommits, len(kept))
	for i, k := range kept {
		if k.Name != p.folders[i].Name {
			return nil
		}
		list, ok := k.unread()
		out[i] = folderCommits{k.Head, k.Below, k.Commits, list}
		if !ok || !k.Units && len(list) == 0 {
			out[i].head = plumbing.ZeroHash // all is read again, for what is missing
		}
	}
	return out
}

// save stores what was read.
func (p *commits) save() {
	if p.store == nil {
		return
	}
	kept := make([]storedCommits, len(p.of))
	for i, f := range p.of {
		kept[i] = storedCommits{p.folders[i].Name, f.head, f.below, f.commits, len(f.unread) == 0, storedUnreadOf(f.unread)}
	}
	data, err := json.Marshal(kept)
	if err == nil {
		err = p.store.Keep(historyFile, data)
	}
	if err != nil {
		p.wrong(fmt.Errorf("the history is not stored: %w", err))
	}
}

func (p *commits) wrong(err error) {
	if p.problem != nil {
		p.problem(err)
	}
}
