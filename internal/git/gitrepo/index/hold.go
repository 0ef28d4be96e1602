package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Held is an index file that nobody else writes until it is let go: git respects its
// lock.
type Held struct{ Path, lock string }

// Hold locks an index file the way git does. It fails with ErrLocked.
func Hold(path string) (*Held, error) {
	h := &Held{Path: path, lock: path + ".lock"}
	f, err := os.OpenFile(h.lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrLocked)
	}
	if err != nil {
		return nil, err
	}
	return h, f.Close()
}

// Release lets go of the file, as it was.
func (h *Held) Release() {
	if h.lock != "" {
		_ = os.Remove(h.lock)
	}
}

// Put replaces the file, and lets go.
func (h *Held) Put(ctx context.Context, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(h.Path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := errors.Join(os.WriteFile(h.lock, data, mode), os.Chmod(h.lock, mode)); err != nil {
		return err
	}
	if err := osfile.Rename(ctx, h.lock, h.Path); err != nil {
		return err
	}
	h.lock = ""
	return nil
}
