package shadow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// IncludeFile lists, in the syntax of gitignore, ignored files that a shadow
// needs all the same, such as .env: they are copied. A pattern that ends in a
// slash names directories that are too heavy to be copied, such as
// node_modules/: the shadow gets the directory with a link for each entry.
const IncludeFile = ".worktreeinclude"

// Bounds of what IncludeFile may bring in.
const (
	maxIncludeFile  = 1 << 20 // bytes of the file itself
	maxIncluded     = 20_000  // files
	maxIncludedSize = 512 << 20
	maxLinked       = 10_000 // entries of one directory
)

// including brings in what IncludeFile names.
type including struct {
	ctx      context.Context
	from, to *os.Root
	copied   *workspace.Patterns
	linked   *workspace.Patterns
	deep     []string // first elements of patterns with a path: directories worth entering
	ignore   *worktree.Ignore
	tracked  map[string]bool // files of the base state, and the directories above them
	up       string          // from the top of the shadow to that of the main tree
	files    int
	bytes    int64
}

// include copies and links ignored files of the main tree into dir, the new
// tree, whose files are base.
func (m *Manager) include(ctx context.Context, repo *gitrepo.Repo, base *index.Index, dir string) error {
	from, err := os.OpenRoot(repo.Dir)
	if err != nil {
		return err
	}
	defer from.Close()
	text, err := readInclude(from)
	if err != nil || len(text) == 0 {
		return err
	}
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	i := &including{ctx: ctx, from: from, to: to, ignore: worktree.NewIgnore(repo, repo.Dir), tracked: map[string]bool{}}
	if i.up, err = filepath.Rel(m.path("x"), repo.Dir); err != nil {
		return err
	}
	i.parse(string(text))
	for k := range base.Entries {
		for name := base.Entries[k].Name; name != "." && !i.tracked[name]; name = path.Dir(name) {
			i.tracked[name] = true
		}
	}
	if err := i.dir(".", false); err != nil {
		return fmt.Errorf("%s: %w", IncludeFile, err)
	}
	return nil
}

// hasInclude reports whether there is an IncludeFile.
func hasInclude(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, IncludeFile))
	return err == nil
}

func readInclude(root *os.Root) ([]byte, error) {
	f, err := root.OpenFile(IncludeFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxIncludeFile))
}

// parse sorts the patterns into those that copy and those that link.
func (i *including) parse(text string) {
	var copied, linked strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, "\xef\xbb\xbf")) {
		line = strings.TrimRight(line, "\r\n")
		pattern := strings.TrimRight(line, " ")
		if strings.HasSuffix(pattern, "/") {
			fmt.Fprintln(&linked, line)
		} else {
			fmt.Fprintln(&copied, line)
		}
		pattern = strings.Trim(strings.TrimPrefix(pattern, "!"), "/")
		if first, _, deeper := strings.Cut(pattern, "/"); deeper {
			i.deep = append(i.deep, first)
		}
	}
	i.copied, i.linked = workspace.ParsePatterns([]byte(copied.String())), workspace.ParsePatterns([]byte(linked.String()))
}

// dir looks for what is named in a directory. whole says that all of it is
// ignored.
func (i *including) dir(name string, whole bool) error {
	if err := i.ctx.Err(); err != nil {
		return err
	}
	list, err := listDir(i.from, name)
	if err != nil {
		return nil //nolint:nilerr // what can't be read can't be brought along
	}
	for _, e := range list {
		full := path.Join(name, e.Name())
		if e.Name() == ".git" || full == ".sidecar" || strings.HasSuffix(full, "/.sidecar") {
			continue
		}
		out := whole || i.ignore.Ignored(full, e.IsDir())
		if !out || i.tracked[full] {
			if e.IsDir() && (!out || i.tracked[full]) {
				err = i.dir(full, out)
			}
		} else {
			err = i.one(full, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// one brings in an ignored file or directory, if it is named.
func (i *including) one(name string, e fs.DirEntry) error {
	switch {
	case e.IsDir() && i.linked.Match(name, true):
		return i.link(name)
	case i.copied.Match(name, e.IsDir()):
		return i.copy(name, e)
	case e.IsDir() && slices.Contains(i.deep, firstElem(name)):
		return i.dir(name, true)
	}
	return nil
}

func firstElem(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

func (i *including) parent(name string) error {
	if dir := path.Dir(name); dir != "." {
		return i.to.MkdirAll(dir, 0o777)
	}
	return nil
}

// copy copies a file, a link as it is, or a directory with all that is in it.
func (i *including) copy(name string, e fs.DirEntry) error {
	if err := i.ctx.Err(); err != nil {
		return err
	}
	if e.IsDir() {
		if err := i.to.MkdirAll(name, 0o777); err != nil {
			return err
		}
		list, err := listDir(i.from, name)
		if err != nil {
			return err
		}
		for _, below := range list {
			if err := i.copy(path.Join(name, below.Name()), below); err != nil {
				return err
			}
		}
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	if i.files, i.bytes = i.files+1, i.bytes+info.Size(); i.files > maxIncluded || i.bytes > maxIncludedSize {
		return fmt.Errorf("%w: it names more than %d files or %d bytes (at %s); end the pattern of a large directory with a slash, so that it is linked", ErrTooMuch, maxIncluded, maxIncludedSize, name)
	}
	if err := i.parent(name); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := i.from.Readlink(name)
		if err != nil {
			return err
		}
		return i.to.Symlink(target, name)
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	in, err := i.from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := i.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// link makes a directory whose entries are links to those of the main tree's;
// small files are copied. A link in place of the directory itself would be no
// directory for git, and with the usual rule node_modules/ not ignored.
func (i *including) link(name string) error {
	list, err := listDir(i.from, name)
	if err != nil {
		return err
	}
	if len(list) > maxLinked {
		return fmt.Errorf("%w: %s has %d entries, and at most %d are linked", ErrTooMuch, name, len(list), maxLinked)
	}
	if err := i.to.MkdirAll(name, 0o777); err != nil {
		return err
	}
	back := strings.Repeat("../", strings.Count(name, "/")+1)
	for _, e := range list {
		full := path.Join(name, e.Name())
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() <= 1<<20 {
			if err := i.copy(full, e); err != nil {
				return err
			}
			continue
		}
		if err := i.to.Symlink(filepath.Join(filepath.FromSlash(back), i.up, filepath.FromSlash(full)), full); err != nil {
			return err
		}
	}
	return nil
}

func listDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
