package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// maker makes files, one at a time.
type maker struct {
	w   *filling
	buf []byte

	dir  string  // of the file before
	open []level // the directories on the way there, the top first
}

// level is a directory that is open.
type level struct {
	name     string // its last element
	from, to dirHandle
	fromOK   bool // else From doesn't have it
}

func (l level) close() {
	l.to.close()
	if l.fromOK {
		l.from.close()
	}
}

// leave closes all directories but n.
func (m *maker) leave(n int) {
	for _, l := range m.open[n:] {
		l.close()
	}
	m.open = m.open[:n]
}

// enter opens the directory of a file, and makes what is missing of the way.
func (m *maker) enter(dir string) error {
	if len(m.open) == 0 {
		if err := m.enterTop(); err != nil {
			return err
		}
	}
	if m.dir == dir {
		return nil
	}
	m.dir = "" // until it is entered
	if dir == "" {
		m.leave(1)
		return nil
	}
	if !gitfile.ValidName(dir) {
		return fmt.Errorf("%w: malformed file name", gitfile.ErrCorrupt)
	}
	at := 1 // of the elements' levels
	for elem := range strings.SplitSeq(dir, "/") {
		if at < len(m.open) && m.open[at].name != elem {
			m.leave(at)
		}
		if at == len(m.open) {
			if err := m.enterBelow(elem); err != nil {
				return err
			}
		}
		at++
	}
	m.leave(at)
	m.dir = dir
	return nil
}

func (m *maker) enterTop() (err error) {
	l := level{}
	if l.to, err = openDirHandle(m.w.Dir); err != nil {
		return err
	}
	if m.w.From != "" {
		l.from, err = openDirHandle(m.w.From)
		l.fromOK = err == nil
	}
	m.open = append(m.open, l)
	return nil
}

// enterBelow enters a directory of the one that is open. It goes through no
// link.
func (m *maker) enterBelow(elem string) error {
	in, l := m.open[len(m.open)-1], level{name: elem}
	err := in.to.mkdir(elem)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if l.to, err = in.to.child(elem); err != nil {
		return err
	}
	if in.fromOK {
		l.from, err = in.from.child(elem)
		l.fromOK = err == nil
	}
	m.open = append(m.open, l)
	return nil
}

// split cuts a file's name off its directory's, which is "" at the top.
func split(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], name[i+1:]
}

// make makes the file of an entry that is wanted.
func (m *maker) make(i int) error {
	e, src := m.w.Want.Entries[i], m.w.sources[i]
	e.SkipWorktree, e.IntentToAdd = false, false
	dir, base := split(e.Name)
	if e.Mode == filemode.Submodule {
		dir, base = e.Name, ""
	}
	if err := m.enter(dir); err != nil {
		return err
	}
	in := &m.open[len(m.open)-1]
	switch e.Mode {
	case filemode.Submodule:
		e.CreatedAt, e.ModifiedAt, e.Dev, e.Inode, e.UID, e.GID, e.Size = time.Time{}, time.Time{}, 0, 0, 0, 0, 0
		return nil
	case filemode.Symlink:
		return m.link(e)
	case filemode.Regular, filemode.Executable:
	default:
		return gitfile.ErrCorrupt
	}
	if src != nil && in.fromOK && (src.Mode == filemode.Regular || src.Mode == filemode.Executable) {
		ok, err := m.copy(in, base, e, src)
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
	switch converted := m.w.Converted != nil && m.w.Converted(e.Name); {
	case !converted:
		data, err = m.w.r.Blob(e.Hash)
	case m.w.Smudge != nil:
		data, err = m.w.Smudge(e.Name, e.Hash)
	default:
		return ErrConversion
	}
	if err != nil {
		return err
	}
	m.w.decoded.Add(1)
	return in.write(base, e, data, m.w.past)
}

// link makes a symbolic link.
func (m *maker) link(e *gitindex.Entry) error {
	target, err := os.Readlink(filepath.Join(m.w.From, filepath.FromSlash(e.Name)))
	if m.w.From == "" || err != nil || object.HashBlob([]byte(target)) != e.Hash {
		data, err := m.w.r.Blob(e.Hash)
		if err != nil {
			return err
		}
		target = string(data)
	}
	to := filepath.Join(m.w.Dir, filepath.FromSlash(e.Name))
	if err := os.Symlink(target, to); err != nil {
		return err
	}
	info, err := os.Lstat(to)
	if err != nil {
		return err
	}
	index.SetStat(e, info)
	return nil
}

// pieceSize is how much of a file is copied at a time. Most are smaller.
const pieceSize = 512 << 10

// copy copies a file of the other tree, if it is as its index says: by its
// stat data, or, where they can't tell, by its bytes.
func (m *maker) copy(at *level, base string, e, src *gitindex.Entry) (bool, error) {
	in, err := at.from.open(base)
	if err != nil {
		return false, nil // the object has it
	}
	defer func() { _ = in.close() }() // it was only read from
	var now gitindex.Entry
	size, err := in.stat(&now)
	if err != nil || now.Mode == 0 || now.Size != src.Size {
		return false, nil
	}
	sure := index.SameStat(src, &now) && src.ModifiedAt.Unix() < m.w.Racy
	if !sure && (size > object.MaxSize || m.w.Converted != nil && m.w.Converted(e.Name)) {
		return false, nil
	}
	mtime := now.ModifiedAt
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
	n, err := in.read(buf, need)
	if err != nil || n < need {
		return false, nil
	}
	if int64(n) == size && n < len(buf) { // all of it
		if !sure && object.HashBlob(buf[:n]) != e.Hash {
			return false, nil
		}
		return true, at.write(base, e, buf[:n], mtime)
	}
	if !sure {
		return false, nil // it has grown
	}
	return true, at.writeFrom(base, e, mtime, func(out fileHandle) error {
		total := int64(0)
		for n > 0 {
			total += int64(n)
			if err := out.write(buf[:n]); err != nil {
				return err
			}
			if n, err = in.read(buf, len(buf)); err != nil {
				return err
			}
		}
		if total != size {
			return fmt.Errorf("it was changed while it was copied")
		}
		return nil
	})
}

func (l *level) write(base string, e *gitindex.Entry, data []byte, mtime time.Time) error {
	return l.writeFrom(base, e, mtime, func(out fileHandle) error { return out.write(data) })
}

// writeFrom makes a file of what f writes.
func (l *level) writeFrom(base string, e *gitindex.Entry, mtime time.Time, f func(fileHandle) error) error {
	perm := uint32(0o666)
	if e.Mode == filemode.Executable {
		perm = 0o777
	}
	out, err := l.to.create(base, perm)
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
