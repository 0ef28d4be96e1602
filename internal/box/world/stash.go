package world

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// stash moves output from the layer to the session's entry, and returns what could not be
// moved.
func (w *world) stash(list []output) (files int, left []output, err error) {
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	e, err := w.out.of(w.session)
	if err != nil {
		return 0, list, err
	}
	s := &stash{w: w, e: e}
	if s.from, err = osfile.OpenDir(w.upper()); err != nil {
		return 0, list, err
	}
	defer s.from.Close()
	if s.to, err = osfile.OpenDir(e.tree()); err != nil {
		return 0, list, err
	}
	defer s.to.Close()
	defer s.empty()
	// The record comes first: a server that is killed leaves no files that it does not name.
	since := map[string]int64{}
	for _, o := range list {
		since[o.rel] = w.out.since(o.rel, w.firstOf(o.rel))
	}
	if e.Since == nil {
		e.Since = map[string]int64{}
	}
	maps.Copy(e.Since, since)
	if e.Made == nil {
		e.Made = map[string]string{}
	}
	for rel, n := range w.made {
		e.Made[rel] = n.word()
	}
	e.At = time.Now()
	if err := e.write(); err != nil {
		return 0, list, err
	}
	for _, o := range list {
		if w.under(o.rel) || s.put(o.rel) != nil {
			left = append(left, o)
			continue
		}
		w.layer.moved(o.rel)
		w.o.Fail("held")
	}
	e.Bytes += s.bytes // what is replaced is counted twice, until all is counted
	w.out.sort()
	return s.files, left, e.write()
}

// stash is output on its way to an entry.
type stash struct {
	w        *world
	e        *entry
	from, to *osfile.Dir
	files    int
	bytes    int64
	bin      *osfile.Dir
	trashed  int
}

func (s *stash) put(rel string) error {
	to, err := s.parent(path.Dir(rel))
	if err != nil {
		return err
	}
	defer to.Close()
	from, err := s.from.Sub(path.Dir(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return s.hide(to, rel)
	}
	if err != nil {
		return err
	}
	defer from.Close()
	return s.entry(from, to, rel)
}

// parent opens a directory of the tree, made as the folder has it.
func (s *stash) parent(rel string) (*osfile.Dir, error) {
	at, err := s.to.Sub(".")
	if err != nil || rel == "." {
		return at, err
	}
	done := "."
	for name := range strings.SplitSeq(rel, "/") {
		done = path.Join(done, name)
		if info, err := at.Lstat(name); err == nil && !info.IsDir() {
			_ = at.Remove(name)
		}
		mode := fs.FileMode(0o755)
		if info, err := os.Lstat(filepath.Join(s.w.root, filepath.FromSlash(done))); err == nil && info.IsDir() {
			mode = info.Mode().Perm() | 0o700
		}
		next, err := at.MakeSub(name, mode)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (s *stash) entry(from, to *osfile.Dir, rel string) error {
	name := path.Base(rel)
	info, err := from.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.hide(to, rel)
	case err != nil:
		return err
	case isWhiteout(info):
		return errors.Join(s.hide(to, rel), from.Remove(name))
	case info.Mode().Type()&^(fs.ModeSymlink|fs.ModeDir) != 0:
		return nil // a pipe, a socket or a device is nobody's output
	}
	low, lowErr := to.Lstat(name)
	if info.IsDir() {
		dir, err := from.Sub(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		if lowErr == nil && low.IsDir() && !isOpaque(dir) {
			return s.merge(from, dir, to, rel)
		}
		if s.w.kind != Overlay {
			return s.merge(from, dir, to, rel)
		}
		if err := unlinkAll(dir, rel); err != nil {
			return err
		}
		files, bytes := countIn(from, rel)
		s.files, s.bytes = s.files+files, s.bytes+bytes
	} else {
		if s.w.kind != Overlay && s.w.out.hasSame(rel, info) {
			return nil // an entry has it already
		}
		if info.Mode().IsRegular() {
			if err := unlink(from, name, info); err != nil {
				return err
			}
		}
		s.files, s.bytes = s.files+1, s.bytes+info.Size()
	}
	s.e.Gone = slices.DeleteFunc(s.e.Gone, func(gone string) bool { return gone == rel || below(gone, rel) })
	if lowErr == nil && (low.IsDir() || info.IsDir()) {
		if err := s.discard(to, name); err != nil {
			return err
		}
	}
	return transfer(from, to, name)
}

// merge moves what is in a directory that the tree has, too.
func (s *stash) merge(from, dir, to *osfile.Dir, rel string) error {
	name := path.Base(rel)
	mode := fs.FileMode(0o755)
	if info, err := dir.Stat("."); err == nil {
		mode = info.Mode().Perm() | 0o700
	}
	if low, err := to.Lstat(name); err == nil && !low.IsDir() {
		if err := s.discard(to, name); err != nil {
			return err
		}
	}
	into, err := to.MakeSub(name, mode)
	if err != nil {
		return err
	}
	defer into.Close()
	entries, err := dir.List()
	for _, e := range entries {
		at := path.Join(rel, e.Name())
		if info, err := dir.Lstat(e.Name()); err != nil || s.w.kind != Overlay && s.w.layer.original(at, info) {
			continue
		}
		err = errors.Join(err, s.entry(dir, into, at))
	}
	_, _ = from.Remove(name), to.Remove(name) // if nothing is left, or came
	return err
}

// hide notes that a name is gone: by a mark of the overlay, or in the record.
func (s *stash) hide(to *osfile.Dir, rel string) error {
	name := path.Base(rel)
	if _, err := to.Lstat(name); err == nil {
		if err := s.discard(to, name); err != nil {
			return err
		}
	}
	s.files++
	if s.w.kind != Overlay {
		if !slices.Contains(s.e.Gone, rel) {
			s.e.Gone = append(s.e.Gone, rel)
		}
		return nil
	}
	return hideIn(to, name)
}

// discard takes away what the tree has under a name.
func (s *stash) discard(to *osfile.Dir, name string) error {
	if s.bin == nil {
		at, err := os.MkdirTemp(s.w.out.dir, fresh)
		if err != nil {
			return err
		}
		if s.bin, err = osfile.OpenDir(at); err != nil {
			return err
		}
	}
	s.trashed++
	return to.Move(name, s.bin, fmt.Sprint(s.trashed))
}

// empty removes what was discarded.
func (s *stash) empty() {
	if s.bin != nil {
		dir := s.bin.Name()
		_ = s.bin.Close()
		go func() { _ = osfile.RemoveAll(dir) }()
	}
}

// word is a node as a record has it.
func (n node) word() string {
	kind := "file"
	switch {
	case !n.there:
		return ""
	case n.link:
		kind = "link"
	case n.exec:
		kind = "exec"
	}
	return kind + " " + hex.EncodeToString(n.sum[:])
}

// sizeOf counts the bytes of the files in a directory.
func sizeOf(path string) (sum int64) {
	dir, err := osfile.OpenDir(path)
	if err != nil {
		return 0
	}
	defer dir.Close()
	_ = walkDir(dir, ".", func(_ *osfile.Dir, _ string, info fs.FileInfo) error {
		if info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
