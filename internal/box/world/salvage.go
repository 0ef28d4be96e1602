package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Output outlives the world that it was made in: what is still in the layer when the
// session ends, or when the server was killed, goes to the session's entry.

// sessionFile says in a world's directory whose it is, for the server that finds it.
const sessionFile = "session.json"

type owner struct {
	Session string            `json:"session"`
	Kind    Kind              `json:"kind"`
	Began   int64             `json:"began"`
	Drops   bool              `json:"drops,omitempty"`
	Made    map[string]string `json:"made,omitempty"`
	Linked  *Linked           `json:"linked,omitempty"`

	// Dirty says that commands may have changed what nobody has taken, and Unseen what
	// they could not read.
	Dirty  bool     `json:"dirty,omitempty"`
	Unseen []string `json:"unseen,omitempty"`
}

// noteSession writes down whose the world is.
func (w *world) noteSession() error {
	o := owner{Session: w.session, Kind: w.kind, Began: w.began, Drops: w.drops, Linked: w.linked, Made: map[string]string{}, Dirty: w.dirty, Unseen: slices.Sorted(maps.Keys(w.hidden))}
	for rel, h := range w.held {
		if !h.same {
			o.Made[rel] = h.word()
		}
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	for len(data)%recordBlock != 0 {
		data = append(data, '\n')
	}
	err = writeWhole(w.dir, sessionFile, data)
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
	if full && writeOver(w.dir, sessionFile, data) == nil { // so that a command can start that frees space
		return nil
	}
	return err
}

// recordBlock pads the session record to a multiple of this many bytes, so that a later record
// of the same size can overwrite it.
const recordBlock = 4096

// noteTaken notes that what commands changed has been taken, all of it or so far. A server
// that is killed first has it taken twice, which changes nothing the second time.
func (w *world) noteTaken() {
	if !w.closed && w.session != "" {
		_ = w.noteSession()
	}
}

// unseen reports whether no command could read a name, so that none can have changed it.
func (w *world) unseen(rel string) bool {
	for at := rel; at != "."; at = up(at) {
		if w.hidden[at] {
			return true
		}
	}
	return false
}

// holds reports whether output is held.
func (w *world) holds() bool { return w.stays || w.drops }

// salvage moves output that is still in the layer to the session's entry. No command runs.
// It fails where something could not be moved: then the layer stays for the next server.
func (w *world) salvage() error {
	if w.drops || w.out == nil || w.session == "" {
		return nil
	}
	w.stays = true // all of it
	var list []output
	for _, o := range w.walk().output {
		if !o.partial {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return nil
	}
	_, left, err := w.stash(list)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%d names can't be kept", len(left))
	}
	return err
}

// rescue does that for a world that a killed server left.
func (m *Manager) rescue(root, dir string) error {
	if !isPrivate(dir) {
		return nil // no world of ours
	}
	f, err := osfile.Open(filepath.Join(dir, sessionFile), os.O_RDONLY, 0)
	if err != nil {
		return nil // no command has begun in it
	}
	defer f.Close()
	var of owner
	if json.NewDecoder(f).Decode(&of) != nil || of.Session == "" || of.Drops {
		return nil
	}
	if of.Kind != Overlay && of.Kind != Copy && of.Kind != SeparateCopy {
		return nil
	}
	out, err := m.output(root)
	if err != nil {
		return err
	}
	w := m.newWorld(root, dir, of.Kind)
	if w.layer == nil {
		return nil
	}
	for rel, word := range of.Made {
		n, ok := nodeOf(word)
		w.held[rel] = &held{node: n} // no command made it
		of.Dirty = of.Dirty && ok
	}
	if of.Kind != Overlay {
		w.layer = &leftCopy{folderCopy{w: w}}
	}
	w.hidden = map[string]bool{}
	for _, rel := range of.Unseen {
		w.hidden[rel] = true
	}
	w.session, w.out, w.began, w.rules, w.dirty, w.linked = of.Session, out, of.Began, m.o.rulesIn(root), of.Dirty, of.Linked
	if err := errors.Join(w.keepTexts(), w.salvage()); err != nil {
		return err
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	for _, e := range out.list {
		if e.Session == of.Session && len(of.Made) > 0 {
			maps.Copy(e.Made, of.Made)
			return e.write()
		}
	}
	return nil
}

// leftCopy is a copy of which the table is lost: what has the size and the time of the
// folder's own is taken for a copy of that.
type leftCopy struct{ folderCopy }

func (c *leftCopy) original(rel string, info fs.FileInfo) bool {
	low, err := os.Lstat(filepath.Join(c.w.root, filepath.FromSlash(rel)))
	switch {
	case err != nil || low.Mode().Type() != info.Mode().Type():
		return info.Mode()&fs.ModeSymlink != 0 && leadsTo(c.at(rel), c.w.root)
	case info.IsDir():
		return filepath.Base(rel) == ".git"
	case stampFrom(low).changedSince(c.w.began) && info.ModTime().UnixNano() < c.w.began:
		return true // as it was before the user changed it
	}
	return low.Size() == info.Size() && low.ModTime().Equal(info.ModTime())
}

func (c *leftCopy) whole(string) bool { return false }

// met does not know: what the user changed since the command began is in conflict.
func (c *leftCopy) met(string, stamp) bool { return true }

// room fails where more output is held than may be.
func (w *world) room(r Request) error {
	if !r.Hold || w.out == nil {
		return nil
	}
	most := w.quota()
	if w.out.bytes() <= most {
		return nil
	}
	if held := w.out.count(); held > most {
		return &FullError{Held: held, Most: most}
	}
	return nil
}

// FullError is why a command does not run: more output waits than may.
type FullError struct{ Held, Most int64 }

func (e *FullError) Error() string {
	return fmt.Sprintf("%d MiB of output wait for this workspace, and at most %d MiB may (sidecar.output.quota); accept or drop them with `sidecar-ls review output`", e.Held>>20, e.Most>>20)
}

const defaultQuota = 4 << 30

// quota is how much output may be held of the folder.
func (w *world) quota() int64 {
	if w.o.Quota != nil {
		if set := w.o.Quota(); set > 0 {
			return set
		}
	}
	free, err := osfile.Free(w.dir)
	if err != nil {
		return defaultQuota
	}
	return min(defaultQuota, (free+w.out.bytes())/5)
}

// count counts what is held.
func (o *outputs) count() (sum int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for _, e := range o.list {
		e.Bytes = sizeOf(e.tree())
		sum += e.Bytes
		errs = append(errs, e.write())
	}
	_ = errors.Join(errs...) // it is counted anew then
	return sum
}
