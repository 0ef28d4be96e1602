package world

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
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// renewal brings a copy up to the folder.
type renewal struct {
	s       *folderCopy
	to      *os.Root // the copy. Programs may run in it, and make links: they lead nowhere but into it
	live    bool
	began   int64 // in nanoseconds
	tracked func(string) bool
	over    []string // what the view has another text of
}

// grain is how long two changes of a file may have the same time.
const grain = 20 * time.Millisecond

func (s *folderCopy) renewal(live bool, over []string) (*renewal, error) {
	to, err := os.OpenRoot(s.w.upper())
	if err != nil {
		return nil, err
	}
	return &renewal{s: s, to: to, live: live, began: time.Now().UnixNano(), tracked: s.w.o.Tracked(s.w.root), over: over}, nil
}

// reopen opens the copy that took the place of another one.
func (c *renewal) reopen() error {
	to, err := os.OpenRoot(c.s.w.upper())
	if err != nil {
		return err
	}
	_ = c.to.Close()
	c.to = to
	return nil
}

func (s *folderCopy) renew(v view, live bool) error {
	c, err := s.renewal(live, v.over())
	if err != nil {
		return err
	}
	defer func() { _ = c.to.Close() }() // which need not be the first one
	r := s.w.o.rulesOf(v)
	if s.used {
		if err := s.clean(c.to, ".", s.top); err != nil {
			if s.top, err = nil, s.w.startAnew(); err != nil {
				return fmt.Errorf("what another session left in the copy of the workspace: %w", err)
			}
			if err := c.reopen(); err != nil {
				return err
			}
		}
		s.used = false
	}
	first := s.top == nil
	if first {
		var all Limits
		if err := c.measure(".", r, false, &all); err != nil {
			return err
		}
		s.top = &copied{state: asDir, kids: map[string]*copied{}}
	}
	if !live {
		if _, err := os.Lstat(s.at(".git")); err != nil {
			s.forget(".git") // it was given up
		}
		s.real, s.lent, s.base, s.output = nil, nil, r, s.top.outputOf()
	}
	err = c.dir(".", s.top, r, false, false)
	if err == nil && !live && !s.seeded {
		s.seeded = true
		err = s.seed()
	}
	if first && (osfile.IsFull(err)) {
		return &NoCopyError{fmt.Sprintf("there is no room for a copy of the workspace in %s; set XDG_CACHE_HOME to a place that has it", filepath.Dir(s.w.dir))}
	}
	if err != nil {
		return fmt.Errorf("the workspace can't be copied: %w", err)
	}
	return nil
}

// renewOne brings one name up, with what is in it.
func (s *folderCopy) renewOne(rel string, live bool) error {
	if s.top == nil {
		return nil
	}
	c, err := s.renewal(live, nil)
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
		if i+1 < len(parts) && kid.lists() {
			ignored, inGit = ignored || r.ignored(first, true), inGit || first == ".git"
			at, dir, r = kid, name, r.enter(first)
			continue
		}
		info, err := os.Lstat(c.from(name))
		if err == nil && standsInOnDisk(c.from(name), name, info) {
			return nil
		}
		if err == nil && spelledSo(c.from(name)) {
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

// standsInOnDisk reports whether a path of the folder only stands in for a protected name,
// for a program that works on the disk. The copy goes without: when that program ends, the
// one in the copy would go too, with the mount over it that a program there needs.
func standsInOnDisk(at, rel string, info fs.FileInfo) bool {
	if !standIn(info) || workspace.Protected(rel) == workspace.NotProtected {
		return false
	}
	if !info.IsDir() {
		return true
	}
	entries, err := os.ReadDir(at)
	return err == nil && len(entries) == 0
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
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		name := path.Join(rel, e.Name())
		if workspace.Protected(name) == workspace.NotProtected {
			return false
		}
		info, err := e.Info()
		return err == nil && standsInOnDisk(c.from(name), name, info)
	})
	if !inGit {
		r = r.at(ignoreFile(entries, c.from(rel)))
	}
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		seen[e.Name()] = true
	}
	// What went makes room for what is spelled in another way now.
	for name, kid := range at.kids {
		if !seen[name] && (!c.live || name != ".git") {
			c.vanish(path.Join(rel, name), kid)
			delete(at.kids, name)
		}
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // it went
		}
		if err := c.entry(at, path.Join(rel, e.Name()), info, r, ignored, inGit); err != nil {
			return err
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
	told := kid != nil && kid.state == asLeft && kid.again
	if told {
		delete(at.kids, name)
		kid = nil
	}
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
	if kid != nil && git && c.s.separate() && c.s.w.real[rel] != (kid.state == asReal) {
		return c.exchange(at, rel, info, r)
	}
	if kid != nil && (c.s.w.hidden[rel] != (kid.state == asHollow) || kid.state == asReal && !git && (!c.mayBeReal(rel) || c.copies(rel))) {
		c.vanish(rel, kid)
		delete(at.kids, name)
		kid = nil
	}
	if kid != nil && kid.state == asHollow && !c.live && !c.s.original(rel, lstat(c.s.at(rel))) {
		if err := c.to.RemoveAll(filepath.FromSlash(rel)); err != nil { // what a command made of it
			return err
		}
		delete(at.kids, name)
		kid = nil
	}
	ignored = !inGit && !git && (ignored || r.ignored(name, info.IsDir()))
	switch {
	case at.state == asLinks && info.Mode()&fs.ModeIrregular != 0:
		return c.junction(at, rel)
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
	kid = &copied{folder: now, output: ignored && !c.tracked(rel) && !inGit && !git && !inDependencies(rel)}
	var err error
	switch {
	case c.s.w.hidden[rel]:
		kid.state = asHollow
		err = c.hollow(rel, info)
	case kid.output && !at.output && c.s.separate() && at.state != asLinks && c.namesFolder(rel):
		c.s.leave(at, rel, leftNames, false)
		return nil
	case kid.output && c.s.output.and(Limits{1, info.Size()}).over(c.s.w.o.Output):
		c.s.leave(at, rel, leftLarge, false)
		return nil
	default:
		err = c.copy(rel, info)
		if why := leftFor(err); why != "" {
			c.s.leave(at, rel, why, told)
			return nil
		}
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
	if kid.copy = stampOf(c.s.at(rel)); kid.copy == (stamp{}) {
		return nil // a program took it away at once: it does not count as seen
	}
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
	if !c.live && c.s.separate() && kid != nil && (kid.state == asReal || kid.state == asLinks) {
		if _, err := os.Lstat(c.s.at(rel)); errors.Is(err, fs.ErrNotExist) {
			delete(at.kids, name) // a command took it away, which is not taken over
			kid = nil
		}
	}
	if kid != nil && kid.state == asReal && c.s.separate() {
		return nil // as it was, or a command made something else in its place
	}
	if kid != nil && kid.state == asFile && kid.copy == stampOf(c.s.at(rel)) {
		c.vanish(rel, kid)
		delete(at.kids, name)
		kid = nil
	}
	mkdir := func() error {
		at := filepath.FromSlash(rel)
		return errors.Join(c.to.Mkdir(at, 0o700), c.to.Chmod(at, info.Mode().Perm()|0o700))
	}
	have, err := os.Lstat(c.s.at(rel))
	if err != nil && !c.live && kid != nil && kid.state == asDir && c.s.anyStays(kid) { // a command removed it
		if err := mkdir(); err != nil {
			return err
		}
		have, err = os.Lstat(c.s.at(rel))
	}
	there := err == nil
	if kid != nil && (!there || kid.state == asFile) || there && !have.IsDir() {
		return nil // a command took it away, or made something else in its place
	}
	if kid == nil {
		kid = &copied{state: asDir, kids: map[string]*copied{}, output: ignored}
		switch {
		case c.s.w.hidden[rel]:
			kid.state = asHollow
		case inGit && name == "objects" && isRepository(filepath.Dir(c.from(rel))):
			kid.state = asLent
		case there:
		case c.s.separate() && c.mayBeLink(at, rel) && c.link(kid, rel):
			at.kids[name] = kid
			return nil
		case c.s.separate() && c.hasLinks(at, rel):
			kid.state = asLinks
		case !c.s.separate() && dependencyDirs[name] && c.mayBeReal(rel) && !c.copies(rel):
			kid.state = asReal
		case ignored && !dependencyDirs[name] && !c.fits(rel):
			c.s.leave(at, rel, leftLarge, false)
			return nil
		case c.s.separate() && ignored && !at.output && at.state != asLinks && c.namesFolder(rel):
			c.s.leave(at, rel, leftNames, false)
			return nil
		}
		if !there {
			if err := mkdir(); err != nil {
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

// copies reports whether commands have a copy of a directory of dependencies: what they do
// to it is looked at like all else. One that is too large they can only read.
func (c *renewal) copies(rel string) bool {
	if c.s.separate() {
		return false
	}
	large, known := c.s.large[rel]
	if !known {
		large = !c.within(rel, Limits{}, c.s.w.o.Dependencies)
		if c.s.large == nil {
			c.s.large = map[string]bool{}
		}
		c.s.large[rel] = large
	}
	return !large
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
	case asReal:
		if kid.copy != (stamp{}) && kid.copy == stampOf(c.s.at(rel)) {
			_ = c.to.Remove(at)
			return
		}
	case asLent, asHollow: // what a command made of it is nobody's
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
	if info, err := os.Lstat(c.s.at(rel)); err == nil && info.IsDir() {
		_ = c.to.Remove(at) // if nothing is in it
	}
}

// copy copies a file or a link to where there is none, with its times: else what
// was built of it would look old.
func (c *renewal) copy(rel string, info fs.FileInfo) error {
	at := filepath.FromSlash(rel)
	if text := c.rewritten(rel, info); text != nil {
		return errors.Join(c.to.WriteFile(at, text, info.Mode().Perm()), c.to.Chtimes(at, info.ModTime(), info.ModTime()))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(c.from(rel))
		if err != nil {
			return err
		}
		if c.s.separate() && inDependencies(rel) {
			target = moved(target, c.s.w.root, c.s.w.upper())
		}
		if err = c.to.Symlink(target, at); err != nil && runtime.GOOS == "windows" {
			return errNoLink
		}
		return err
	}
	from, err := osfile.Open(c.from(rel), os.O_RDONLY, 0)
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
