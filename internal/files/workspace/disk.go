package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Folder is a root of a workspace.
type Folder struct {
	Name string // first segment of names when there are several roots
	Dir  string // absolute, clean path of the operating system
}

// DiskOptions has a useful zero value.
type DiskOptions struct {
	// StateDir is an absolute directory, outside of what tools may write, for
	// the journal of changes under way. Without it each file is still changed
	// atomically, but a crash may leave some of several files unchanged.
	StateDir string

	// Prepare, when set, is called before StateDir is made, and may refuse that.
	Prepare func() error

	// Exclude is a file with more ignore rules for the roots, in the place of
	// .git/info/exclude: a linked working tree has that of its repository.
	Exclude string

	// Ignores, when set, knows the user's own ignore file: git's settings may name
	// another one than UserIgnore.
	Ignores Ignores

	// Folding, when set, says what the file system does with the spellings of names
	// in a directory, instead of trying it out. It is for tests.
	Folding func(dir string) Folding

	// Fail, when set, is called with the name of a step before and after it,
	// and makes the step fail with the error it returns. It is for tests.
	Fail func(point string) error
}

// Disk is the bottom View: the files of one or several roots. Nothing leads
// out of a root, because every access goes through its os.Root.
type Disk struct {
	folders []folder
	opts    DiskOptions
	system  string // whose rules for names hold

	inner inner // folders that lie in others

	mu sync.Mutex // held by Apply and Recover

	keeps func(dir string) bool // of a directory: no file may take its place; nil: what is in it tells
}

// folder is an open root.
type folder struct {
	Folder
	real string // Dir with its links resolved
	root *os.Root
	dir  *os.File // the root itself, to look names up from

	spelled *spellings

	exclude string  // DiskOptions.Exclude
	ignores Ignores // DiskOptions.Ignores
}

// OpenDisk opens the roots. Their names must differ and be single segments;
// the name of a sole root may be empty.
func OpenDisk(folders []Folder, opts DiskOptions) (*Disk, error) {
	if len(folders) == 0 {
		return nil, errors.New("a workspace needs a folder")
	}
	d := &Disk{opts: opts, system: runtime.GOOS}
	for _, f := range folders {
		if err := d.add(f); err != nil {
			d.Close()
			return nil, err
		}
	}
	d.inner = innerOf(d.folders)
	return d, nil
}

func (d *Disk) add(f Folder) error {
	if !filepath.IsAbs(f.Dir) {
		return fmt.Errorf("folder %q: its path must be absolute", f.Dir)
	}
	f.Dir = filepath.Clean(f.Dir)
	taken := func(have folder) bool { return have.Name == f.Name }
	if len(d.folders) > 0 && slices.ContainsFunc(d.folders, taken) {
		return fmt.Errorf("folder %q: another one has the same name", f.Name)
	}
	if f.Name != "" && !validSegment(f.Name) || f.Name == "" && len(d.folders) > 0 {
		return fmt.Errorf("folder %q: its name must be one path segment", f.Name)
	}
	real, err := filepath.EvalSymlinks(f.Dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return err
	}
	dir, err := root.Open(".")
	if err != nil {
		return errors.Join(err, root.Close())
	}
	d.folders = append(d.folders, folder{
		Folder: f, real: real, root: root, dir: dir, exclude: d.opts.Exclude, ignores: d.opts.Ignores,
		spelled: &spellings{root: root, system: d.system, probe: d.opts.Folding},
	})
	return nil
}

// validSegment reports whether name is one valid path segment.
func validSegment(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, "/")
}

// Close closes the roots. Files that are open stay readable.
func (d *Disk) Close() error {
	var errs []error
	for _, f := range d.folders {
		errs = append(errs, f.dir.Close(), f.root.Close())
	}
	return errors.Join(errs...)
}

// Folders returns the roots in their order.
func (d *Disk) Folders() []Folder {
	out := make([]Folder, len(d.folders))
	for i, f := range d.folders {
		out[i] = f.Folder
	}
	return out
}

// locate returns the root that holds name, and name relative to that root.
// With several roots, "." lies above them all: f is then nil.
func (d *Disk) locate(name string) (f *folder, rel string, err error) {
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return nil, "", fs.ErrInvalid
	}
	if err := checkSegments(d.system, name); err != nil {
		return nil, "", err
	}
	if len(d.folders) == 1 {
		return &d.folders[0], name, nil
	}
	if name == "." {
		return nil, ".", nil
	}
	first, rest, _ := strings.Cut(d.inner.most(name), "/")
	for i := range d.folders {
		if d.folders[i].Name == first {
			if rest == "" {
				rest = "."
			}
			return &d.folders[i], rest, nil
		}
	}
	return nil, "", fs.ErrNotExist
}

// Abs returns the operating system's path of name.
func (d *Disk) Abs(name string) string {
	f, rel, err := d.locate(name)
	if err != nil || f == nil {
		return d.folders[0].Dir
	}
	return filepath.Join(f.Dir, filepath.FromSlash(rel))
}

// Base implements Files: nothing lies over the disk.
func (d *Disk) Base() (*Disk, []string) { return d, nil }

// Open opens a regular file or a directory for reading. Anything else fails
// with ErrSpecial, and opening never waits for the other end of a pipe.
func (d *Disk) Open(name string) (fs.File, error) {
	f, rel, err := d.locate(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	if f == nil {
		return &listedDir{info: virtualDir("."), entries: d.rootEntries()}, nil
	}
	file, info, err := openRead(f.root, rel)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	if info.IsDir() {
		return dirFile{file, name}, nil
	}
	return file, nil
}

// openRead opens a regular file or directory without ever blocking.
func openRead(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	file, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = ErrSpecial
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// ReadFile returns the content of a regular file, ErrTooLarge above
// MaxFileSize.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	f, rel, err := d.locate(name)
	if err == nil && f == nil {
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, pathError("read", name, err)
	}
	data, err := f.readQuickly(rel)
	if err != nil {
		data, err = readRegular(f.root, rel)
	}
	if err != nil {
		return nil, pathError("read", name, err)
	}
	return data, nil
}

// readRegular reads a whole file.
func readRegular(root *os.Root, rel string) ([]byte, error) {
	file, info, err := openRead(root, rel)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.IsDir() {
		return nil, syscall.EISDIR
	}
	return readBounded(file, info.Size())
}

// readBounded reads to the end of r. The size is a hint only: a file may grow
// while it is read, and some say that they are empty.
func readBounded(r io.Reader, size int64) ([]byte, error) {
	if size > MaxFileSize {
		return nil, ErrTooLarge
	}
	buf := make([]byte, 0, max(size, 0)+512)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > MaxFileSize {
			return nil, ErrTooLarge
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(cap(buf), MaxFileSize+1-len(buf)))
		}
	}
}

// Stat follows links that stay inside the root.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	f, rel, err := d.locate(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	if f == nil {
		return virtualDir("."), nil
	}
	info, err := f.root.Stat(rel)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return named{info, path.Base(name)}, nil
}

// ReadDir lists a directory in the order of its names.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	f, rel, err := d.locate(name)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	if f == nil {
		return d.rootEntries(), nil
	}
	file, info, err := openRead(f.root, rel)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	defer file.Close()
	if !info.IsDir() {
		return nil, pathError("readdir", name, syscall.ENOTDIR)
	}
	entries, err := file.ReadDir(-1)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

func byName(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }

// rootEntries lists the roots as directories.
func (d *Disk) rootEntries() []fs.DirEntry {
	var out []fs.DirEntry
	for _, f := range d.folders {
		var info fs.FileInfo = virtualDir(f.Name)
		if stat, err := f.root.Stat("."); err == nil {
			info = named{stat, f.Name}
		}
		out = append(out, fs.FileInfoToDirEntry(info))
	}
	slices.SortFunc(out, byName)
	return out
}

// pathError gives err the name that the caller used, and turns os.Root's
// refusal, which has no name, into ErrOutside.
func pathError(op, name string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	if err.Error() == "path escapes from parent" {
		err = ErrOutside
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
