package gitrepo

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Index is what is staged: the index file of a working tree.
type Index struct {
	Version int
	Entries []IndexEntry // sorted by Path, then Stage
	Tree    *CacheTree   // the TREE extension; nil when there is none
}

// IndexEntry is one file of the index, with the stat data that tell cheaply
// whether the file in the working tree is still it.
type IndexEntry struct {
	Path  string            // slash-separated, relative to the top of the working tree
	Mode  filemode.FileMode // as git writes it: 0o100644, 0o100755, 0o120000 (link), 0o160000 (submodule)
	Hash  plumbing.Hash
	Stage int // 0, or 1 base, 2 ours, 3 theirs of a merge conflict

	CTime, MTime   time.Time
	Dev, Ino       uint32
	UID, GID, Size uint32

	AssumeValid, SkipWorktree, IntentToAdd bool
}

// CacheTree says which trees are as the index has them.
type CacheTree struct {
	Name    string // of the directory in its parent; "" at the root
	Entries int    // files of the index below it; -1: not valid, and plumbing.Hash is not set
	Hash    plumbing.Hash
	Subs    []CacheTree
}

// soundIndex fails when the index of the working tree is damaged. git itself
// doesn't compare its checksum when it reads one, and commits whatever it finds
// there.
func (r *Repo) soundIndex(conf settings) error {
	var err error
	if strings.EqualFold(conf.value("extensions.objectformat"), "sha256") {
		err = checkSum256(filepath.Join(r.GitDir, "index"))
	} else {
		_, err = r.readIndex()
	}
	if errors.Is(err, ErrCorrupt) {
		return damagedIndex(err)
	}
	return nil // what else there is to say about it, git says
}

// damagedIndex puts an index that can't be used into words.
func damagedIndex(err error) *Failure {
	return failf(Failed, "the index of the repository is damaged, so nothing was done; the files are as they were, and only what was staged has to be staged again: %v", err)
}

// checkSum256 checks the end of an index whose objects are named by SHA-256. No
// checksum (index.skipHash) is all zeroes.
func checkSum256(path string) error {
	data, _, err := readStamped(path, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if at := len(data) - sha256.Size; at >= 0 {
		if sum := [sha256.Size]byte(data[at:]); sum == [sha256.Size]byte{} || sum == sha256.Sum256(data[:at]) {
			return nil
		}
	}
	return badIndex("its checksum is wrong")
}
