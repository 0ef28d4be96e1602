// Package statedir is the server's own directory in a workspace folder, .sidecar:
// what must outlive the server is kept there, and caches.
//
// A project can bring .sidecar along, with links in it that would choose where
// is written. So every way to a directory in there is checked for links.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is a workspace folder, as the one that has the server's directory.
type Dir string

// State is where the server keeps what must outlive it.
func (d Dir) State() string { return filepath.Join(string(d), ".sidecar", "state") }

// Logs is where calls are recorded.
func (d Dir) Logs() string { return filepath.Join(string(d), ".sidecar", "logs") }

// Records is where it is noted what commands left unfinished if the server is
// killed; see internal/git/gitguard.
func (d Dir) Records() string { return filepath.Join(d.State(), "commands") }

// Queue is where the review queue has its log.
func (d Dir) Queue() string { return filepath.Join(d.State(), "pending") }

// HasQueue reports whether edits were ever held for review here.
func (d Dir) HasQueue() bool {
	info, err := os.Lstat(d.Queue())
	return err == nil && info.IsDir()
}

// Check fails when there is a link where one of the server's directories
// should be.
func (d Dir) Check() error {
	for _, name := range []string{"", "state", "state/apply", "state/pending", "state/show", "state/shadows", "state/commands", "shadows", "logs"} {
		path := filepath.Join(string(d), ".sidecar", name)
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link; the server keeps its state only in the workspace itself, so remove the link", path)
		}
	}
	return nil
}

// Open opens .sidecar, or a directory below it. None on the way may be a link.
// Missing directories are made if create is set.
func (d Dir) Open(create bool, below ...string) (*os.Root, error) {
	at, err := os.OpenRoot(string(d))
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

// Prepare makes .sidecar, with an ignore file that leaves to git only what a
// team may want to share. Whoever writes there calls it before.
func (d Dir) Prepare() error {
	if err := d.Check(); err != nil {
		return err
	}
	dir, err := d.Open(true)
	if err != nil {
		return err
	}
	defer dir.Close()
	f, err := dir.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n!/settings.json\n!/tools/\n!/tools/**\n!/kits/\n!/kits/**\n!/skills/\n!/skills/**\n")
	return errors.Join(err, f.Close())
}

// CommandHome makes the home directory of commands, whichever tree of this
// project they run in: what they cache is found again.
func (d Dir) CommandHome() (string, error) {
	if err := d.Prepare(); err != nil {
		return "", err
	}
	dir, err := d.Open(true, "cache", "home")
	if err != nil {
		return "", err
	}
	return filepath.Join(string(d), ".sidecar", "cache", "home"), dir.Close()
}
