package app

import (
	"errors"
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

// openOwn opens a directory of the server in a root, .sidecar or one below it.
// None on the way may be a link. What is missing is made, if that is wanted.
func openOwn(root string, create bool, below ...string) (*os.Root, error) {
	at, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	perm := fs.FileMode(0o755)
	for _, name := range append([]string{".sidecar"}, below...) {
		if create {
			if err := at.Mkdir(name, perm); err != nil && !errors.Is(err, fs.ErrExist) {
				at.Close()
				return nil, err
			}
		}
		perm = 0o700
		info, err := at.Lstat(name)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s in %s is not a directory of its own; remove it", name, at.Name())
		}
		var next *os.Root
		if err == nil {
			next, err = at.OpenRoot(name)
		}
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}
