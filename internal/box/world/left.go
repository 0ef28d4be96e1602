package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Texts that commands changed and nobody took outlive the world, too: those of a session
// that ended in the middle of a command, and of a server that was killed. They go to a file
// in the user's cache directory, from which a server has them wait for review.
//
//	left/FOLDER/WORLD.json

// Left are such texts.
type Left struct {
	Session string             `json:"session"`
	At      time.Time          `json:"at"`
	Changes []workspace.Change `json:"changes"`
	Said    []string           `json:"said,omitempty"` // what is not among them, and why, in sentences

	// Over says for changes of a text that was pending which one that was: the file has
	// nothing else of it.
	Over map[string]string `json:"over,omitempty"`
}

// leftAge is how long texts are kept that no server takes.
const leftAge = outputAge

// maxLeft bounds a file of texts that is read, in bytes: what a harvest may have, as JSON.
const maxLeft = 2 * defaultBytes

// leftDir is where the texts of a folder are.
func leftDir(root string) (string, error) {
	at, err := place(root)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(at), "left", strings.TrimSuffix(prefix(root), ".")), nil
}

// keepTexts writes down what commands changed and nobody took. No command runs.
func (w *world) keepTexts() error {
	if w.drops || w.fresh || !w.dirty || w.session == "" {
		return nil
	}
	w.dirty, w.stays, w.over = false, true, map[string]string{}
	h, err := w.changes(".", w.walk())
	if err != nil {
		h.Said = append(h.Said, "Not taken over: "+err.Error()+".")
	}
	if len(h.Changes)+len(h.Said) == 0 {
		return nil
	}
	left := Left{Session: w.session, At: time.Now(), Changes: h.Changes, Said: h.Said, Over: w.over}
	data, err := json.Marshal(left)
	if err != nil {
		return err
	}
	dir, err := leftDir(w.root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := writeWhole(dir, filepath.Base(w.dir)+".json", data); err != nil {
		return err
	}
	if w.o.Left != nil {
		w.o.Left()
	}
	return nil
}

// TakeLeft gives the texts that are left of a folder to take, one world's at a time, the
// oldest first. The texts wait in the session that view belongs to. A text that was taken is
// forgotten; where take fails, the texts stay for the next time. Files that another user owns
// are not read.
func (m *Manager) TakeLeft(root string, view workspace.Files, take func(Left) error) error {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	dir, err := leftDir(real)
	if err != nil || !isPrivate(dir) {
		return nil //nolint:nilerr // then there are none
	}
	prefix, err := view.Resolve(root)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" {
			errs = append(errs, takeLeft(filepath.Join(dir, e.Name()), prefix, view, take))
		}
	}
	return errors.Join(errs...)
}

func takeLeft(at, prefix string, view workspace.Files, take func(Left) error) error {
	if !isPrivate(at) {
		return nil
	}
	f, err := osfile.Open(at, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another server has them
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := filelock.TryLock(f); errors.Is(err, filelock.ErrLocked) {
		return nil
	} else if err != nil {
		return err
	}
	info, err := f.Stat()
	if now, gone := os.Lstat(at); err != nil || gone != nil || !os.SameFile(info, now) || !info.Mode().IsRegular() {
		return err
	}
	var left Left
	switch {
	case time.Since(info.ModTime()) > leftAge:
		return os.Remove(at)
	case info.Size() > maxLeft:
		return fmt.Errorf("%s is too large to be read", at)
	}
	if err := json.NewDecoder(f).Decode(&left); err != nil {
		return errors.Join(fmt.Errorf("%s can't be read, and is set aside: %w", at, err), os.Rename(at, at+".damaged"))
	}
	left.fit(prefix, view)
	if err := take(left); err != nil {
		return err
	}
	return os.Remove(at)
}

// fit names the files as the view does, and says of those that were pending what the text
// was. Where nobody knows any more what the command began with, its text is as one that was
// made besides, in conflict with what there is; a deletion is left out. So is a name that is
// none in the folder, and a link that leads out, whoever wrote it there.
func (l *Left) fit(prefix string, view workspace.Files) {
	l.Changes = slices.DeleteFunc(l.Changes, func(c workspace.Change) bool {
		bad := func(rel string) bool {
			return rel == "" || path.Clean(rel) != rel || !filepath.IsLocal(filepath.FromSlash(rel))
		}
		return bad(c.Path) || c.From != "" && bad(c.From) || c.AfterLink && workspace.LeadsOut(c.Path, string(c.After))
	})
	for i := range l.Changes {
		c := &l.Changes[i]
		word, pending := l.Over[cmp.Or(c.From, c.Path)]
		c.Path = path.Join(prefix, c.Path)
		if c.From != "" {
			c.From = path.Join(prefix, c.From)
		}
		if !pending {
			continue
		}
		n, text, known := viewNode(view, cmp.Or(c.From, c.Path))
		if !known {
			continue
		}
		c.Outdated = n.word() != word
		c.Before, c.BeforeLink = nil, n.link
		if n.there {
			c.Before = nonNil(text)
		}
	}
	var late []string
	kept := l.Changes[:0]
	for _, c := range l.Changes {
		switch {
		case c.Outdated && c.After == nil:
			late = append(late, c.Path)
			continue
		case c.Outdated:
			c.Before, c.BeforeLink, c.From = nil, false, ""
		}
		kept = append(kept, c)
	}
	if l.Changes = kept; len(late) > 0 {
		l.Said = append(l.Said, fmt.Sprintf("Not taken over: %s: a command deleted it, and it was changed since.", some(late)))
	}
}

// nodeOf is the node that a record has a word of.
func nodeOf(word string) (n node, ok bool) {
	if word == "" {
		return node{}, true
	}
	kind, sum, _ := strings.Cut(word, " ")
	data, err := hex.DecodeString(sum)
	if err != nil || len(data) != sha256.Size || !slices.Contains([]string{"file", "link", "exec"}, kind) {
		return node{}, false
	}
	n = node{there: true, link: kind == "link", exec: kind == "exec"}
	copy(n.sum[:], data)
	return n, true
}
