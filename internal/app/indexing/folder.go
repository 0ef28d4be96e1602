package indexing

import (
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// commits reads the commits of the repositories that the folders lie in, for the
// project index. Only one goroutine uses it.
type commits struct {
	folders []workspace.Folder
	options gitrepo.Options
	rest    time.Duration // how long nothing is looked at after a look
	share   func() int    // how much of a processor units may take, in percent; 0: they wait
	atOnce  int           // of how many commits the units are read at a time
	store   *index.Store  // keeps what was read between runs; nil: nothing does
	problem func(error)   // is told what is wrong with that; may be nil

	of     []folderCommits // the folders'
	looked time.Time
	turn   bool // units are read next, and not the folders looked at
}

// folderCommits is what was read for a folder.
type folderCommits struct {
	head    plumbing.Hash
	below   string           // where the folder is in its repository
	commits []history.Commit // the newest first
	unread  []unread         // of which it is not known yet what they touched, the newest first
}

// unread is a commit with the files that it changed, as the repository has them.
type unread struct {
	commit int // its place
	files  []gitrepo.Edit
}
