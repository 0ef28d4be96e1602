package gitrepo

import (
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	gitstorage "github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// storage is go-git's over the files of a repository, but for the objects,
// which our reader finds without reading whole tables of packs.
type storage struct {
	*object.Store
	storer.ReferenceStorer
	storer.ShallowStorer
	storer.IndexStorer
	config.ConfigStorer
	gitstorage.ModuleStorer
}

// newStorage returns the storage of a working tree.
func newStorage(gitDir, commonDir string, objects *object.Store) storage {
	fs := filesystem.NewStorage(dotgit.NewRepositoryFilesystem(osfs.New(gitDir), osfs.New(commonDir)), cache.NewObjectLRU(0))
	return storage{objects, fs, fs, fs, readConfig{fs}, fs}
}

// readConfig stands for the settings, which Readable has checked: go-git's
// parser refuses files that git reads, and extensions that change nothing for
// reading.
type readConfig struct{ config.ConfigStorer }

// Config returns git's standard settings.
func (readConfig) Config() (*config.Config, error) { return config.NewConfig(), nil }

// Repository is the repository as go-git has it, for what is not hot. Nothing
// is written by it: git commands do that, for the sake of its locks. It fails
// with gitfile.ErrUnsupported for one that is not read in this process.
func (r *Repo) Repository() (*git.Repository, error) {
	if _, err := r.Readable(); err != nil {
		return nil, err
	}
	return git.Open(r.storage, nil)
}
