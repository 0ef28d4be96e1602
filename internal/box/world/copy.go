package world

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// folderCopy is a copy of the folder, where there are no overlays. A table says what
// was put there and what the folder had then: what is another in the copy, a
// command changed, and what is another in the folder is copied again. So the copy
// has the same three parts as an overlay: what is the folder's own (it is as the
// table says), what lies over that (it is not, or not in the table), and what is
// hidden (it is in the table alone).
//
// Where nothing can put it in the folder's place, it stands at a path of its own, and
// what is the folder's own in it are links (separatecopy.go).
type folderCopy struct {
	w    *world
	top  *copied // nil: nothing has been copied
	used bool    // by another session, whose changes are still there
	base rules   // those of the user and of the repository

	output Limits // what was copied of what git ignores

	real []string    // directories of dependencies, which are the folder's own
	lent []spec.Lent // objects of repositories

	left map[string][]string // what was not copied, and nobody was told, by why

	seeded bool            // output that is held is there
	large  map[string]bool // directories of dependencies, by whether they are too large for a copy
}

// copied is what the table says about a name.
type copied struct {
	state  state
	folder stamp              // of the folder's own, when it was copied
	copy   stamp              // of the copy
	kids   map[string]*copied // of a directory
	output bool               // git ignores it, and reviews nothing of it
	again  bool               // what was left is tried again
	target string             // of a link, apart, to what is real
}

// outputOf counts what was copied of what git ignores.
func (c *copied) outputOf() (sum Limits) {
	if c.output && c.state == asFile {
		sum = Limits{1, c.copy.size}
	}
	for _, kid := range c.kids {
		sum = sum.and(kid.outputOf())
	}
	return sum
}

// state is what was made of a name.
type state int

const (
	asFile   state = iota // or a link
	asDir                 // with what is in it
	asReal                // a directory in whose place commands have the folder's own; apart, a link to it
	asLinks               // a directory of dependencies, apart: what is in it is asReal
	asLent                // a directory of objects, that reads the repository's own
	asHollow              // empty, because no command may read it
	asLeft                // nothing: too large
)

// lists reports whether the table says what is in a directory.
func (c *copied) lists() bool { return c != nil && (c.state == asDir || c.state == asLinks) }

func (t Limits) and(o Limits) Limits { return Limits{t.Files + o.Files, t.Bytes + o.Bytes} }

func (t Limits) over(limit Limits) bool { return t.Files > limit.Files || t.Bytes > limit.Bytes }

func (s *folderCopy) at(rel string) string {
	return filepath.Join(s.w.upper(), filepath.FromSlash(rel))
}

func (s *folderCopy) path() string { return s.w.upper() }

func (s *folderCopy) begin() error { return nil }

func (s *folderCopy) end() {}

func (s *folderCopy) seen() spec.Merged {
	m := spec.Merged{At: s.w.upper(), Lent: s.lent}
	for _, rel := range s.real {
		dir := filepath.Join(s.w.root, filepath.FromSlash(rel))
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			m.Real = append(m.Real, dir)
		}
	}
	return m
}

// find is what the table says about a name; nil is nothing.
func (s *folderCopy) find(rel string) *copied {
	c := s.top
	if rel == "." {
		return c
	}
	for name := range strings.SplitSeq(rel, "/") {
		if c == nil {
			return nil
		}
		c = c.kids[name]
	}
	return c
}

// met reports whether the folder has under a name what it had when commands met it, as
// far as that is known. What is put there may be older than that.
func (s *folderCopy) met(rel string, now stamp) bool {
	c := s.find(rel)
	switch {
	case c == nil:
		return now == stamp{}
	case now == stamp{} || c.state != asFile || c.folder == stamp{} || c.folder == now:
		return true
	}
	// A directory of Windows may know less of a file than the file itself.
	entries, err := os.ReadDir(filepath.Dir(filepath.Join(s.w.root, filepath.FromSlash(rel))))
	if err != nil {
		return true
	}
	for _, e := range entries {
		if e.Name() == path.Base(rel) {
			info, err := e.Info()
			return err == nil && stampFrom(info) == c.folder
		}
	}
	return true
}

// forget takes a name out of the table, with all that is in it.
func (s *folderCopy) forget(rel string) {
	if c := s.find(path.Dir(rel)); c != nil {
		delete(c.kids, path.Base(rel))
	}
}

func (s *folderCopy) original(rel string, info fs.FileInfo) bool {
	c := s.find(rel)
	switch {
	case c == nil || c.state == asLeft || info == nil:
		return false
	case c.state == asReal && s.separate():
		return c.leads(s.at(rel), info)
	case c.lists():
		return info.IsDir() && path.Base(rel) == ".git"
	case info.IsDir() && c.state == asHollow:
		entries, err := os.ReadDir(s.at(rel))
		return err != nil || len(entries) == 0
	case info.IsDir():
		return c.state != asFile
	}
	return c.copy == stampFrom(info)
}

func (s *folderCopy) replaces(rel string) bool {
	c := s.find(rel)
	return s.separate() && c != nil && c.state == asReal // there was a link
}

func (s *folderCopy) stays(rel string) (why string, below bool) {
	c := s.find(rel)
	if c == nil {
		return "", false
	}
	return s.whyStays(c), s.anyStays(c)
}

func (s *folderCopy) whyStays(c *copied) string {
	switch {
	case c.state == asHollow:
		return hiddenFrom
	case c.state == asLeft:
		return notSeen
	case s.separate() && (c.state == asReal || c.state == asLinks):
		return onlyReplaced
	}
	return ""
}

// anyStays reports that something in a directory does.
func (s *folderCopy) anyStays(c *copied) bool {
	for _, kid := range c.kids {
		if s.whyStays(kid) != "" || s.anyStays(kid) {
			return true
		}
	}
	return false
}

// hollows are the files that stand in for what no command may read.
func (s *folderCopy) hollows() map[stamp]bool {
	list := map[stamp]bool{}
	var add func(c *copied)
	add = func(c *copied) {
		if c.state == asHollow && c.copy.ino != 0 {
			list[c.copy.anyName()] = true
		}
		for _, kid := range c.kids {
			add(kid)
		}
	}
	if s.top != nil {
		add(s.top)
	}
	return list
}

// shut reports that no command may read what has a name, so that none can change it.
func (s *folderCopy) shut(rel string) bool {
	c := s.find(rel)
	return c != nil && c.state == asHollow
}

func (s *folderCopy) whole(rel string) bool {
	return !s.find(rel).lists()
}

// keeps reports that the folder has there what is too large for a copy: what is
// made here is only a part of it.
func (s *folderCopy) keeps(rel string) bool {
	c := s.find(rel)
	return c != nil && c.state == asLeft
}

func (s *folderCopy) gone(rel string, seen map[string]bool) (names []gone) {
	c := s.find(rel)
	if !c.lists() {
		return nil
	}
	for name, kid := range c.kids {
		if !seen[name] && kid.state != asLeft {
			names = append(names, gone{name, kid.state != asFile})
		}
	}
	return names
}

func (s *folderCopy) parents(rel string) error {
	top, err := s.w.inside()
	if err != nil {
		return err
	}
	defer top.Close()
	for i, c := range rel {
		if c != '/' {
			continue
		}
		dir := rel[:i]
		at := filepath.FromSlash(dir)
		info, err := top.Lstat(at)
		switch {
		case err == nil && info.IsDir():
			continue
		case err == nil:
			if err := top.Remove(at); err != nil {
				return err
			}
			delete(s.w.held, dir)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		mode := fs.FileMode(0o755)
		if low, err := os.Lstat(filepath.Join(s.w.root, filepath.FromSlash(dir))); err == nil && low.IsDir() {
			mode = low.Mode().Perm()
		}
		if err := errors.Join(top.Mkdir(at, 0o700), top.Chmod(at, mode|0o700)); err != nil {
			return err
		}
	}
	return nil
}

// hide has nothing to do: nobody sees what is not there.
func (s *folderCopy) hide(string) error { return nil }

func (s *folderCopy) reset(rel string) error {
	from := rel // what the folder has in directories that a command removed comes back, too
	for dir := up(rel); dir != "."; dir = up(dir) {
		if _, err := os.Lstat(s.at(dir)); errors.Is(err, fs.ErrNotExist) {
			from = dir
		}
	}
	if err := s.parents(rel); err != nil {
		return err
	}
	low, lowErr := os.Lstat(filepath.Join(s.w.root, filepath.FromSlash(rel)))
	if have, err := os.Lstat(s.at(rel)); err != nil || lowErr != nil || !have.IsDir() || !low.IsDir() {
		if err := s.w.removeUpper(rel); err != nil {
			return err
		}
		s.forget(rel)
	}
	for dir := up(rel); dir != "."; dir = up(dir) {
		if _, err := os.Lstat(filepath.Join(s.w.root, filepath.FromSlash(dir))); err == nil {
			break
		}
		if os.Remove(s.at(dir)) != nil {
			break // something else is in it
		}
	}
	return s.renewOne(from, false)
}

func (s *folderCopy) drop(rel string) error { return s.reset(rel) }

// moved has the next renewal copy what is in the folder now.
func (s *folderCopy) moved(rel string) { s.forget(rel) }

func (s *folderCopy) follow(rel string) bool {
	_ = s.renewOne(rel, true) // what fails here fails for the next command, which says it
	return true
}

func (s *folderCopy) said() []string {
	var list []string
	for _, why := range slices.Sorted(maps.Keys(s.left)) {
		list = append(list, fmt.Sprintf("Not seen by commands: %s: %s.", some(s.left[why]), why))
	}
	s.left = nil
	return list
}

// Why something is not copied.
const (
	leftLarge = "git ignores it, and it is too large to be copied, so that they build it anew"
	leftInUse = "another program has it open for itself alone"
	leftLink  = "this system lets nobody make links without a privilege"
	leftNames = "text in it has the path of the workspace, so that what is built of it would be the disk's; build it anew"
)

// leave notes that a name is not in the copy. What could not be copied just now is tried
// again for the next command, and nobody is told again until then.
func (s *folderCopy) leave(at *copied, rel, why string, told bool) {
	at.kids[path.Base(rel)] = &copied{state: asLeft, again: why == leftInUse || why == leftLink}
	if told {
		return
	}
	if s.left == nil {
		s.left = map[string][]string{}
	}
	s.left[why] = append(s.left[why], rel)
}

// recycled is a world for another session, made of the copy that this one had; nil
// when there is none to be had.
func (w *world) recycled() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.layer.(*folderCopy)
	if !ok || s.top == nil || w.users > 0 || w.closed {
		return nil
	}
	w.closed = true
	if errors.Join(w.keepTexts(), w.salvage()) != nil {
		return nil
	}
	again := &world{o: w.o, kind: w.kind, root: w.root, dir: w.dir, lock: w.lock, out: w.out, held: map[string]*held{}, made: map[string]node{}, left: map[string]bool{}, unsettled: map[string]int{}, told: map[string]string{}}
	again.layer = &folderCopy{w: again, top: s.top, used: true}
	return again
}

// clean makes a copy that another session had what the table says: what is not
// the folder's own goes, and is copied again.
func (s *folderCopy) clean(top *os.Root, rel string, c *copied) error {
	entries, err := list(top, rel)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		kid := c.kids[e.Name()]
		seen[e.Name()] = true
		switch info, err := e.Info(); {
		case err == nil && kid.lists() && info.IsDir() && name != ".git":
			err = s.clean(top, name, kid)
			if err != nil {
				return err
			}
		case err == nil && name != ".git" && s.original(name, info):
		default:
			if err := removeAll(top, filepath.FromSlash(name)); err != nil {
				return err
			}
			delete(c.kids, e.Name())
		}
	}
	for name, kid := range c.kids {
		if !seen[name] && kid.state != asLeft {
			delete(c.kids, name)
		}
	}
	return nil
}

// lend has a directory of objects read those of the folder's repository.
func (s *folderCopy) lend(to *os.Root, rel string) error {
	dir := filepath.Join(s.w.root, filepath.FromSlash(rel))
	if slices.ContainsFunc(s.lent, func(l spec.Lent) bool { return l.Dir == dir }) {
		return nil
	}
	l := spec.Lent{Dir: dir, Place: lentIn(s.w.root) + "/" + strconv.Itoa(len(s.lent))}
	if s.separate() {
		l.Place = filepath.ToSlash(dir)
	}
	info := filepath.Join(filepath.FromSlash(rel), "info")
	text := l.Place + "\n"
	if own, err := os.ReadFile(filepath.Join(l.Dir, "info", "alternates")); err == nil {
		text += string(own)
	}
	if err := errors.Join(to.MkdirAll(info, 0o755), to.WriteFile(filepath.Join(info, "alternates"), []byte(text), 0o644)); err != nil {
		return err
	}
	s.lent = append(s.lent, l)
	return nil
}

// namesIn are those of paths that lie in root, relative to it.
func namesIn(root string, paths []string) map[string]bool {
	names := map[string]bool{}
	for _, at := range paths {
		if rel, ok := nameIn(root, at); ok {
			names[rel] = true
		}
	}
	return names
}

// nameIn is the name of a path that lies in root, relative to it. On Windows the letter
// case of root makes no difference, as that of a drive.
func nameIn(root, path string) (name string, ok bool) {
	rel, err := filepath.Rel(root, path)
	return filepath.ToSlash(rel), err == nil && rel != "." && filepath.IsLocal(rel)
}
