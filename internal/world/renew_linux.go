package world

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
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// renewal brings a copy up to the folder.
type renewal struct {
	s       *shadow
	to      *os.Root // the copy. Programs may run in it, and make links: they lead nowhere but into it
	live    bool
	began   int64 // in nanoseconds
	tracked func(string) bool
	over    []string // what the view has another text of
}

// grain is how long two changes of a file may have the same time.
const grain = 20 * time.Millisecond

func (s *shadow) renewal(live bool, over []string) (*renewal, error) {
	to, err := os.OpenRoot(s.w.upper())
	if err != nil {
		return nil, err
	}
	return &renewal{s: s, to: to, live: live, began: time.Now().UnixNano(), tracked: s.w.o.Tracked(s.w.root), over: over}, nil
}

func (s *shadow) renew(v view, live bool) error {
	c, err := s.renewal(live, v.over())
	if err != nil {
		return err
	}
	defer c.to.Close()
	r := rulesOf(v)
	first := s.top == nil
	if first {
		var all Limits
		if err := c.measure(".", r, false, &all); err != nil {
			return err
		}
		s.top = &copied{state: asDir, kids: map[string]*copied{}}
	}
	if s.used {
		if err := s.clean(".", s.top); err != nil {
			return fmt.Errorf("what another session left in the copy of the workspace: %w", err)
		}
		s.used = false
	}
	if !live {
		if _, err := os.Lstat(s.at(".git")); err != nil {
			s.forget(".git") // it was given up
		}
		s.real, s.lent, s.base, s.output = nil, nil, r, s.top.outputOf()
	}
	err = c.dir(".", s.top, r, false, false)
	if first && (errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)) {
		return &NoCopyError{fmt.Sprintf("there is no room for a copy of the workspace in %s; set XDG_CACHE_HOME to a place that has it", filepath.Dir(s.w.dir))}
	}
	if err != nil {
		return fmt.Errorf("the workspace can't be copied: %w", err)
	}
	return nil
}

// renewOne brings one name up, with what is in it.
func (s *shadow) renewOne(rel string) error {
	if s.top == nil {
		return nil
	}
	c, err := s.renewal(true, nil)
	if err != nil {
		return err
	}
	defer c.to.Close()
	at, dir, r, ignored, inGit := s.top, ".", s.base, false, false
	parts := strings.Split(rel, "/")
	for i, first := range parts {
		if text, err := os.ReadFile(filepath.Join(c.from(dir), ".gitignore")); err == nil {
			r = r.at(text)
		}
		name, kid := path.Join(dir, first), at.kids[first]
		if i+1 < len(parts) && kid != nil && kid.state == asDir {
			ignored, inGit = ignored || r.ignored(first, true), inGit || first == ".git"
			at, dir, r = kid, name, r.enter(first)
			continue
		}
		info, err := os.Lstat(c.from(name))
		if err == nil {
			return c.entry(at, name, info, r, ignored, inGit)
		}
		if kid != nil {
			c.vanish(name, kid)
			delete(at.kids, first)
		}
		return nil
	}
	return nil
}

func (c *renewal) from(rel string) string {
	return filepath.Join(c.s.w.root, filepath.FromSlash(rel))
}

// dir brings the entries of a directory up that the copy has. inGit: it is in a
// repository, where nothing is ignored.
func (c *renewal) dir(rel string, at *copied, r rules, ignored, inGit bool) error {
	entries, err := os.ReadDir(c.from(rel))
	if err != nil {
		return nil //nolint:nilerr // it went, or nobody may look into it: the copy has it empty
	}
	if !inGit {
		r = r.at(ignoreFile(entries, c.from(rel)))
	}
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		seen[e.Name()] = true
		info, err := e.Info()
		if err != nil {
			continue // it went
		}
		if err := c.entry(at, path.Join(rel, e.Name()), info, r, ignored, inGit); err != nil {
			return err
		}
	}
	for name, kid := range at.kids {
		if !seen[name] && (!c.live || name != ".git") {
			c.vanish(path.Join(rel, name), kid)
			delete(at.kids, name)
		}
	}
	return nil
}

// ignoreFile is the text of a directory's own rules.
func ignoreFile(entries []fs.DirEntry, dir string) []byte {
	for _, e := range entries {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			if data, err := os.ReadFile(filepath.Join(dir, ".gitignore")); err == nil {
				return data
			}
		}
	}
	return nil
}

// entry brings one name up, in the directory that at is of.
func (c *renewal) entry(at *copied, rel string, info fs.FileInfo, r rules, ignored, inGit bool) error {
	name := path.Base(rel)
	kid := at.kids[name]
	if kid != nil && kid.state == asFile && kid.folder == stampFrom(info) && !c.s.w.hidden[rel] {
		return nil // as are most
	}
	git := strings.EqualFold(name, ".git")
	switch {
	case c.s.w.held[rel] != nil:
		return nil // what the view has is put there
	case git && c.live && kid != nil:
		return nil // half of a repository would be none
	case !git && !inGit && workspace.Protected(rel) == workspace.Never:
		return nil // the server's own
	case inGit && strings.HasSuffix(name, ".lock"):
		return nil // the user's git is at work
	case inGit && (name == "lfs" || name == "annex") && path.Base(path.Dir(rel)) == ".git":
		return nil // texts of files, which may be many
	}
	if kid != nil && (c.s.w.hidden[rel] != (kid.state == asHollow) || kid.state == asReal && !c.mayBeReal(rel)) {
		c.vanish(rel, kid)
		delete(at.kids, name)
		kid = nil
	}
	ignored = !inGit && !git && (ignored || r.ignored(name, info.IsDir()))
	switch {
	case info.IsDir():
		if ignored && c.tracked(rel+"/") {
			return c.enter(at, rel, kid, info, r, false, false)
		}
		return c.enter(at, rel, kid, info, r, ignored, inGit || git)
	case info.Mode().Type()&^fs.ModeSymlink != 0:
		return nil // a socket, a pipe or a device leads to a program outside
	}
	now := stampFrom(info)
	switch {
	case kid != nil && (kid.state == asHollow || kid.state == asLeft):
		return nil
	case kid != nil && kid.state == asFile && kid.copy != stampOf(c.s.at(rel)):
		return nil // a command made something else of it
	case kid != nil:
		c.vanish(rel, kid)
		delete(at.kids, name)
	}
	if _, err := os.Lstat(c.s.at(rel)); err == nil {
		return nil // a command made it
	}
	kid = &copied{folder: now, output: ignored && !c.tracked(rel) && !inGit && !git}
	var err error
	switch {
	case c.s.w.hidden[rel]:
		kid.state = asHollow
		err = c.to.WriteFile(filepath.FromSlash(rel), nil, info.Mode().Perm())
	case kid.output && c.s.output.and(Limits{1, info.Size()}).over(c.s.w.o.Output):
		c.s.left = append(c.s.left, rel)
		at.kids[name] = &copied{state: asLeft}
		return nil
	default:
		err = c.copy(rel, info)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went, or a program made something else of where it is
	}
	if err != nil {
		return err
	}
	if now.changedSince(c.began - int64(grain)) {
		kid.folder = stamp{} // a later change may have the same time
	}
	kid.copy = stampOf(c.s.at(rel))
	if at.kids[name] = kid; kid.output {
		c.s.output = c.s.output.and(kid.outputOf())
	}
	return nil
}

// enter brings a directory up, in the directory that at is of.
func (c *renewal) enter(at *copied, rel string, kid *copied, info fs.FileInfo, r rules, ignored, inGit bool) error {
	name := path.Base(rel)
	if kid != nil && (kid.state == asLeft || kid.state == asHollow) {
		return nil
	}
	if kid != nil && kid.state == asFile && kid.copy == stampOf(c.s.at(rel)) {
		c.vanish(rel, kid)
		delete(at.kids, name)
		kid = nil
	}
	have, err := os.Lstat(c.s.at(rel))
	there := err == nil
	if kid != nil && (!there || kid.state == asFile) || there && !have.IsDir() {
		return nil // a command took it away, or made something else in its place
	}
	if kid == nil {
		kid = &copied{state: asDir, kids: map[string]*copied{}}
		switch {
		case c.s.w.hidden[rel]:
			kid.state = asHollow
		case inGit && name == "objects" && isRepository(filepath.Dir(c.from(rel))):
			kid.state = asLent
		case there:
		case dependencyDirs[name] && c.mayBeReal(rel):
			kid.state = asReal
		case ignored && !c.fits(rel):
			at.kids[name] = &copied{state: asLeft}
			c.s.left = append(c.s.left, rel)
			return nil
		}
		if !there {
			if err := errors.Join(c.to.Mkdir(filepath.FromSlash(rel), 0o700), c.to.Chmod(filepath.FromSlash(rel), info.Mode().Perm()|0o700)); err != nil {
				return err
			}
		}
		at.kids[name] = kid
	}
	switch kid.state {
	case asReal:
		if !slices.Contains(c.s.real, rel) {
			c.s.real = append(c.s.real, rel)
		}
		return nil
	case asLent:
		return c.s.lend(c.to, rel)
	case asHollow:
		return nil
	}
	return c.dir(rel, kid, r.enter(name), ignored, inGit)
}

// mayBeReal reports whether commands may have a directory of dependencies as the
// folder has it: nothing in it is reviewed.
func (c *renewal) mayBeReal(rel string) bool {
	for _, name := range c.over {
		if below(name, rel) {
			return false
		}
	}
	for name := range c.s.w.held {
		if below(name, rel) {
			return false
		}
	}
	return !c.tracked(rel + "/")
}

// vanish removes the copy of what the folder has no more, but for what a command
// made something else of.
func (c *renewal) vanish(rel string, kid *copied) {
	at := filepath.FromSlash(rel)
	switch kid.state {
	case asLeft:
		return
	case asLent:
		_ = c.to.RemoveAll(at)
		return
	case asFile:
		if kid.copy == stampOf(c.s.at(rel)) {
			_ = c.to.Remove(at)
		}
		return
	}
	for name, k := range kid.kids {
		c.vanish(rel+"/"+name, k)
	}
	if info, err := os.Lstat(c.s.at(rel)); err == nil && (info.IsDir() || kid.state == asHollow && info.Size() == 0) {
		_ = c.to.Remove(at) // if nothing is in it
	}
}

// copy copies a file or a link to where there is none, with its times: else what
// was built of it would look old.
func (c *renewal) copy(rel string, info fs.FileInfo) error {
	at := filepath.FromSlash(rel)
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(c.from(rel))
		if err != nil {
			return err
		}
		return c.to.Symlink(target, at)
	}
	from, err := os.OpenFile(c.from(rel), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	closed := errors.Is(err, fs.ErrPermission) // nor can a command read it
	if err != nil && !closed {
		return err
	}
	mode := info.Mode().Perm()
	if closed {
		mode = 0
	} else {
		defer from.Close()
	}
	to, err := c.to.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrPermission) && c.to.Chmod(filepath.Dir(at), 0o700) == nil { // a command locked the directory
		to, err = c.to.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	if !closed {
		_, err = io.Copy(to, from)
	}
	err = errors.Join(err, to.Chmod(mode), to.Close())
	return errors.Join(err, c.to.Chtimes(at, info.ModTime(), info.ModTime()))
}

// fits reports whether there is room for all that is in a directory.
func (c *renewal) fits(rel string) bool {
	sum := c.s.output
	_ = filepath.WalkDir(c.from(rel), func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // nor is it copied
		case d.IsDir():
			if name := filepath.ToSlash(strings.TrimPrefix(at, c.s.w.root+"/")); dependencyDirs[d.Name()] && c.mayBeReal(name) {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum = sum.and(Limits{1, info.Size()})
		}
		if sum.over(c.s.w.o.Output) {
			return fs.SkipAll
		}
		return nil
	})
	return !sum.over(c.s.w.o.Output)
}

// Fits finds out whether a folder is small enough for a copy.
func (m *Manager) Fits(root string) error {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	w := &world{o: m.o, root: real}
	c := &renewal{s: &shadow{w: w}, tracked: m.o.Tracked(real)}
	return c.measure(".", rulesIn(real), false, &Limits{})
}

// measure finds out whether the folder is small enough, before anything is copied.
func (c *renewal) measure(rel string, r rules, ignored bool, sum *Limits) error {
	entries, err := os.ReadDir(c.from(rel))
	if err != nil {
		return nil //nolint:nilerr // nor is it copied
	}
	r = r.at(ignoreFile(entries, c.from(rel)))
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		skip := ignored || r.ignored(e.Name(), e.IsDir())
		switch {
		case workspace.Protected(name) == workspace.Never || dependencyDirs[e.Name()] && e.IsDir() && c.mayBeReal(name):
		case e.IsDir():
			if skip && !c.tracked(name+"/") {
				continue
			}
			if err := c.measure(name, r.enter(e.Name()), skip, sum); err != nil {
				return err
			}
		case e.Type()&^fs.ModeSymlink == 0 && (!skip || c.tracked(name)):
			if info, err := e.Info(); err == nil {
				*sum = sum.and(Limits{1, info.Size()})
			}
			if sum.over(c.s.w.o.Copied) {
				return &NoCopyError{fmt.Sprintf("the workspace is too large for a copy: it has more than %d files or %d MiB that git does not ignore", c.s.w.o.Copied.Files, c.s.w.o.Copied.Bytes>>20)}
			}
		}
	}
	return nil
}

// tryCopy finds out whether a command can have a directory in the place of its
// workspace. The last step is a command.
func (m *Manager) tryCopy() (err error) {
	at, err := m.trialPlace()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(at, "try.")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, osfile.RemoveAll(scratch)) }()
	root, tree := filepath.Join(scratch, "root"), filepath.Join(scratch, upperDir)
	if err := errors.Join(os.Mkdir(root, 0o700), os.Mkdir(tree, 0o700), os.WriteFile(filepath.Join(tree, "file"), nil, 0o600)); err != nil {
		return err
	}
	cmd, err := m.o.Box.Command(context.Background(), sandbox.Spec{Root: root, Env: sandbox.Environ(os.Environ()), Merged: &sandbox.Merged{At: tree}},
		root, "sh", "-c", "test -e file && echo made > new")
	if err == nil {
		err = cmd.Run()
	}
	if err != nil {
		return fmt.Errorf("a command can't work in a copy: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(tree, "new")); err != nil {
		return errors.New("what a command writes in a copy does not come to it")
	}
	return nil
}
