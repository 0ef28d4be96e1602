package gitrepo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitfile"
)

// head is what HEAD names.
type head struct {
	branch string        // without refs/heads/; "" when HEAD is detached
	hash   plumbing.Hash // of the commit; zero when there is none yet
}

// references is go-git's reader of loose and packed refs.
func (r *Repo) references() storer.ReferenceStorer {
	fs := dotgit.NewRepositoryFilesystem(osfs.New(r.GitDir), osfs.New(r.CommonDir))
	return filesystem.NewStorage(fs, cache.NewObjectLRU(0))
}

// head reads HEAD.
func (r *Repo) head() (head, error) {
	refs := r.references()
	ref, err := refs.Reference(plumbing.HEAD)
	if err != nil {
		return head{}, fmt.Errorf("HEAD: %w: %w", gitfile.ErrCorrupt, err)
	}
	var h head
	if ref.Type() == plumbing.HashReference {
		h.hash = ref.Hash()
		return h, nil
	}
	h.branch = strings.TrimPrefix(ref.Target().String(), "refs/heads/")
	h.hash, err = refOf(refs, ref.Target())
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		err = nil
	}
	return h, err
}

// maxSymbolic bounds how refs refer to each other.
const maxSymbolic = 5

// refOf returns what a ref leads to.
func refOf(refs storer.ReferenceStorer, name plumbing.ReferenceName) (plumbing.Hash, error) {
	for range maxSymbolic {
		ref, err := refs.Reference(name)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if ref.Type() == plumbing.HashReference {
			return ref.Hash(), nil
		}
		name = ref.Target()
	}
	return plumbing.ZeroHash, fmt.Errorf("%s: %w: it leads to no commit", name, gitfile.ErrCorrupt)
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
	iter, err := r.references().IterReferences()
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
