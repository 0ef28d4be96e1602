package world

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// lentAt is where commands read the objects of the folder's own repository.
func lentAt(root string) string { return lentIn(root) + "/objects" }

// ownObjects gives commands a directory for the objects that they make, which
// borrows from that of the folder's repository. It returns what they are to see
// elsewhere. Were the directory merged as others are, git would touch a pack for
// each object that it writes and that is in it, and the kernel then copies all of the
// pack. No mount of the layer is in use.
//
// It is merged all the same where the repository is none of the usual form, or
// borrows itself: what it names need not be where commands can read.
func (w *world) ownObjects() (lent []spec.Lent, err error) {
	git := filepath.Join(w.root, ".git")
	for _, dir := range []string{git, filepath.Join(git, "objects")} {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || standIn(info) {
			return nil, nil //nolint:nilerr // it is none of the usual form
		}
	}
	if info, err := os.Lstat(filepath.Join(git, "objects", "info", "alternates")); err == nil && info.Size() > 0 {
		return nil, nil
	}
	lent = []spec.Lent{{Dir: filepath.Join(git, "objects"), Place: lentAt(w.root)}}
	at := filepath.Join(w.upper(), ".git")
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.IsDir() || opaque(at):
		return nil, nil // a command made another repository in its place
	}
	objects := filepath.Join(at, "objects")
	if opaque(objects) {
		return lent, nil
	}
	if _, err := os.Lstat(objects); err == nil {
		return nil, nil // what a command made there is not taken away
	}
	for _, dir := range []string{at, objects, filepath.Join(objects, "info"), filepath.Join(objects, "pack")} {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(lentAt(w.root)+"\n"), 0o644); err != nil {
		return nil, err
	}
	return lent, unix.Lsetxattr(objects, opaqueName, []byte("y"), 0)
}
