package gitrepo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// Blob returns the bytes of a blob as the repository has them.
func (r *Repo) Blob(id plumbing.Hash) ([]byte, error) {
	return r.Objects.ReadType(plumbing.BlobObject, id)
}

// TreeOf returns the name of a commit's tree; that of no commit is zero.
func (r *Repo) TreeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	c, err := gitobject.GetCommit(r.storage, commit)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("commit %s: %w", commit, err)
	}
	return c.TreeHash, nil
}

// Unreferenced lists the commits that only a HEAD without a branch holds, as
// hash and subject, newest first: those after base that no ref leads to. At
// most limit are looked at.
func (r *Repo) Unreferenced(base plumbing.Hash, limit int) ([]string, error) {
	h, err := r.head()
	if err != nil || h.branch != "" {
		return nil, err
	}
	names, err := r.decorations()
	if err != nil {
		return nil, err
	}
	var list []string
	seen := map[plumbing.Hash]bool{base: true}
	for todo := []plumbing.Hash{h.hash}; len(todo) > 0 && len(list) < limit; {
		hash := todo[0]
		todo = todo[1:]
		if seen[hash] || slices.ContainsFunc(names[hash], func(name string) bool { return name != "HEAD" }) {
			continue
		}
		seen[hash] = true
		c, err := r.Objects.Commit(hash)
		if err != nil {
			return list, err
		}
		list = append(list, hash.String()[:10]+" "+c.Subject())
		todo = append(todo, c.Parents...)
	}
	return list, nil
}

// HasDir reports whether a commit has a directory of that name; "." always.
func (r *Repo) HasDir(commit plumbing.Hash, name string) (bool, error) {
	if name == "." {
		return true, nil
	}
	repo, err := r.Repository()
	if err != nil {
		return false, err
	}
	c, err := repo.CommitObject(commit)
	if err != nil {
		return false, fmt.Errorf("commit %s: %w", commit, err)
	}
	root, err := c.Tree()
	if err != nil {
		return false, fmt.Errorf("commit %s: %w", commit, err)
	}
	e, err := root.FindEntry(name)
	if errors.Is(err, gitobject.ErrEntryNotFound) || errors.Is(err, gitobject.ErrDirectoryNotFound) {
		return false, nil
	}
	return err == nil && e.Mode == filemode.Dir, err
}
