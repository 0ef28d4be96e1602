package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// mover moves trees to the folder, from the layer of a world or from the output of a
// session. It works on open directories: programs in the workspace, an MCP server among
// them, may put links in the place of directories at any moment.
type mover struct {
	from, to *osfile.Dir
	trash    string // a directory on the disk of from, for what is discarded

	replaces  func(dir *osfile.Dir, rel string) bool // a directory is there in the place of the folder's, not over it
	moved     func(rel string)
	leadsBack func(dir *osfile.Dir, name string) bool // a link leads to the copy that it was made in
	apart     map[string]bool                         // names that are decided on their own, and stay

	guards bool // what is obeyed by programs is not taken away

	since int64 // of the tree that is being moved: when its first command began
	stays bool  // something of it does
	files int   // how many were moved

	kept    map[string][]string // by why
	bin     *osfile.Dir         // in trash; nil: nothing was discarded
	trashed int
	asides  []aside // where the trash is on another disk
	waited  bool    // for another program, in vain
}

// newMover returns a mover between two directories. The caller closes it.
func newMover(from, to, trash string) (*mover, error) {
	t := &mover{
		trash: trash, kept: map[string][]string{}, moved: func(string) {},
		replaces:  func(dir *osfile.Dir, _ string) bool { return isOpaque(dir) },
		leadsBack: func(*osfile.Dir, string) bool { return false },
	}
	var err error
	if t.from, err = osfile.OpenDir(from); err != nil {
		return nil, err
	}
	if t.to, err = osfile.OpenDir(to); err != nil {
		_ = t.from.Close()
		return nil, err
	}
	return t, nil
}

// close closes the directories and removes what was discarded. Removing takes longer
// than renaming, and nobody has to wait for it.
func (t *mover) close() {
	for _, a := range t.asides {
		_ = removeAll(a.in.Root, filepath.Base(a.dir.Name()))
		_, _ = a.dir.Close(), a.in.Close()
	}
	_, _ = t.from.Close(), t.to.Close()
	if t.bin != nil {
		dir := t.bin.Name()
		_ = t.bin.Close()
		go func() { _ = osfile.RemoveAll(dir) }()
	}
}

// patient renames by f. On Windows it waits a second for a program that has a file open,
// as virus scanners do with what is new; once is enough.
func (t *mover) patient(name string, f func() error) error {
	if t.waited {
		return f()
	}
	err := osfile.Retry(context.Background(), name, f)
	t.waited = osfile.IsInUse(err)
	return err
}

func (t *mover) keep(why, rel string) {
	t.kept[why] = append(t.kept[why], rel)
	t.stays = true
}

// said are sentences about what was left; without are names that were said before.
func (t *mover) said(without map[string]bool) (said []string) {
	for _, why := range slices.Sorted(maps.Keys(t.kept)) {
		names := slices.DeleteFunc(t.kept[why], func(rel string) bool { return without[rel] })
		for _, rel := range names {
			without[rel] = true
		}
		if len(names) > 0 {
			said = append(said, fmt.Sprintf("Left in the session: %s: %s.", some(names), why))
		}
	}
	return said
}

// Why something is left in the session.
const (
	changedMeanwhile = "somebody changed it in the workspace while the command ran"
	hasRepository    = "there is a repository in it"
	noParent         = "its directory does not exist in the workspace"
	linksBack        = "a link leads to the copy of the workspace in which it was made, or is one of the links there"
	swapped          = "a program put something else in the place of its directory"
	isSpecial        = "it is a socket, a pipe or a device"
	isObeyed         = "programs obey something in it, or it may hold secrets: delete it yourself"
)

// move moves what there is under a name. Nothing there is what a directory above hides.
func (t *mover) move(rel string) {
	to, err := t.to.Sub(path.Dir(rel))
	if err != nil {
		t.keep(noParent, rel)
		return
	}
	defer to.Close()
	from, err := t.from.Sub(path.Dir(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.remove(to, rel)
		return
	case errors.Is(err, osfile.ErrSwapped):
		t.keep(swapped, rel)
		return
	case err != nil:
		t.keep(reason(err), rel)
		return
	}
	defer from.Close()
	t.entry(from, to, rel)
}

// remove takes away what the folder has under a name.
func (t *mover) remove(to *osfile.Dir, rel string) {
	if low, err := to.Lstat(path.Base(rel)); err == nil && t.discard(to, rel, low) == nil {
		return
	}
	t.moved(rel)
}

// entry moves a name from an open directory to another one.
func (t *mover) entry(from, to *osfile.Dir, rel string) {
	name := path.Base(rel)
	if t.apart[rel] {
		t.stays = true
		return
	}
	info, err := from.Lstat(name)
	hidden := errors.Is(err, fs.ErrNotExist)
	if err != nil && !hidden {
		t.keep(reason(err), rel)
		return
	}
	low, lowErr := to.Lstat(name)
	there := lowErr == nil
	switch {
	case hidden || isWhiteout(info):
		if there && t.discard(to, rel, low) == nil {
			return
		}
		if err = nil; !hidden {
			err = from.Remove(name)
		}
	case info.IsDir():
		t.dir(from, to, rel, info, low)
		return
	case info.Mode().Type()&^fs.ModeSymlink != 0:
		t.keep(isSpecial, rel)
		return
	case there && (low.IsDir() || stampFrom(low).changedSince(t.since)):
		t.keep(changedMeanwhile, rel)
		return
	case info.Mode()&fs.ModeSymlink != 0 && t.leadsBack(from, name):
		t.keep(linksBack, rel)
		return
	default:
		unset(from, name, info)
		if info.Mode().IsRegular() {
			if err := unlink(from, name, info); err != nil {
				t.keep(reason(err), rel)
				return
			}
		}
		if err = t.patient(rel, func() error { return transfer(from, to, name) }); err == nil {
			t.files++
		}
	}
	if err != nil {
		t.keep(reason(err), rel)
		return
	}
	t.moved(rel)
}

// dir moves a directory: as a whole where the folder has none and nothing of it is decided
// on its own, else what is in it.
func (t *mover) dir(from, to *osfile.Dir, rel string, info, low fs.FileInfo) {
	name := path.Base(rel)
	dir, err := from.Sub(name)
	if err != nil {
		t.keep(reasonOf(err), rel)
		return
	}
	defer dir.Close()
	over := low != nil && low.IsDir() && !t.replaces(dir, rel)
	if !over {
		if !t.clean(dir, rel) {
			return
		}
		var was *discarded
		if low != nil {
			if was = t.discard(to, rel, low); was == nil {
				return
			}
		}
		if !t.anyApart(rel) {
			err := t.patient(rel, func() error { return transfer(from, to, name) })
			if err != nil {
				was.restore(to, name)
				t.keep(reason(err), rel)
				return
			}
			files, _ := countIn(to, rel)
			t.files += files
			t.moved(rel)
			return
		}
		if err := to.Mkdir(name, info.Mode().Perm()|0o700); err != nil {
			was.restore(to, name)
			t.keep(reason(err), rel)
			return
		}
	}
	into, err := to.Sub(name)
	if err != nil {
		t.keep(reasonOf(err), rel)
		return
	}
	defer into.Close()
	entries, err := dir.List()
	if err != nil {
		t.keep(reason(err), rel)
		return
	}
	for _, e := range entries {
		if workspace.Protected(e.Name()) == workspace.Never {
			t.keep(hasRepository, rel)
			continue
		}
		t.entry(dir, into, rel+"/"+e.Name())
	}
	_ = from.Remove(name) // if nothing is left in it
}

func reasonOf(err error) string {
	if errors.Is(err, osfile.ErrSwapped) {
		return swapped
	}
	return reason(err)
}

// anyApart reports whether something in a directory is decided on its own.
func (t *mover) anyApart(dir string) bool {
	for rel := range t.apart {
		if below(rel, dir) {
			return true
		}
	}
	return false
}

// discarded is what was taken away, with where it is.
type discarded struct {
	in   *osfile.Dir
	name string
}

// aside is a directory beside what was discarded, to which that went.
type aside struct{ in, dir *osfile.Dir }

// restore puts it back: what was to take its place did not come.
func (d *discarded) restore(to *osfile.Dir, name string) {
	if d != nil {
		_ = d.in.Move(d.name, to, name)
	}
}

// discard takes what the folder has under a name away, unless it was changed meanwhile, or
// that can't be found out, or something in it is decided on its own. It looks again once
// nobody finds it by its name. nil: it is there still.
func (t *mover) discard(to *osfile.Dir, rel string, low fs.FileInfo) *discarded {
	name := path.Base(rel)
	if why := t.mayGo(to, name, rel, low); why != "" {
		t.keep(why, rel)
		return nil
	}
	if t.bin == nil {
		at, err := os.MkdirTemp(t.trash, fresh)
		if err == nil {
			t.bin, err = osfile.OpenDir(at)
		}
		if err != nil {
			t.keep(reason(err), rel)
			return nil
		}
	}
	t.trashed++
	d := &discarded{in: t.bin, name: strconv.Itoa(t.trashed)}
	err := t.patient(rel, func() error { return to.Move(name, d.in, d.name) })
	if osfile.IsOtherDisk(err) {
		err = t.aside(to, name, d)
	}
	if err != nil {
		t.keep(reason(err), rel)
		return nil
	}
	if why := t.mayGo(d.in, d.name, rel, low); why != "" {
		d.restore(to, name)
		t.keep(why, rel)
		return nil
	}
	return d
}

// mayGo is why what lies at a name must stay; "" if it may go. low is what was there when it
// was looked at first: a rename changes the time of what is renamed.
func (t *mover) mayGo(in *osfile.Dir, name, rel string, low fs.FileInfo) string {
	now, err := in.Lstat(name)
	if err != nil {
		return reason(err)
	}
	if !os.SameFile(now, low) || !now.ModTime().Equal(low.ModTime()) || !now.IsDir() && now.Size() != low.Size() || stampFrom(low).changedSince(t.since) {
		return changedMeanwhile
	}
	if !now.IsDir() {
		if t.guards && decidedApart(rel) {
			return isObeyed
		}
		return ""
	}
	dir, err := in.Sub(name)
	if err != nil {
		return reasonOf(err)
	}
	defer dir.Close()
	why := ""
	err = walkDir(dir, rel, func(_ *osfile.Dir, at string, info fs.FileInfo) error {
		switch {
		case stampFrom(info).changedSince(t.since):
			why = changedMeanwhile
		case t.guards && !info.IsDir() && decidedApart(at):
			why = isObeyed
		default:
			return nil
		}
		return fs.SkipAll
	})
	if why == "" && err != nil {
		why = reasonOf(err)
	}
	return why
}

// aside discards to a directory beside, from where it can be put back.
func (t *mover) aside(to *osfile.Dir, name string, d *discarded) error {
	in, err := to.Sub(".")
	if err != nil {
		return err
	}
	temp, err := tempIn(to)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	t.asides = append(t.asides, aside{in, temp})
	d.in, d.name = temp, "discarded"
	return t.patient(name, func() error { return to.Move(name, temp, d.name) })
}

// maxDepth bounds how deep directories lie in each other: each of them is open while what is
// in it is looked at.
const maxDepth = 1024

var errTooDeep = fmt.Errorf("directories lie more than %d deep in each other", maxDepth)

// clean readies a new directory: nothing that git would take for a repository, no
// marks of the overlay.
func (t *mover) clean(dir *osfile.Dir, rel string) bool {
	bad := errors.New("")
	refuse := func(why string) error { t.keep(why, rel); return bad }
	err := func() error {
		if isRepositoryIn(dir) {
			return refuse(hasRepository)
		}
		strip(dir)
		return walkDir(dir, rel, func(in *osfile.Dir, at string, info fs.FileInfo) error {
			name := path.Base(at)
			switch {
			case workspace.Protected(name) == workspace.Never:
				return refuse(hasRepository)
			case info.IsDir():
				sub, err := in.Sub(name)
				if err != nil {
					return err
				}
				defer sub.Close()
				if isRepositoryIn(sub) {
					return refuse(hasRepository)
				}
				strip(sub)
			case info.Mode().IsRegular():
				unset(in, name, info)
				return unlink(in, name, info)
			case info.Mode()&fs.ModeIrregular != 0: // a junction of Windows, which has an absolute path
				return refuse(linksBack)
			case info.Mode()&fs.ModeSymlink != 0:
				if t.leadsBack(in, name) {
					return refuse(linksBack)
				}
			default: // hides nothing any more, or is no file
				return in.Remove(name)
			}
			return nil
		})
	}()
	if err != nil && !errors.Is(err, bad) {
		t.keep(reasonOf(err), rel)
	}
	return err == nil
}
