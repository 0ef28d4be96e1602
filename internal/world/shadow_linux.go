package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
)

// shadow is a copy of the folder, where there are no overlays. A table says what
// was put there and what the folder had then: what is another in the copy, a
// command changed, and what is another in the folder is copied again. So the copy
// has the same three parts as an overlay: what is the folder's own (it is as the
// table says), what lies over that (it is not, or not in the table), and what is
// hidden (it is in the table alone).
type shadow struct {
	w    *world
	top  *copied // nil: nothing has been copied
	used bool    // by another session, whose changes are still there
	base rules   // those of the user and of the repository

	output Limits // what was copied of what git ignores

	real []string       // directories of dependencies, which are the folder's own
	lent []sandbox.Lent // objects of repositories

	left []string // what git ignores and is too large to be copied, and nobody was told
}

// copied is what the table says about a name.
type copied struct {
	state  state
	folder stamp              // of the folder's own, when it was copied
	copy   stamp              // of the copy
	kids   map[string]*copied // of a directory
	output bool               // git ignores it
}

// outputOf counts what was copied of what git ignores.
func (c *copied) outputOf() (sum Limits) {
	if c.output {
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
	asReal                // a directory in whose place commands have the folder's own
	asLent                // a directory of objects, that reads the repository's own
	asHollow              // empty, because no command may read it
	asLeft                // nothing: too large
)

func (t Limits) and(o Limits) Limits { return Limits{t.Files + o.Files, t.Bytes + o.Bytes} }

func (t Limits) over(limit Limits) bool { return t.Files > limit.Files || t.Bytes > limit.Bytes }

func (s *shadow) at(rel string) string { return filepath.Join(s.w.upper(), filepath.FromSlash(rel)) }

func (s *shadow) path() string { return s.w.upper() }

func (s *shadow) begin() error { return nil }

func (s *shadow) end() {}

func (s *shadow) seen() sandbox.Merged {
	m := sandbox.Merged{At: s.w.upper(), Lent: s.lent}
	for _, rel := range s.real {
		dir := filepath.Join(s.w.root, filepath.FromSlash(rel))
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			m.Real = append(m.Real, dir)
		}
	}
	return m
}

// find is what the table says about a name; nil is nothing.
func (s *shadow) find(rel string) *copied {
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

// forget takes a name out of the table, with all that is in it.
func (s *shadow) forget(rel string) {
	if c := s.find(path.Dir(rel)); c != nil {
		delete(c.kids, path.Base(rel))
	}
}

func (s *shadow) original(rel string, info fs.FileInfo) bool {
	c := s.find(rel)
	switch {
	case c == nil || c.state == asLeft:
		return false
	case c.state == asDir:
		return info.IsDir() && path.Base(rel) == ".git"
	case info.IsDir():
		return c.state != asFile
	}
	return c.copy == stampFrom(info)
}

func (s *shadow) whole(rel string) bool {
	c := s.find(rel)
	return c == nil || c.state != asDir
}

// keeps reports that the folder has there what is too large for a copy: what is
// made here is only a part of it.
func (s *shadow) keeps(rel string) bool {
	c := s.find(rel)
	return c != nil && c.state == asLeft
}

func (s *shadow) gone(rel string, seen map[string]bool) (names []gone) {
	c := s.find(rel)
	if c == nil || c.state != asDir {
		return nil
	}
	for name, kid := range c.kids {
		if !seen[name] && kid.state != asLeft {
			names = append(names, gone{name, kid.state != asFile})
		}
	}
	return names
}

func (s *shadow) parents(rel string) error {
	for i, c := range rel {
		if c != '/' {
			continue
		}
		dir := rel[:i]
		info, err := os.Lstat(s.at(dir))
		switch {
		case err == nil && info.IsDir():
			continue
		case err == nil:
			if err := os.Remove(s.at(dir)); err != nil {
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
		if err := errors.Join(os.Mkdir(s.at(dir), 0o700), os.Chmod(s.at(dir), mode|0o700)); err != nil {
			return err
		}
	}
	return nil
}

// hide has nothing to do: nobody sees what is not there.
func (s *shadow) hide(string) error { return nil }

func (s *shadow) reset(rel string) error {
	if err := s.parents(rel); err != nil {
		return err
	}
	low, lowErr := os.Lstat(filepath.Join(s.w.root, filepath.FromSlash(rel)))
	if have, err := os.Lstat(s.at(rel)); err != nil || lowErr != nil || !have.IsDir() || !low.IsDir() {
		if err := osfile.RemoveAll(s.at(rel)); err != nil {
			return err
		}
		s.forget(rel)
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(s.w.root, filepath.FromSlash(dir))); err == nil {
			break
		}
		if os.Remove(s.at(dir)) != nil {
			break // something else is in it
		}
	}
	return s.renewOne(rel)
}

func (s *shadow) drop(rel string) error { return s.reset(rel) }

// moved has the next renewal copy what is in the folder now.
func (s *shadow) moved(rel string) { s.forget(rel) }

func (s *shadow) follow(rel string) bool {
	_ = s.renewOne(rel) // what fails here fails for the next command, which says it
	return true
}

func (s *shadow) said() []string {
	if len(s.left) == 0 {
		return nil
	}
	names := s.left
	s.left = nil
	return []string{fmt.Sprintf("Not seen by commands, and built anew for them: %s: git ignores it, and it is too large to be copied.", some(names))}
}

// recycled is a world for another session, made of the copy that this one had; nil
// when there is none to be had.
func (w *world) recycled() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.layer.(*shadow)
	if !ok || s.top == nil || w.users > 0 || w.closed {
		return nil
	}
	w.closed = true
	again := &world{o: w.o, kind: w.kind, root: w.root, dir: w.dir, lock: w.lock, held: map[string]*held{}, made: map[string]node{}, left: map[string]bool{}, unsettled: map[string]int{}}
	again.layer = &shadow{w: again, top: s.top, used: true}
	return again
}

// clean makes a copy that another session had what the table says: what is not
// the folder's own goes, and is copied again.
func (s *shadow) clean(rel string, c *copied) error {
	entries, err := os.ReadDir(s.at(rel))
	if errors.Is(err, fs.ErrPermission) {
		_ = os.Chmod(s.at(rel), 0o700)
		entries, err = os.ReadDir(s.at(rel))
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		kid := c.kids[e.Name()]
		seen[e.Name()] = true
		switch info, err := e.Info(); {
		case err == nil && kid != nil && kid.state == asDir && info.IsDir() && name != ".git":
			err = s.clean(name, kid)
			if err != nil {
				return err
			}
		case err == nil && name != ".git" && s.original(name, info):
		default:
			if err := osfile.RemoveAll(s.at(name)); err != nil {
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
func (s *shadow) lend(to *os.Root, rel string) error {
	dir := filepath.Join(s.w.root, filepath.FromSlash(rel))
	if slices.ContainsFunc(s.lent, func(l sandbox.Lent) bool { return l.Dir == dir }) {
		return nil
	}
	l := sandbox.Lent{Dir: dir, Place: sandbox.LentDir + "/" + strconv.Itoa(len(s.lent))}
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
		if rel, ok := strings.CutPrefix(at, root+"/"); ok {
			names[filepath.ToSlash(rel)] = true
		}
	}
	return names
}
