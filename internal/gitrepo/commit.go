package gitrepo

import (
	"context"
	"io/fs"
)

// CommitRequest is a commit of exactly some paths, whatever else is staged or
// changed.
type CommitRequest struct {
	Message string
	Models  []string // each is named in a trailer X-AI-Model
	Paths   []PathState
}

// PathState is a path, relative to the top of the working tree, and what is
// committed of it.
type PathState struct {
	Path    string
	Data    []byte      // the text as it was in the working tree, unless Current
	Exists  bool        // false: the path is committed as deleted
	Mode    fs.FileMode // 0: as it was committed before, or 0644
	Current bool        // what the working tree has now is committed
}

// CommitResult is a commit that was made.
type CommitResult struct {
	Hash    string
	Subject string
	Files   []CommittedFile
	Notes   []string // what did not happen as it would have in a terminal, in sentences
}

// CommittedFile is what a commit did to a file.
type CommittedFile struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, modified, deleted, type
}

// CommitPaths commits exactly the paths of req on top of HEAD. What else is
// staged stays staged.
func (r *Repo) CommitPaths(ctx context.Context, req CommitRequest) (CommitResult, error) {
	return CommitResult{}, ErrNoGit
}

// Head is the hash of the commit that is checked out; "" when there is none
// yet.
func (r *Repo) Head(ctx context.Context) (string, error) {
	return "", ErrNoGit
}

// CommitMade tells whether the commit of req was made on top of since, for
// whoever does not know any more how far CommitPaths came.
func (r *Repo) CommitMade(ctx context.Context, since string, req CommitRequest) (hash string, ok bool, err error) {
	return "", false, ErrNoGit
}
