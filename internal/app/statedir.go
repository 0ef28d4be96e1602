package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// stateDir is where the server keeps what must outlive it, in the first root.
func stateDir(folders []workspace.Folder) string {
	return filepath.Join(folders[0].Dir, ".sidecar", "state")
}

// checkStateDir fails when a link stands where the server's directories
// should. A project can bring one along, and would choose where is written.
func checkStateDir(root string) error {
	for _, name := range []string{"", "state", "state/apply", "state/pending", "state/show", "state/shadows", "state/commands", "shadows", "logs"} {
		path := filepath.Join(root, ".sidecar", name)
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link; the server keeps its state only in the workspace itself, so remove the link", path)
		}
	}
	return nil
}
