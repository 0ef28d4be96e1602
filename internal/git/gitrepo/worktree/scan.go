package worktree

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Found is a file of a directory that is not as an index has it.
type Found struct {
	Path string
	Mode filemode.FileMode // as git writes it; 0: there is no file any more
	Hash plumbing.Hash     // of its bytes as they are; not set without a file
	Size int64
}

// ScanOptions say what a scan looks at.
type ScanOptions struct {
	// Tracked are files that the index doesn't have and no ignore rule excludes,
	// with the directories that they are in.
	Tracked map[string]bool

	// Skip reports whether a file or directory is passed over in which the index
	// has nothing, whatever the ignore rules say. nil passes nothing over.
	Skip func(name string) bool

	// Patterns, when set, reads a .gitignore instead of what the directory has
	// under its name.
	Patterns func(name string) ([]byte, error)

	// Inside, when set, is told of each repository below dir that is not entered,
	// one at a time.
	Inside func(name string)

	// Racy is when the index was written: a file that was changed at that time
	// or later is read, because its stat data can't tell. Zero trusts them all.
	Racy int64 // seconds since 1970

	// Whole applies no ignore rules and reports a directory in which the index has
	// nothing as one, with the mode of a directory, repositories and submodules
	// too; and a file that the index leaves out.
	Whole bool

	Workers int // 0 means one for each processor
}

// Scan compares the files below dir with an index and returns those that
// differ, those that are new included unless an ignore rule excludes them,
// sorted by name. It follows no links and enters no repository inside.
// Submodules are passed over.
func Scan(ctx context.Context, r *gitrepo.Repo, dir string, x *index.Index, o ScanOptions) ([]Found, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &scan{ctx: ctx, root: root, entries: x.Entries, o: o, slots: make(chan struct{}, max(o.Workers-1, 0))}
	err = s.dir(visited{".", r.IgnoreRules(), false}, 0, len(x.Entries))
	s.work.Wait()
	if err = errors.Join(err, s.err); err != nil {
		return nil, err
	}
	slices.SortFunc(s.found, func(a, b Found) int { return strings.Compare(a.Path, b.Path) })
	return s.found, nil
}

type scan struct {
	ctx     context.Context
	root    *os.Root
	entries []*gitindex.Entry
	o       ScanOptions
	slots   chan struct{} // free workers
	work    sync.WaitGroup

	mu    sync.Mutex
	found []Found
	err   error
}

// visited is a directory on the way.
type visited struct {
	name  string
	rules workspace.GitRules // as they apply in it, without those of its own file
	out   bool               // all of it is ignored
}

// full is the name of an entry of the directory.
func (p visited) full(elem string) string {
	if p.name == "." {
		return elem
	}
	return p.name + "/" + elem
}

// enter is an entry of the directory that is one itself.
func (p visited) enter(elem string) visited {
	return visited{p.full(elem), p.rules.Enter([]byte(elem)), p.out || p.rules.Ignored([]byte(elem), true)}
}

// dir scans a directory, whose files have the entries from lo to hi.
func (s *scan) dir(at visited, lo, hi int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	name, prefix := at.name, at.full("")
	list, err := s.list(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) && lo == hi {
		list, err = nil, nil
	}
	if err != nil {
		return err
	}
	if lo == hi && name != "." && !s.o.Whole && s.isRepo(name, list) {
		if s.o.Inside != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.o.Inside(name)
		}
		return nil
	}
	if s.o.Patterns != nil {
		if text, err := s.o.Patterns(prefix + ".gitignore"); err == nil {
			at.rules.AddFile(text)
		}
	} else if !s.o.Whole && hasFile(list, ".gitignore") {
		if text, err := s.patterns(prefix + ".gitignore"); err == nil {
			at.rules.AddFile(text)
		}
	}
	here := make(map[string]fs.DirEntry, len(list))
	for _, e := range list {
		here[e.Name()] = e
	}
	var found []Found
	for i := lo; i < hi; {
		e := s.entries[i]
		rest := e.Name[len(prefix):]
		elem, _, deeper := strings.Cut(rest, "/")
		there, ok := here[elem]
		if deeper {
			below := prefix + elem + "/"
			end := i + sort.Search(hi-i, func(k int) bool { return !strings.HasPrefix(s.entries[i+k].Name, below) })
			if ok && there.IsDir() {
				delete(here, elem)
				s.enter(at.enter(elem), i, end)
			} else {
				found = s.gone(found, i, end)
			}
			i = end
			continue
		}
		end := i + 1
		for end < hi && s.entries[end].Name == e.Name {
			end++ // the stages of a conflict
		}
		switch {
		case e.Mode == filemode.Submodule || e.SkipWorktree:
			if !s.o.Whole {
				delete(here, elem)
			}
		case !ok || there.IsDir():
			found = s.gone(found, i, i+1)
		default:
			delete(here, elem)
			f, differs, err := s.compareFile(e, there)
			if err != nil {
				return err
			}
			if differs {
				found = append(found, f)
			}
		}
		i = end
	}
	for elem, e := range here {
		full := prefix + elem
		if elem == ".git" && (name == "." || !s.o.Whole) || s.o.Skip != nil && s.o.Skip(full) {
			continue
		}
		if !s.o.Whole && !s.o.Tracked[full] && (at.out || at.rules.Ignored([]byte(elem), e.IsDir())) {
			continue
		}
		switch {
		case e.IsDir() && s.o.Whole:
			found = append(found, Found{Path: full, Mode: filemode.Dir})
			continue
		case e.IsDir():
			s.enter(at.enter(elem), 0, 0)
			continue
		case s.o.Whole:
			found = append(found, Found{Path: full, Mode: filemode.Regular})
			continue
		}
		f, ok, err := s.read(full)
		if err != nil {
			return err
		}
		if ok {
			found = append(found, f)
		}
	}
	if len(found) > 0 {
		s.mu.Lock()
		s.found = append(s.found, found...)
		s.mu.Unlock()
	}
	return nil
}

// enter scans a subdirectory, in a goroutine of its own when one is free.
func (s *scan) enter(at visited, lo, hi int) {
	run := func() {
		if err := s.dir(at, lo, hi); err != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, err)
			s.mu.Unlock()
		}
	}
	select {
	case s.slots <- struct{}{}:
		s.work.Go(func() {
			run()
			<-s.slots
		})
	default:
		run()
	}
}

func (s *scan) list(name string) ([]fs.DirEntry, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// isRepo reports whether a directory is the top of a repository of its own.
func (s *scan) isRepo(name string, list []fs.DirEntry) bool {
	if !slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		return false
	}
	dir := filepath.Join(s.root.Name(), filepath.FromSlash(name))
	dot := filepath.Join(dir, ".git")
	if gitfile.IsGitDir(dot) {
		return true
	}
	target, err := gitfile.ReadPointer(dot, "gitdir: ", dir)
	return err == nil && gitfile.IsGitDir(target)
}

// patterns reads a file of patterns; as with git, no link.
func (s *scan) patterns(name string) ([]byte, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return gitfile.ReadAll(f, gitrepo.MaxPattern)
}

// hasFile reports whether a list has a regular file of that name.
func hasFile(list []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == name && e.Type().IsRegular() })
}

func (s *scan) gone(found []Found, lo, hi int) []Found {
	for i := lo; i < hi; i++ {
		e := s.entries[i]
		if e.Mode != filemode.Submodule && !e.SkipWorktree && (i == lo || s.entries[i-1].Name != e.Name) {
			found = append(found, Found{Path: e.Name})
		}
	}
	return found
}

// compareFile compares a file with its entry: by the stat data, and when they differ
// or can't tell, by its bytes.
func (s *scan) compareFile(e *gitindex.Entry, there fs.DirEntry) (Found, bool, error) {
	info, err := there.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return Found{Path: e.Name}, true, nil
	}
	if err != nil {
		return Found{}, false, err
	}
	if e.Stage == 0 && !e.IntentToAdd && index.Unchanged(e, info) && (s.o.Racy == 0 || e.ModifiedAt.Unix() < s.o.Racy) {
		return Found{}, false, nil
	}
	f, ok, err := s.read(e.Name)
	if err != nil {
		return Found{}, false, err
	}
	if !ok {
		return Found{Path: e.Name}, true, nil // something that git doesn't keep
	}
	return f, e.Stage != 0 || f.Mode != e.Mode || f.Hash != e.Hash, nil
}

// read hashes a file, or the target of a link. ok is false for what is neither:
// git keeps none of it.
func (s *scan) read(name string) (f Found, ok bool, err error) {
	info, err := s.root.Lstat(name) // a list of files need not say which one it is: that of Wine does not
	if errors.Is(err, fs.ErrNotExist) {
		return Found{}, false, nil
	}
	if err != nil {
		return Found{}, false, err
	}
	f = Found{Path: name, Mode: index.ModeOf(info.Mode())}
	switch f.Mode {
	case filemode.Symlink:
		target, err := s.root.Readlink(name)
		if err != nil {
			return Found{}, false, err
		}
		f.Size, f.Hash = int64(len(target)), object.HashBlob([]byte(target))
		return f, true, nil
	case 0:
		return Found{}, false, nil
	}
	file, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Found{}, false, err
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil {
		return Found{}, false, err
	}
	if !os.SameFile(info, opened) {
		return Found{}, false, fmt.Errorf("%s: it is being replaced", name)
	}
	f.Size = opened.Size()
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", f.Size)
	n, err := io.Copy(h, file)
	if err != nil {
		return Found{}, false, err
	}
	if n != f.Size {
		return Found{}, false, fmt.Errorf("%s: it is being changed", name)
	}
	f.Hash = plumbing.Hash(h.Sum(nil))
	return f, true, nil
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
