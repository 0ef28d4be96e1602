package worktree

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// ErrExists says that the repository has a linked working tree of that
// name already.
var ErrExists = errors.New("there is a working tree of that name")

// stagedDir is where working trees are made ready: beside worktrees, so that
// git sees none that is half made.
const stagedDir = "sidecar"

// gone begins the names of those that were unregistered.
const gone = ".gone-"

// Linked is a linked working tree as the repository has it.
type Linked struct {
	Name   string // of its directory below worktrees
	Dir    string // where it says that its files are
	GitDir string // its own part of the repository
}

// Own is the directory for what its maker keeps with it. It goes when git
// removes the working tree.
func (l Linked) Own() string { return filepath.Join(l.GitDir, "sidecar") }

// List lists the linked working trees. What is damaged is left out.
func List(r *gitrepo.Repo) ([]Linked, error) {
	return linkedIn(filepath.Join(r.CommonDir, "worktrees"))
}

// Find returns the linked working tree of that name. It fails with
// fs.ErrNotExist.
func Find(r *gitrepo.Repo, name string) (Linked, error) {
	l := Linked{Name: name, GitDir: filepath.Join(r.CommonDir, "worktrees", name)}
	info, err := os.Lstat(l.GitDir)
	if err != nil {
		return l, err
	}
	if !info.IsDir() {
		return l, fmt.Errorf("%s: %w: not a directory", l.GitDir, gitfile.ErrCorrupt)
	}
	file, err := gitfile.ReadPointer(filepath.Join(l.GitDir, "gitdir"), "", l.GitDir)
	if err != nil {
		return l, err
	}
	l.Dir = filepath.Dir(file)
	return l, nil
}

func linkedIn(dir string) ([]Linked, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []Linked
	for _, e := range entries {
		l := Linked{Name: e.Name(), GitDir: filepath.Join(dir, e.Name())}
		file, err := gitfile.ReadPointer(filepath.Join(l.GitDir, "gitdir"), "", l.GitDir)
		if err != nil || !e.IsDir() {
			continue
		}
		l.Dir = filepath.Dir(file)
		list = append(list, l)
	}
	return list, nil
}

// Staged is a linked working tree that is being made. git doesn't know it yet.
type Staged struct {
	Linked
	r *gitrepo.Repo
}

// Stage begins a working tree of that name, whose files will be in dir,
// with its HEAD at commit and on no branch. Publish makes it known, Abort takes
// it back; after a crash it is found by StagedWorktrees. begun, if set, is
// called when there is the directory and nothing in it; tests fail there.
func Stage(r *gitrepo.Repo, name, dir string, commit plumbing.Hash, begun func() error) (*Staged, error) {
	if _, err := os.Lstat(filepath.Join(r.CommonDir, "worktrees", name)); err == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrExists)
	}
	var random [4]byte
	rand.Read(random[:])
	at := filepath.Join(r.CommonDir, stagedDir, name+"."+placeTag(filepath.Dir(dir))+hex.EncodeToString(random[:]))
	s := &Staged{Linked{Name: name, Dir: dir, GitDir: at}, r}
	if err := inside(at, func() error { return os.Mkdir(at, 0o777) }); err != nil {
		return nil, err
	}
	if begun != nil {
		if err := begun(); err != nil {
			return nil, errors.Join(err, s.Abort())
		}
	}
	for _, dir := range [...]string{filepath.Join(at, "logs"), s.Own()} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return nil, errors.Join(err, s.Abort())
		}
	}
	head := commit.String() + "\n"
	now := time.Now()
	// The log keeps the commit from being pruned, whatever HEAD becomes.
	log := fmt.Sprintf("%s %s sidecar-ls <sidecar-ls@localhost> %d %s\tshadow: created\n", plumbing.ZeroHash, commit, now.Unix(), now.Format("-0700"))
	for _, f := range [...]struct{ name, text string }{
		{"gitdir", filepath.ToSlash(filepath.Join(dir, ".git")) + "\n"}, // as git writes it
		{"commondir", "../..\n"},
		{"HEAD", head},
		{"ORIG_HEAD", head},
		{"logs/HEAD", log},
	} {
		if err := os.WriteFile(filepath.Join(at, f.name), []byte(f.text), 0o666); err != nil {
			return nil, errors.Join(err, s.Abort())
		}
	}
	return s, nil
}

// placeTag stands for a directory in which working trees are, in the names of
// those that are being made there: what is only begun does not say yet where
// it belongs, nor does what is half removed.
func placeTag(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:4])
}

// BelongsIn reports whether the files are, or were to be, in a directory that
// lies directly in dir.
func (s *Staged) BelongsIn(dir string) bool {
	if s.Dir != "" {
		return filepath.Dir(s.Dir) == dir
	}
	return strings.HasPrefix(filepath.Ext(s.GitDir), "."+placeTag(dir))
}

// Pointer is the text of the .git file that belongs into the working tree.
func (s *Staged) Pointer() string {
	return "gitdir: " + filepath.ToSlash(filepath.Join(s.r.CommonDir, "worktrees", s.Name)) + "\n"
}

// WriteIndex writes the index of the working tree.
func (s *Staged) WriteIndex(x *index.Index) error {
	return index.Write(filepath.Join(s.GitDir, "index"), x)
}

// Publish makes the working tree known to git, at once or not at all. Its
// files have to be in place. It fails with ErrWorktreeExists.
func (s *Staged) Publish() error {
	worktrees := filepath.Join(s.r.CommonDir, "worktrees")
	to := filepath.Join(worktrees, s.Name)
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s: %w", s.Name, ErrExists)
	}
	if err := inside(to, func() error { return os.Rename(s.GitDir, to) }); err != nil {
		return err
	}
	s.GitDir = to
	removeIfEmpty(s.r, stagedDir)
	return nil
}

// Abort removes what there is of a working tree that was not published.
func (s *Staged) Abort() error {
	err := os.RemoveAll(s.GitDir)
	removeIfEmpty(s.r, stagedDir)
	return err
}

// ListStaged lists what was begun and not published, by this process, by
// another one, or by one that died. What was unregistered and only waits to be
// removed has no name, and what has no more than begun, no Dir.
func ListStaged(r *gitrepo.Repo) ([]*Staged, error) {
	dir := filepath.Join(r.CommonDir, stagedDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []*Staged
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		l := Linked{Name: name, GitDir: filepath.Join(dir, e.Name())}
		if strings.HasPrefix(name, gone) {
			l.Name = ""
		} else if file, err := gitfile.ReadPointer(filepath.Join(l.GitDir, "gitdir"), "", l.GitDir); err == nil {
			l.Dir = filepath.Dir(file)
		}
		list = append(list, &Staged{l, r})
	}
	return list, nil
}

// Unregister makes the repository forget a linked working tree, at once or not
// at all. Its files stay.
func Unregister(r *gitrepo.Repo, l Linked) error {
	var random [4]byte
	rand.Read(random[:])
	to := filepath.Join(r.CommonDir, stagedDir, gone+l.Name+"."+hex.EncodeToString(random[:]))
	if err := inside(to, func() error { return os.Rename(l.GitDir, to) }); err != nil {
		return err
	}
	// What is moved away is forgotten; that it also goes is only tidy.
	_ = (&Staged{Linked{GitDir: to}, r}).Abort()
	removeIfEmpty(r, "worktrees")
	return nil
}

// Relocate leads a linked working tree and its part of the repository to each other,
// after the files were moved to dir. Done in part, it can be done again.
func Relocate(l Linked, dir string) error {
	for _, f := range [...]struct{ at, text string }{
		{filepath.Join(dir, ".git"), "gitdir: " + filepath.ToSlash(l.GitDir) + "\n"},
		{filepath.Join(l.GitDir, "gitdir"), filepath.ToSlash(filepath.Join(dir, ".git")) + "\n"},
	} {
		if err := os.WriteFile(f.at+".new", []byte(f.text), 0o666); err != nil {
			return err
		}
		if err := os.Rename(f.at+".new", f.at); err != nil {
			return err
		}
	}
	return nil
}

// inside makes the directory that path is in and does something in it. Others
// remove that directory when it is empty, so it may take some tries.
func inside(path string, do func() error) error {
	for try := 1; ; try++ {
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		again := errors.Is(err, fs.ErrExist) // and then it was gone
		if err == nil {
			err = do()
		}
		if try == 100 || !again && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// removeIfEmpty removes a directory of the repository that holds nothing, as
// git does.
func removeIfEmpty(r *gitrepo.Repo, name string) { _ = os.Remove(filepath.Join(r.CommonDir, name)) }
