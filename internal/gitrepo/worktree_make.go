package gitrepo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// maker makes files, one at a time.
type maker struct {
	w   *filling
	buf []byte
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
	if src != nil && (src.Mode == modeFile || src.Mode == modeExec) {
		ok, err := m.copy(e, src)
		if err != nil {
			return err
		}
		if ok {
			m.w.copied.Add(1)
			return nil
		}
	}
	if m.w.Converted != nil && m.w.Converted(e.Path) {
		return ErrConversion
	}
	data, err := m.w.r.Blob(e.OID)
	if err != nil {
		return err
	}
	m.w.decoded.Add(1)
	return m.write(e, m.w.past, func(out *os.File) error { _, err := out.Write(data); return err })
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

// bufSize is the size up to which a file is copied through memory, which costs
// least for small ones.
const bufSize = 256 << 10

// copy copies a file of the other tree, if it is as its index says: by its
// stat data, or, where they can't tell, by its bytes.
func (m *maker) copy(e, src *IndexEntry) (bool, error) {
	in, err := os.OpenFile(filepath.Join(m.w.From, filepath.FromSlash(e.Path)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil // the object has it
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() || uint32(info.Size()) != src.Size {
		return false, nil
	}
	sure := src.unchanged(info) && src.MTime.Unix() < m.w.Racy
	if !sure && (info.Size() > maxObject || m.w.Converted != nil && m.w.Converted(e.Path)) {
		return false, nil
	}
	mtime := info.ModTime()
	if mtime.After(m.w.past) {
		mtime = m.w.past
	}
	if sure && info.Size() > bufSize {
		return true, m.write(e, mtime, func(out *os.File) error {
			n, err := io.Copy(out, in) // in the kernel
			if err == nil && n != info.Size() {
				err = errors.New("it was changed while it was copied")
			}
			return err
		})
	}
	if size := int(info.Size()); cap(m.buf) < size+1 {
		m.buf = make([]byte, max(size+1, bufSize+1))
	}
	data := m.buf[:info.Size()+1] // one more, to see that it ends there
	n, err := io.ReadFull(in, data)
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) || int64(n) != info.Size() {
		return false, nil
	}
	data = data[:n]
	if !sure && HashBlob(data) != e.OID {
		return false, nil
	}
	return true, m.write(e, mtime, func(out *os.File) error { _, err := out.Write(data); return err })
}

// write makes a file of f's bytes.
func (m *maker) write(e *IndexEntry, mtime time.Time, f func(*os.File) error) error {
	perm := fs.FileMode(0o666)
	if e.Mode == modeExec {
		perm = 0o777
	}
	out, err := os.OpenFile(filepath.Join(m.w.Dir, filepath.FromSlash(e.Path)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if err := f(out); err != nil {
		return errors.Join(err, out.Close())
	}
	if err := setMTime(out, mtime); err != nil {
		return errors.Join(err, out.Close())
	}
	info, err := out.Stat()
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	e.setStat(info)
	return nil
}
