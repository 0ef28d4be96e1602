package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Snapshot is the files of an index without a directory that has them. What a
// working tree still has, by its index's stat data, is read there, and all
// else from the objects: later edits of that tree don't show through. It
// implements workspace.Lower.
type Snapshot struct {
	r         *gitrepo.Repo
	ctx       context.Context // of the git command, where files need it
	from      string
	racy      int64
	made      time.Time
	entries   []*gitindex.Entry
	sources   []*gitindex.Entry
	converted func(name string) bool
	cut       int // length of what all names begin with and is not shown
}

// SnapshotOptions say where a snapshot finds its files.
type SnapshotOptions struct {
	Below     string // only what is below this directory, "." for all
	From      string // a working tree, as for Fill
	FromIndex *index.Index
	Racy      int64
	Converted func(name string) bool // as for Fill
	Made      time.Time              // the time of files whose own is not known
}

// NewSnapshot returns the files of x, which must not be changed any more.
func NewSnapshot(ctx context.Context, r *gitrepo.Repo, x *index.Index, o SnapshotOptions) *Snapshot {
	s := &Snapshot{r: r, ctx: ctx, from: o.From, racy: o.Racy, made: o.Made, entries: x.Entries, converted: o.Converted}
	if o.FromIndex != nil {
		s.sources = sources(x.Entries, o.FromIndex.Entries)
	} else {
		s.sources = make([]*gitindex.Entry, len(x.Entries))
	}
	if o.Below != "." {
		at := func(name string) int {
			return sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Name >= name })
		}
		lo, hi := at(o.Below+"/"), at(o.Below+"0") // what follows the slash
		s.entries, s.sources, s.cut = s.entries[lo:hi], s.sources[lo:hi], len(o.Below)+1
	}
	return s
}

// Len implements workspace.Lower.
func (s *Snapshot) Len() int { return len(s.entries) }

// Name implements workspace.Lower.
func (s *Snapshot) Name(i int) string { return s.entries[i].Name[s.cut:] }

// Mode implements workspace.Lower.
func (s *Snapshot) Mode(i int) fs.FileMode {
	switch s.entries[i].Mode {
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	case filemode.Submodule:
		return fs.ModeDir | 0o755
	case filemode.Executable:
		return 0o755
	}
	return 0o644
}

// Info implements workspace.Lower.
func (s *Snapshot) Info(i int) (size int64, mtime time.Time, err error) {
	// git writes no size for a file that it must compare.
	if src := s.sources[i]; src != nil && src.Size > 0 && src.Mode != filemode.Symlink {
		return int64(src.Size), src.ModifiedAt, nil
	}
	data, err := s.object(i)
	return int64(len(data)), s.made, err
}

// Readlink implements workspace.Lower.
func (s *Snapshot) Readlink(i int) (string, error) {
	e := s.entries[i]
	if s.from != "" {
		target, err := os.Readlink(filepath.Join(s.from, filepath.FromSlash(e.Name)))
		if err == nil && object.HashBlob([]byte(target)) == e.Hash {
			return target, nil
		}
	}
	data, err := s.r.Blob(e.Hash)
	return string(data), err
}

// object reads a file as git would write it.
func (s *Snapshot) object(i int) ([]byte, error) {
	e := s.entries[i]
	if e.Mode != filemode.Symlink && s.converted != nil && s.converted(e.Name) {
		return Smudged(s.ctx, s.r, e.Name, e.Hash)
	}
	return s.r.Blob(e.Hash)
}

// Reader implements workspace.Lower.
func (s *Snapshot) Reader() workspace.LowerReader { return &snapshotReader{s: s} }

// snapshotReader keeps the directory open that was used last.
type snapshotReader struct {
	s    *Snapshot
	path string
	dir  dirHandle
	open bool
}

// Close implements workspace.LowerReader.
func (r *snapshotReader) Close() {
	if r.open {
		r.dir.close()
		r.open = false
	}
}

// Read implements workspace.LowerReader.
func (r *snapshotReader) Read(i int, buf []byte) ([]byte, error) {
	if data, ok := r.fromTree(i, buf); ok {
		return data, nil
	}
	src := r.s.sources[i]
	if src != nil && src.Size > workspace.MaxFileSize {
		return buf[:0], workspace.ErrTooLarge
	}
	data, err := r.s.object(i)
	if err != nil {
		return buf[:0], fmt.Errorf("%s: %w", r.s.entries[i].Hash, err)
	}
	if len(data) > workspace.MaxFileSize {
		return buf[:0], workspace.ErrTooLarge
	}
	return append(buf[:0], data...), nil
}

// fromTree reads a file of the working tree, if it is still the one. Its stat
// data are asked for after its bytes: whatever was written before or meanwhile
// shows in them.
func (r *snapshotReader) fromTree(i int, buf []byte) ([]byte, bool) {
	e, src := r.s.entries[i], r.s.sources[i]
	if src == nil || src.Mode == filemode.Symlink || src.Size == 0 || src.Size > workspace.MaxFileSize || !r.enter(path.Dir(e.Name)) {
		return nil, false
	}
	f, err := r.dir.open(path.Base(e.Name))
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.close() }() // it was only read from
	size := int(src.Size)
	if cap(buf) < size {
		buf = make([]byte, max(size, 2*cap(buf)))
	}
	buf = buf[:size]
	if n, err := f.read(buf, size); err != nil || n != size {
		return nil, false
	}
	var now gitindex.Entry
	if _, err := f.stat(&now); err != nil || now.Size != src.Size {
		return nil, false
	}
	now.Mode = src.Mode // who may run it is not its content
	if index.SameStat(src, &now) && src.ModifiedAt.Unix() < r.s.racy {
		return buf, true
	}
	if r.s.converted != nil && r.s.converted(e.Name) {
		return nil, false
	}
	return buf, object.HashBlob(buf) == e.Hash
}

// enter opens a directory of the working tree.
func (r *snapshotReader) enter(dir string) bool {
	if r.open && r.path == dir {
		return true
	}
	r.Close()
	h, err := openDirHandle(filepath.Join(r.s.from, filepath.FromSlash(dir)))
	if err != nil {
		return false
	}
	r.dir, r.path, r.open = h, dir, true
	return true
}
