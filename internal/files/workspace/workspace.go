// Package workspace is the files of a project as tools see them: a View that
// is read through and applied to, layered from the disk upwards. It knows
// neither tools nor LSP nor who asks.
package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
)

// Files is the read side of a view. Names are slash-separated and relative to
// the view (fs.ValidPath); with several roots the first segment is the name of
// the root. Every method is safe for concurrent use.
type Files interface {
	Reader
	Walker
	Paths

	// Base returns the disk that the view ends at, nil if there is none, and
	// the names that lie over it, sorted: those of files that the view shows
	// otherwise than the disk has them, or hides.
	Base() (disk *Disk, over []string)
}

// Reader reads files.
type Reader interface {
	fs.StatFS
	fs.ReadFileFS
	fs.ReadDirFS
}

// Walker finds files.
type Walker interface {
	// Walk visits the regular files below opts.Dir, each once, from several
	// goroutines at a time and in no particular order. It returns the first
	// error of visit (fs.SkipAll ends the walk without an error) or ctx.Err().
	// What can't be read is skipped.
	Walk(ctx context.Context, opts WalkOptions, visit func(*Entry) error) error

	// Ignored reports whether the ignore rules leave name out of a walk.
	Ignored(name string, dir bool) bool
}

// Paths relates the names of a view to what callers write and programs see.
type Paths interface {
	// Resolve turns a path as a caller wrote it (relative, or absolute inside
	// a root) into a name of this view. It fails with ErrOutside or, for a
	// name that no file can have, fs.ErrInvalid.
	Resolve(path string) (string, error)

	// RealName returns name with its links resolved, whether or not there is a
	// file at the end, for whoever judges where a name leads. It fails with
	// ErrOutside for a link out of the workspace.
	//
	// Where several spellings lead to one file, Resolve and RealName return one
	// for them all: the one on disk; of what is not there, the one of the layer
	// that has it; or else the one given.
	RealName(name string) (string, error)

	// Folding tells which spellings of a name lead to one file in a directory,
	// whether or not that is there.
	Folding(dir string) Folding

	// Abs returns the operating system's path of name, for URIs and for
	// programs that are run; never for a model.
	Abs(name string) string
}

// Overlaid returns the names that open buffers or pending edits lay over the
// disk, sorted. Whoever keeps what he knows of the disk must ask the view
// about these.
func Overlaid(files Files) []string {
	_, over := files.Base()
	return over
}

// View is Files to which changes can be applied.
type View interface {
	Files

	// Apply makes all changes or none. It fails with ErrConflict when a file
	// is not as Change.Before says.
	Apply(ctx context.Context, changes ...Change) error
}

// Change is one file's change as data.
type Change struct {
	Path   string      // the file's name in the view
	From   string      // a move's old name; Before is then the text at From, and Path must not exist
	Before []byte      // nil: Path must not exist
	After  []byte      // nil: Path is deleted
	Mode   fs.FileMode // permission bits of a file that is created, 0 means 0644; another's execute bits become these, 0 leaves them

	// Before, or After, is the target of a symbolic link, and Path that link
	// itself. That a link moves is two such changes: one name goes, one comes.
	BeforeLink, AfterLink bool

	// Before is what the maker of the change saw, not what is there now. Only a
	// review queue takes that: what was changed since is in conflict with it.
	Outdated bool
}

// Author is who makes changes.
type Author struct {
	Session, Tool string
	Command       string // the line that a tool ran, whose programs made them
}

// Link reports whether c is about a link itself.
func (c Change) Link() bool { return c.BeforeLink || c.AfterLink }

// Kind names what a change does to its file: create, modify, delete or rename.
func (c Change) Kind() string {
	switch {
	case c.From != "":
		return "rename"
	case c.Before == nil:
		return "create"
	case c.After == nil:
		return "delete"
	}
	return "modify"
}

// WalkOptions choose what a walk visits.
type WalkOptions struct {
	Dir            string // where to start; "" and "." are the view's root; a file is visited alone
	IncludeIgnored bool   // also what the ignore rules exclude (never .git)
	Hidden         bool   // also names that begin with a dot
	Workers        int    // goroutines; 0 means GOMAXPROCS

	// Keep, when set, is asked for every file before it is visited, and for
	// every directory before it is entered.
	Keep func(name string, dir bool) bool

	// Names, when not nil, are the files to visit instead of what is found
	// below Dir: names of regular files there, for which the caller has applied
	// the ignore rules, and Keep to directories. What is not there any more
	// can't be read. Files of a layer over the disk are visited as always.
	Names []string

	// DirsOnly leaves out all files.
	DirsOnly bool

	// Enter, when set, is told of every directory of the disk before it is
	// listed, from several goroutines at a time, and whether its file system
	// is this machine's own; on others changes are made that no event tells of.
	Enter func(name string, local bool)

	// Repository, when set, is told of every directory with a .git before its
	// .git/info/exclude is read.
	Repository func(name string)
}

// Entry is a file met by a walk. It is valid during the visit only.
type Entry struct {
	Path   string // name in the view
	Worker int    // index of the visiting goroutine, 0 ≤ Worker < number of workers

	Number int // of WalkOptions.Names, if there are any

	// Stat, set for files of the disk only, tells how the file is now.
	Stat func() (Stamp, error)

	// Read appends the file's bytes to buf[:0] and returns the result, so that
	// a worker can use one buffer for all its files. It fails with ErrTooLarge
	// above MaxFileSize.
	Read func(buf []byte) ([]byte, error)

	// Scan, when set, reads the file in pieces of whole lines that fit in buf,
	// so that a long file needs no more memory than a short one. It ends when
	// piece, which is told whether this is the last one, returns false. It
	// fails with bufio.ErrTooLong when a line doesn't fit.
	Scan func(buf []byte, piece func(data []byte, last bool) bool) error

	// ReadAt, when set, fills buf with what is in the file from off on, and
	// fails if there isn't as much.
	ReadAt func(buf []byte, off int64) error
}

// Stamp tells whether a file was changed: whoever writes to it or puts
// another in its place changes one of these. Only a change within the file
// system's tick of the clock, some milliseconds, may leave them all the same.
type Stamp struct {
	Size   int64
	Mtime  int64 // nanoseconds since 1970
	Ctime  int64 // of the last change of anything; 0 where that isn't known
	Inode  uint64
	Linked bool // the file has further names, which may be outside
}

// MaxFileSize bounds what is read into memory, in bytes.
const MaxFileSize = 64 << 20

// Errors that callers branch on. They come wrapped in an *fs.PathError.
var (
	ErrConflict  = errors.New("the file is not as it was when the change was made")
	ErrInUse     = errors.New("in use by another process")
	ErrOutside   = errors.New("the path leads out of the workspace")
	ErrProtected = errors.New("the path is protected")
	ErrSensitive = errors.New("the file may hold secrets")
	ErrTooLarge  = errors.New("the file is too large")
	ErrBinary    = errors.New("the file is binary")
	ErrSpecial   = errors.New("not a regular file")
)

// Differs reports whether a file is another in one view than in the other.
func Differs(one, other Reader, name string) bool {
	here, err := one.ReadFile(name)
	if err != nil {
		return true
	}
	there, err := other.ReadFile(name)
	return err != nil || !bytes.Equal(here, there)
}
