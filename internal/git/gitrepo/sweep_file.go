package gitrepo

import (
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// file looks at one file of the index. there says that something is, and that
// it isn't to be compared with the untracked.
func (w *sweeper) file(d *sweepDir, i int, name *byte) (there bool, err error) {
	e := w.index.At(i)
	switch {
	case e.Stage() != 0, e.AssumeValid():
		return false, nil
	case e.Extended()&index.FlagSkipWorktree != 0:
		if !w.conf.sparse {
			return false, nil
		}
		if err := d.handle.Lstat(name, &w.st); gitfile.Missing(err) {
			return false, nil
		}
	}
	if err := d.handle.Lstat(name, &w.st); err != nil {
		if !gitfile.Missing(err) {
			return false, &fs.PathError{Op: "lstat", Path: e.Name, Err: err}
		}
		w.changed = append(w.changed, sweptFile{i, 'D'})
		return false, nil
	}
	kind, have := e.Mode()&typeBits, filemode.FileMode(w.st.Mode())&typeBits
	switch {
	case have == filemode.Dir && kind == filemode.Submodule:
		w.modules = append(w.modules, i)
	case have == filemode.Dir:
		w.changed = append(w.changed, sweptFile{i, 'D'})
		return false, nil
	case have != kind:
		w.changed = append(w.changed, sweptFile{i, 'T'})
	case kind == regularType && w.conf.fileMode && (filemode.FileMode(w.st.Mode())^e.Mode())&0o100 != 0:
		w.changed = append(w.changed, sweptFile{i, 'M'})
	case e.Size() != 0 && e.Size() != uint32(w.st.Size()):
		w.changed = append(w.changed, sweptFile{i, 'M'}) // as git does, whatever filters would make of it
	case !e.Same(&w.st) || w.index.Racy(e):
		w.unsure = append(w.unsure, i)
	}
	return true, nil
}

const (
	typeBits    = 0o170000
	regularType = 0o100000
)
