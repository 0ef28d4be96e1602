package gitcmd

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// soundIndex fails when the index of the working tree is damaged. git itself
// doesn't compare its checksum when it reads one, and commits whatever it finds
// there.
func (g *Git) soundIndex(conf Settings) error {
	var err error
	if strings.EqualFold(conf.Value("extensions.objectformat"), "sha256") {
		err = index.CheckSum256(filepath.Join(g.GitDir, "index"))
	} else {
		_, err = g.index.Read()
	}
	if errors.Is(err, gitfile.ErrCorrupt) {
		return damagedIndex(err)
	}
	return nil // what else there is to say about it, git says
}

// damagedIndex puts an index that can't be used into words.
func damagedIndex(err error) *Failure {
	return Failf(Failed, "the index of the repository is damaged, so nothing was done; the files are as they were, and only what was staged has to be staged again: %v", err)
}
