package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Lower is the files that a CopyOnWrite begins with. They never change. Their
// names are sorted by bytes, and directories come with what is in them. It is
// safe for concurrent use.
type Lower interface {
	Len() int
	Name(i int) string
	Mode(i int) fs.FileMode // of a regular file, a link, or a directory that is empty
	Info(i int) (size int64, mtime time.Time, err error)
	Readlink(i int) (string, error)

	// Reader returns a LowerReader for one goroutine, who closes it.
	Reader() LowerReader
}

// LowerReader reads regular files of a Lower.
type LowerReader interface {
	// Read appends the file's bytes to buf[:0]. It fails with ErrTooLarge above
	// MaxFileSize.
	Read(i int, buf []byte) ([]byte, error)
	Close()
}

// Taken knows which files of a Lower the upper directory has taken over, for
// good: changed, deleted or left as they were. It is safe for concurrent use.
type Taken interface {
	// Names returns the names that were taken over. ok is false when there is no
	// lower any more, because the upper directory has everything.
	Names() (names map[string]bool, ok bool, err error)

	// Take takes over more, so that a crash doesn't undo it.
	Take(names []string) error

	// Lock keeps others, in other processes too, from changing what is taken
	// over, and the directory from being filled.
	Lock(ctx context.Context) (unlock func(), err error)
}

// CopyOnWrite is a View of a directory that has only what was changed: all
// else is read from lower. A file of lower is seen until it is taken over;
// whatever the directory has under its name doesn't count before. Directories
// of lower stay, as those of a disk do when their last file goes.
type CopyOnWrite struct {
	upper *Disk
	taken Taken
	lower func() (Lower, error)

	mu sync.Mutex // held by Apply
}

// NewCopyOnWrite returns the view of upper, which has one folder without a
// name. lower is called when it is first needed, and again after an error.
func NewCopyOnWrite(upper *Disk, taken Taken, lower func() (Lower, error)) *CopyOnWrite {
	return &CopyOnWrite{upper: upper, taken: taken, lower: cached(lower)}
}

// cached remembers what load returned without an error.
func cached(load func() (Lower, error)) func() (Lower, error) {
	var mu sync.Mutex
	var have Lower
	return func() (Lower, error) {
		mu.Lock()
		defer mu.Unlock()
		if have != nil {
			return have, nil
		}
		l, err := load()
		if err == nil {
			have = l
		}
		return l, err
	}
}

// Load gets lower ready, which the first call would have to wait for.
func (v *CopyOnWrite) Load() error {
	_, err := v.now()
	return err
}

// now returns the layers as they are, nil when all is in the upper one.
func (v *CopyOnWrite) now() (*layers, error) {
	names, ok, err := v.taken.Names()
	if !ok || err != nil {
		return nil, err
	}
	lower, err := v.lower()
	if err != nil {
		return nil, err
	}
	return &layers{v.upper, &v.upper.folders[0], lower, names}, nil
}

// at returns the layers, and a name with its links resolved.
func (v *CopyOnWrite) at(op, name string) (l *layers, real string, err error) {
	if _, _, err = v.upper.locate(name); err == nil {
		l, err = v.now()
	}
	if l != nil && err == nil {
		real, err = l.resolve(name)
	}
	if err != nil {
		return nil, "", pathError(op, name, err)
	}
	return l, real, nil
}

// Open implements fs.FS.
func (v *CopyOnWrite) Open(name string) (fs.File, error) {
	l, real, err := v.at("open", name)
	switch {
	case err != nil:
		return nil, err
	case l == nil:
		return v.upper.Open(name)
	}
	info, err := v.Stat(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: underlying(err)}
	}
	if info.IsDir() {
		entries, err := v.ReadDir(name)
		return &listedDir{info: info, entries: entries}, err
	}
	if i, ok := l.file(real); ok {
		data, err := l.read(i)
		if err != nil {
			return nil, pathError("open", name, err)
		}
		return &layeredFile{Reader: bytes.NewReader(data), info: info}, nil
	}
	return v.upper.Open(real)
}

// ReadFile implements fs.ReadFileFS.
func (v *CopyOnWrite) ReadFile(name string) ([]byte, error) {
	l, real, err := v.at("read", name)
	switch {
	case err != nil:
		return nil, err
	case l == nil:
		return v.upper.ReadFile(name)
	}
	data, err := l.readFile(real)
	if err != nil {
		return nil, pathError("read", name, err)
	}
	return data, nil
}

// Stat implements fs.StatFS.
func (v *CopyOnWrite) Stat(name string) (fs.FileInfo, error) {
	l, real, err := v.at("stat", name)
	switch {
	case err != nil:
		return nil, err
	case l == nil:
		return v.upper.Stat(name)
	}
	var info fs.FileInfo
	if i, ok := l.file(real); ok {
		info, err = l.info(i)
	} else if l.isDir(real) {
		return virtualDir(path.Base(name)), nil
	} else if err = l.checkParents(real); err == nil {
		info, err = v.upper.Stat(real)
	}
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return named{info, path.Base(name)}, nil
}

// ReadDir implements fs.ReadDirFS.
func (v *CopyOnWrite) ReadDir(name string) ([]fs.DirEntry, error) {
	l, real, err := v.at("readdir", name)
	switch {
	case err != nil:
		return nil, err
	case l == nil:
		return v.upper.ReadDir(name)
	}
	if _, ok := l.file(real); ok {
		err = syscall.ENOTDIR
	} else {
		err = l.checkParents(real)
	}
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	entries, err := v.upper.ReadDir(real)
	if !l.isDir(real) {
		if err != nil {
			err = pathError("readdir", name, err)
		}
		return entries, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return l.has(child(real, e.Name())) })
	entries = append(entries, l.list(real)...)
	slices.SortFunc(entries, byName)
	return entries, nil
}

// Ignored implements Files.
func (v *CopyOnWrite) Ignored(name string, dir bool) bool {
	_, rel, err := v.upper.locate(name)
	if err != nil || rel == "." {
		return false
	}
	l, err := v.now()
	if err != nil {
		return false
	}
	if l == nil {
		return v.upper.Ignored(name, dir)
	}
	return ignoredBelow(l.folder.rootRules(), l.readLinked, rel, dir)
}

// Resolve implements Files.
func (v *CopyOnWrite) Resolve(given string) (string, error) {
	name, err := v.upper.Resolve(given)
	if errors.Is(err, fs.ErrInvalid) && strings.Contains(given, `\`) {
		// The disk knows only its own names with a backslash.
		if l, _ := v.now(); l != nil && fs.ValidPath(path.Clean(given)) && l.has(path.Clean(given)) {
			return path.Clean(given), nil
		}
	}
	if err != nil {
		return name, err
	}
	return v.spelled(name), nil
}

// Folding implements Files. All that is lower's may be in the directory one day.
func (v *CopyOnWrite) Folding(dir string) Folding { return v.upper.Folding(dir) }

// spelled returns a name as lower, or else the directory, has it.
func (v *CopyOnWrite) spelled(name string) string {
	if name == "." || !v.upper.folders[0].spelled.vary() {
		return name
	}
	l, err := v.now()
	switch {
	case err != nil:
		return name
	case l == nil:
		return v.upper.spelled(name)
	}
	done, rest := ".", strings.Split(name, "/")
	for len(rest) > 0 {
		dir, err := l.resolve(done)
		if err != nil {
			break
		}
		base, ok := l.in(dir, rest[0])
		if !ok {
			break
		}
		done, rest = child(done, base), rest[1:]
	}
	return path.Join(append([]string{done}, rest...)...)
}

// RealName implements Files.
func (v *CopyOnWrite) RealName(name string) (string, error) {
	if _, _, err := v.upper.locate(name); err != nil {
		return name, err
	}
	l, err := v.now()
	if err != nil {
		return name, err
	}
	if l == nil {
		return v.upper.RealName(name)
	}
	real, err := l.resolve(v.spelled(name))
	if err != nil {
		return name, err
	}
	return v.spelled(real), nil
}

// Abs implements Files. There is a file only once it was taken over.
func (v *CopyOnWrite) Abs(name string) string { return v.upper.Abs(name) }

// Base implements Files: the disk has only a part of the files.
func (v *CopyOnWrite) Base() (*Disk, []string) {
	if _, ok, err := v.taken.Names(); ok || err != nil {
		return nil, nil
	}
	return v.upper.Base()
}
