package gitrepo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// head is what HEAD names.
type head struct {
	branch string        // without refs/heads/; "" when HEAD is detached
	hash   plumbing.Hash // of the commit; zero when there is none yet
}

// head reads HEAD.
func (r *Repo) head() (head, error) {
	ref, err := r.storage.Reference(plumbing.HEAD)
	if err != nil {
		return head{}, fmt.Errorf("HEAD: %w: %w", gitfile.ErrCorrupt, err)
	}
	var h head
	if ref.Type() == plumbing.HashReference {
		h.hash = ref.Hash()
		return h, nil
	}
	h.branch = strings.TrimPrefix(ref.Target().String(), "refs/heads/")
	h.hash, err = refOf(r.storage, ref.Target())
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		err = nil
	}
	return h, err
}

// refOf returns the object that a ref leads to. It fails with
// plumbing.ErrReferenceNotFound if there is no such ref.
func refOf(storage storage, name plumbing.ReferenceName) (plumbing.Hash, error) {
	ref, err := storer.ResolveReference(storage, name)
	switch {
	case errors.Is(err, storer.ErrMaxResolveRecursion):
		return plumbing.ZeroHash, fmt.Errorf("%s: %w: it refers to itself", name, gitfile.ErrCorrupt)
	case err != nil:
		return plumbing.ZeroHash, err
	}
	return ref.Hash(), nil
}

// decorations are the names of refs by the commit that they lead to: HEAD
// first, then branches, then tags and others, short as git log shows them.
func (r *Repo) decorations() (map[plumbing.Hash][]string, error) {
	h, err := r.head()
	if err != nil {
		return nil, err
	}
	names := map[plumbing.Hash][]string{}
	switch {
	case h.hash.IsZero():
	case h.branch == "":
		names[h.hash] = []string{"HEAD"}
	default:
		names[h.hash] = []string{"HEAD -> " + h.branch}
	}
	iter, err := r.storage.IterReferences()
	if err != nil {
		return nil, fmt.Errorf("refs: %w", err)
	}
	defer iter.Close()
	var tags []*plumbing.Reference
	err = iter.ForEach(func(ref *plumbing.Reference) error {
		name := ref.Name()
		switch {
		case ref.Type() != plumbing.HashReference, name.IsBranch() && name.Short() == h.branch:
		case name.IsTag():
			tags = append(tags, ref)
		case name.IsBranch(), name.IsRemote():
			names[ref.Hash()] = append(names[ref.Hash()], name.Short())
		}
		return nil
	})
	for _, ref := range tags {
		if hash, err := r.Objects.Peel(ref.Hash()); err == nil {
			names[hash] = append(names[hash], "tag: "+ref.Name().Short())
		}
	}
	return names, err
}
