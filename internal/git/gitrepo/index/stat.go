package index

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"
)

// Unchanged reports whether the stat data say that the file is the entry's.
func Unchanged(e *gitindex.Entry, info fs.FileInfo) bool {
	now := gitindex.Entry{Mode: ModeOf(info.Mode())}
	SetStat(&now, info)
	return SameStat(e, &now)
}

// SameStat reports whether two stat data are of one state of a file.
func SameStat(e, now *gitindex.Entry) bool {
	return now.Mode == e.Mode && now.Size == e.Size && now.Inode == e.Inode && now.ModifiedAt.Equal(e.ModifiedAt) && now.CreatedAt.Equal(e.CreatedAt)
}

// ModeOf is a file's mode as git writes it, 0 for what it does not keep.
func ModeOf(m fs.FileMode) filemode.FileMode {
	switch {
	case m&fs.ModeSymlink != 0:
		return filemode.Symlink
	case !m.IsRegular():
		return 0
	case m&0o100 != 0:
		return filemode.Executable
	}
	return filemode.Regular
}

// StatAll gives the entries of x the stat data of their files below dir, which
// are taken for what x says. A file that isn't there was left out on purpose.
func StatAll(dir string, x *Index) error {
	for i := range x.Entries {
		e := x.Entries[i]
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(e.Name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.SkipWorktree = true
		case err != nil:
			return err
		case e.Mode != filemode.Submodule:
			SetStat(e, info)
		}
	}
	return nil
}
