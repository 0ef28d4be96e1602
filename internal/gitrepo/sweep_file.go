package gitrepo

import (
	"encoding/binary"
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// file looks at one file of the index. there says that something is, and that
// it isn't to be compared with the untracked.
func (w *sweeper) file(d *sweepDir, i int, name *byte) (there bool, err error) {
	e := w.index.at(i)
	switch {
	case e.stage() != 0, e.assumeValid():
		return false, nil
	case e.extended()&flagSkipWorktree != 0:
		if !w.conf.sparse {
			return false, nil
		}
		if err := d.handle.Lstat(name, &w.st); missing(err) {
			return false, nil
		}
	}
	if err := d.handle.Lstat(name, &w.st); err != nil {
		if !missing(err) {
			return false, &fs.PathError{Op: "lstat", Path: e.name, Err: err}
		}
		w.changed = append(w.changed, sweptFile{i, 'D'})
		return false, nil
	}
	kind, have := e.mode()&typeBits, filemode.FileMode(w.st.Mode())&typeBits
	switch {
	case have == filemode.Dir && kind == filemode.Submodule:
		w.modules = append(w.modules, i)
	case have == filemode.Dir:
		w.changed = append(w.changed, sweptFile{i, 'D'})
		return false, nil
	case have != kind:
		w.changed = append(w.changed, sweptFile{i, 'T'})
	case kind == regularType && w.conf.fileMode && (filemode.FileMode(w.st.Mode())^e.mode())&0o100 != 0:
		w.changed = append(w.changed, sweptFile{i, 'M'})
	case e.size() != 0 && e.size() != uint32(w.st.Size()):
		w.changed = append(w.changed, sweptFile{i, 'M'}) // as git does, whatever filters would make of it
	case !e.same(&w.st) || w.index.racy(e):
		w.unsure = append(w.unsure, i)
	}
	return true, nil
}

const (
	typeBits    = 0o170000
	regularType = 0o100000
)

// same reports whether a file's stat data are those that were recorded.
func (e rawEntry) same(st *workspace.FileStat) bool {
	w := e.b[:entryHash:entryHash]
	word := func(i int) uint32 { return binary.BigEndian.Uint32(w[4*i:]) }
	sec, nsec := st.MTime()
	if uint32(sec) != word(2) || nsec != word(3) || word(9) != uint32(st.Size()) {
		return false
	}
	if st.Ino() == 0 { // not known on this system, and so is the rest
		return true
	}
	sec, nsec = st.CTime()
	uid, gid := st.Owner()
	return uint32(sec) == word(0) && nsec == word(1) && uint32(st.Ino()) == word(5) && uid == word(7) && gid == word(8)
}

// racyMargin is how much older than the index a file must be for its stat data
// to be believed, in nanoseconds: a change right after git has read the file
// may leave no trace in them. File systems count time in steps of up to 10 ms.
const racyMargin = 100e6

// written is when an index was written, as racy needs it. The zero value is not
// known.
type written struct{ sec, nsec, racy int64 }

func writtenAt(t time.Time) written {
	if t.IsZero() {
		return written{}
	}
	return written{t.Unix(), int64(t.Nanosecond()), t.UnixNano() - racyMargin}
}

// racy reports whether a file was changed so shortly before the index was
// written that it may have been changed again since without a trace.
func (x *rawIndex) racy(e rawEntry) bool {
	if x.written == (written{}) {
		return true
	}
	sec, nsec := int64(e.word(2)), int64(e.word(3))
	if nsec == 0 || x.written.nsec == 0 { // whole seconds are all that is known
		return sec >= x.written.sec
	}
	return sec*1e9+nsec > x.written.racy
}
