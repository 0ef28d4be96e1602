package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"
)

// maker makes files, one at a time.
type maker struct {
	w   *filling
	buf []byte

	dir      string // of the file before, whose directories are open
	from, to dirHandle
	fromOK   bool // from is open; else From doesn't have the directory
	toOK     bool
}

func (m *maker) close() {
	if m.fromOK {
		m.from.close()
	}
	if m.toOK {
		m.to.close()
	}
	m.fromOK, m.toOK = false, false
}

// enter opens the directories of a file.
func (m *maker) enter(dir string) (err error) {
	if m.toOK && m.dir == dir {
		return nil
	}
	m.close()
	m.dir = dir
	if m.to, err = openDirHandle(filepath.Join(m.w.Dir, filepath.FromSlash(dir))); err != nil {
		return err
	}
	m.toOK = true
	if m.w.From != "" {
		m.from, err = openDirHandle(filepath.Join(m.w.From, filepath.FromSlash(dir)))
		m.fromOK = err == nil
	}
	return nil
}

// make makes the file of an entry that is wanted.
func (m *maker) make(i int) error {
	e, src := &m.w.Want.Entries[i], m.w.sources[i]
	e.SkipWorktree, e.IntentToAdd = false, false
	switch e.Mode {
	case modeSubmodule:
		e.CTime, e.MTime, e.Dev, e.Ino, e.UID, e.GID, e.Size = time.Time{}, time.Time{}, 0, 0, 0, 0, 0
		return nil
	case modeLink:
		return m.link(e)
	case modeFile, modeExec:
	default:
		return ErrCorrupt
	}
	if err := m.enter(path.Dir(e.Path)); err != nil {
		return err
	}
	if src != nil && m.fromOK && (src.Mode == modeFile || src.Mode == modeExec) {
		ok, err := m.copy(e, src)
		if err != nil {
			return err
		}
		if ok {
			m.w.copied.Add(1)
			return nil
		}
	}
	var data []byte
	var err error
	switch converted := m.w.Converted != nil && m.w.Converted(e.Path); {
	case !converted:
		data, err = m.w.r.Blob(e.OID)
	case m.w.Smudge != nil:
		data, err = m.w.Smudge(e.Path, e.OID)
	default:
		return ErrConversion
	}
	if err != nil {
		return err
	}
	m.w.decoded.Add(1)
	return m.write(e, data, m.w.past)
}

// link makes a symbolic link.
func (m *maker) link(e *IndexEntry) error {
	target, err := os.Readlink(filepath.Join(m.w.From, filepath.FromSlash(e.Path)))
	if m.w.From == "" || err != nil || HashBlob([]byte(target)) != e.OID {
		data, err := m.w.r.Blob(e.OID)
		if err != nil {
			return err
		}
		target = string(data)
	}
	to := filepath.Join(m.w.Dir, filepath.FromSlash(e.Path))
	if err := os.Symlink(target, to); err != nil {
		return err
	}
	info, err := os.Lstat(to)
	if err != nil {
		return err
	}
	e.setStat(info)
	return nil
}

// pieceSize is how much of a file is copied at a time. Most are smaller.
const pieceSize = 512 << 10

// copy copies a file of the other tree, if it is as its index says: by its
// stat data, or, where they can't tell, by its bytes.
func (m *maker) copy(e, src *IndexEntry) (bool, error) {
	in, err := m.from.open(path.Base(e.Path))
	if err != nil {
		return false, nil // the object has it
	}
	defer func() { _ = in.close() }() // it was only read from
	var now IndexEntry
	size, err := in.stat(&now)
	if err != nil || now.Mode == 0 || now.Size != src.Size {
		return false, nil
	}
	sure := src.sameStat(&now) && src.MTime.Unix() < m.w.Racy
	if !sure && (size > maxObject || m.w.Converted != nil && m.w.Converted(e.Path)) {
		return false, nil
	}
	mtime := now.MTime
	if mtime.After(m.w.past) {
		mtime = m.w.past
	}
	need := int(min(size, pieceSize))
	if !sure {
		need = int(size)
	}
	if cap(m.buf) < need+1 {
		m.buf = make([]byte, max(need, pieceSize)+1)
	}
	buf := m.buf[:need+1] // one more, to see that it ends there
	n, err := in.read(buf)
	if err != nil || int64(n) < size && n < len(buf) {
		return false, nil
	}
	if int64(n) <= size && n < len(buf) { // all of it
		if !sure && HashBlob(buf[:n]) != e.OID {
			return false, nil
		}
		return true, m.write(e, buf[:n], mtime)
	}
	if !sure {
		return false, nil // it has grown
	}
	return true, m.writeFrom(e, mtime, func(out fileHandle) error {
		total := int64(0)
		for n > 0 {
			total += int64(n)
			if err := out.write(buf[:n]); err != nil {
				return err
			}
			if n, err = in.read(buf); err != nil {
				return err
			}
		}
		if total != size {
			return fmt.Errorf("it was changed while it was copied")
		}
		return nil
	})
}

func (m *maker) write(e *IndexEntry, data []byte, mtime time.Time) error {
	return m.writeFrom(e, mtime, func(out fileHandle) error { return out.write(data) })
}

// writeFrom makes a file of what f writes.
func (m *maker) writeFrom(e *IndexEntry, mtime time.Time, f func(fileHandle) error) error {
	perm := uint32(0o666)
	if e.Mode == modeExec {
		perm = 0o777
	}
	out, err := m.to.create(path.Base(e.Path), perm)
	if err != nil {
		return err
	}
	err = f(out)
	if err == nil {
		err = out.date(mtime)
	}
	mode := e.Mode
	if err == nil {
		_, err = out.stat(e)
	}
	e.Mode = mode // as git has it, whatever the file system can keep
	return errors.Join(err, out.close())
}
