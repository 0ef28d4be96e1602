//go:build !linux

package workspace

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
)

// Elsewhere a walk opens everything below its root by path.

// dirHandle is a directory inside a root.
type dirHandle struct {
	root *os.Root
	rel  string
}

// openRootDir names a directory inside root for a walk.
func openRootDir(root *os.Root, rel string) (dirHandle, error) {
	return dirHandle{root, rel}, nil
}

func (h dirHandle) close() {}

// isLocal is not known here.
func (h dirHandle) isLocal() bool { return false }

func (h dirHandle) join(name []byte) string {
	return path.Join(h.rel, string(bytes.TrimSuffix(name, []byte{0})))
}

// openDir names a subdirectory, which must not be a link. The name is
// terminated by NUL.
func (h dirHandle) openDir(name []byte) (dirHandle, error) {
	if h.kind(name) != dirKind {
		return dirHandle{}, fs.ErrNotExist
	}
	return dirHandle{h.root, h.join(name)}, nil
}

// list writes all entries of the directory over buf: a byte for the kind, then
// the name and NUL.
func (h dirHandle) list(buf []byte) (list []byte, more bool, err error) {
	buf = buf[:0]
	f, err := h.root.Open(h.rel)
	if err != nil {
		return buf, false, err
	}
	defer f.Close()
	found, err := f.ReadDir(-1)
	for _, e := range found {
		buf = append(buf, byte(kindOf(e.Type())))
		buf = append(buf, e.Name()...)
		buf = append(buf, 0)
	}
	return buf, false, err
}

func (h dirHandle) kind(name []byte) entryKind {
	info, err := h.root.Lstat(h.join(name))
	if err != nil {
		return otherKind
	}
	return kindOf(info.Mode().Type())
}

// stat tells how a file is now.
func (h dirHandle) stat(name []byte) (Stamp, error) {
	info, linked, err := lstatLinked(h.root, h.join(name))
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{Size: info.Size(), Mtime: info.ModTime().UnixNano(), Linked: linked}, nil
}

func kindOf(t fs.FileMode) entryKind {
	switch t {
	case 0:
		return fileKind
	case fs.ModeDir:
		return dirKind
	}
	return otherKind
}

// readFile appends a regular file to buf[:0].
func (h dirHandle) readFile(name, buf []byte, limit int) ([]byte, error) {
	if h.kind(name) != fileKind {
		return buf[:0], ErrSpecial
	}
	f, _, err := openRead(h.root, h.join(name))
	if err != nil {
		return buf[:0], err
	}
	defer f.Close()
	b := bytes.NewBuffer(buf[:0])
	if _, err := b.ReadFrom(io.LimitReader(f, int64(limit)+1)); err != nil {
		return b.Bytes(), err
	}
	if b.Len() > limit {
		return buf[:0], ErrTooLarge
	}
	return b.Bytes(), nil
}

// readAt is Entry.ReadAt of a regular file.
func (h dirHandle) readAt(name, buf []byte, off int64) error {
	if h.kind(name) != fileKind {
		return ErrSpecial
	}
	f, _, err := openRead(h.root, h.join(name))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.ReadFull(io.NewSectionReader(f, off, int64(len(buf))), buf)
	return err
}

// scanFile is Entry.Scan of a file.
func (h dirHandle) scanFile(name, buf []byte, piece func([]byte, bool) bool) error {
	if h.kind(name) != fileKind {
		return ErrSpecial
	}
	f, _, err := openRead(h.root, h.join(name))
	if err != nil {
		return err
	}
	defer f.Close()
	return scanPieces(func(buf []byte) (int, error) {
		n, err := io.ReadFull(f, buf)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		return n, err
	}, buf, piece)
}

// readExclude reads .git/info/exclude of a repository with its own directory.
func (h dirHandle) readExclude() ([]byte, error) {
	return dirHandle{h.root, path.Join(h.rel, ".git/info")}.readFile([]byte("exclude"), nil, maxIgnoreFile)
}

// entries goes through what list returned.
type entries struct{ raw []byte }

// next returns the next name, terminated by NUL, or nil.
func (e *entries) next() ([]byte, entryKind) {
	if len(e.raw) == 0 {
		return nil, otherKind
	}
	kind, rest := entryKind(e.raw[0]), e.raw[1:]
	end := bytes.IndexByte(rest, 0) + 1
	e.raw = rest[end:]
	return rest[:end], kind
}
