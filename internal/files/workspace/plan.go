package workspace

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// maxBatch bounds the text that one Apply holds in memory, in bytes.
const maxBatch = 1 << 30

// version is what a name has: nothing, a regular file, or a link.
type version struct {
	Exists bool
	Link   string // target, of a link
	Data   []byte
	Meta   *meta       // of a file; nil for one that is new
	Perm   fs.FileMode // of a file that is new, before the umask
	Exec   execBit     // set where a batch changes it
	As     string      // how the base name is written, where a batch changes that alone; else ""
}

func (s version) equal(t version) bool {
	return s.Exists == t.Exists && s.Link == t.Link && bytes.Equal(s.Data, t.Data) &&
		(s.Exec == 0 && t.Exec == 0 || s.exec() == t.exec()) && (s.As == t.As || s.As == "" || t.As == "")
}

// entry is the change of one name, which has no link on its way.
type entry struct {
	folder   *folder
	name     string // relative to folder
	view     string // as the caller knows it
	old, new version
	info     fs.FileInfo // of old, to see at the last moment that it is still there
	id       fileID      // of old
	isDir    bool        // a directory has the name
	noDir    bool        // a file has the name of one of its directories
	over     bool        // it takes the place of a directory, or one takes its place: what is below comes or goes with it
	below    bool        // it is below such an entry
	stays    bool        // a new file could not take the place of old
	inPlace  bool        // the file itself is written, not replaced
	temp     string      // base name of its temporary file
}

func (e *entry) dir() string  { return path.Dir(e.name) }
func (e *entry) base() string { return path.Base(e.name) }

// rootedName is a name below a root.
type rootedName struct {
	folder *folder
	name   string
}

// plan is a batch of changes, checked, before anything is written.
type plan struct {
	entries []*entry
	dirs    []rootedName // directories to create, parents first
}

// planner plays the changes through in memory, one after the other, so that a
// batch may move a file and put a new one in its place.
type planner struct {
	disk    *Disk
	dirs    *dirCache
	entries map[rootedName]*entry
	total   int
}

// plan checks the changes against the files.
func (d *Disk) plan(ctx context.Context, changes []Change) (*plan, error) {
	p := &planner{disk: d, dirs: &dirCache{}, entries: map[rootedName]*entry{}}
	defer p.dirs.close()
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if name, err := p.play(c); err != nil {
			return nil, pathError("apply", name, err)
		}
	}
	return p.finish(ctx)
}

// play makes one change in memory. The name it returns is the one at fault.
func (p *planner) play(c Change) (string, error) {
	if c.Path == "." || c.From == "." {
		return ".", syscall.EISDIR
	}
	if c.Link() {
		return c.Path, p.playLink(c)
	}
	if c.From != "" {
		from, err := p.find(c.From, true)
		if err == nil {
			err = p.expect(from, c.Before)
		}
		if err != nil {
			return c.From, err
		}
		to, err := p.find(c.Path, false)
		if err == nil && to == from && from.respell(path.Base(c.Path)) {
			if c.After != nil {
				to.new.Data = c.After
			}
			to.chmod(c.Mode)
			return c.Path, p.count(to.new.Data)
		}
		if err == nil && to.new.Exists {
			err = fmt.Errorf("%w: the new name is taken", ErrConflict)
		}
		if err != nil {
			return c.Path, err
		}
		moved := from.new
		if file := p.target(from); file != from { // a link moves, and its file stays
			if c.After != nil {
				file.new.Data = c.After
				file.chmod(c.Mode)
			}
			from.new, to.new = version{}, moved
			return c.Path, p.count(file.new.Data)
		}
		if c.After != nil {
			moved.Data = c.After
		}
		from.new = version{}
		to.new = moved
		to.chmod(c.Mode)
		return c.Path, p.count(moved.Data)
	}
	if c.Before == nil && c.After == nil {
		return c.Path, fmt.Errorf("%w: the change is empty", fs.ErrInvalid)
	}
	e, err := p.find(c.Path, c.After == nil)
	if err == nil {
		err = p.expect(e, c.Before)
	}
	if err != nil {
		return c.Path, err
	}
	switch {
	case c.After == nil:
		e.new = version{}
	case c.Before == nil:
		e.new = version{Exists: true, Data: c.After, Perm: cmp.Or(c.Mode.Perm(), 0o644)}
	default:
		e.new.Data = c.After
		e.chmod(c.Mode)
	}
	return c.Path, p.count(c.After)
}

// count bounds the size of the batch.
func (p *planner) count(data []byte) error {
	if p.total += len(data); p.total > maxBatch || len(data) > MaxFileSize {
		return ErrTooLarge
	}
	return nil
}

// expect compares what there is, as far as the batch has played, with what the
// change was made for.
func (p *planner) expect(e *entry, before []byte) error {
	e = p.target(e)
	switch {
	case before != nil && e.isDir && !e.new.Exists:
		return syscall.EISDIR
	case before != nil && e.noDir && !e.new.Exists:
		return syscall.ENOTDIR
	case before == nil && e.new.Exists:
		return fmt.Errorf("%w: it exists", ErrConflict)
	case before != nil && !e.new.Exists:
		return fmt.Errorf("%w: it does not exist", ErrConflict)
	case !bytes.Equal(before, e.new.Data):
		return fmt.Errorf("%w: its text is another", ErrConflict)
	}
	return nil
}

// target returns the entry of the file that a link leads to.
func (p *planner) target(e *entry) *entry {
	if e.new.Link == "" {
		return e
	}
	if t, err := p.find(e.view, false); err == nil {
		return t
	}
	return e
}

// find returns the entry of name: of the file that it leads to, or, with
// itself, of the link.
func (p *planner) find(name string, itself bool) (*entry, error) {
	f, rel, err := p.disk.locate(name)
	if err != nil {
		return nil, err
	}
	if f == nil || rel == "." {
		return nil, syscall.EISDIR
	}
	dir, err := f.follow(path.Dir(rel))
	if err != nil {
		return nil, err
	}
	at := rootedName{f, path.Join(dir, path.Base(rel))}
	if itself && f.spelled.vary() {
		at.name = f.spelled.of(at.name)
	}
	if e := p.at(at); e != nil && (itself || e.new.Link == "") {
		return e, p.permit(name, e)
	}
	if !itself {
		if at.name, err = f.follow(at.name); err != nil {
			return nil, err
		}
	}
	e := p.at(at)
	if e == nil {
		e = &entry{folder: f, name: at.name, view: name}
		if err := p.permit(name, e); err != nil {
			return nil, err
		}
		if err := p.load(e); err != nil {
			return nil, err
		}
		p.entries[p.key(at)] = e
	}
	return e, p.permit(name, e)
}

// key is what all names of a file have in common, one that is not there yet too.
func (p *planner) key(at rootedName) rootedName {
	if at.folder.spelled.vary() {
		at.name = at.folder.spelled.at(path.Dir(at.name)).Key(at.name)
	}
	return at
}

func (p *planner) at(at rootedName) *entry { return p.entries[p.key(at)] }

// permit refuses what nobody may write, under the name that was given and
// under the real one.
func (p *planner) permit(name string, e *entry) error {
	if Protected(name) == Never || Protected(p.disk.viewName(e.folder, e.name)) == Never {
		return ErrProtected
	}
	return nil
}

// load finds out what there is at e.
func (p *planner) load(e *entry) error {
	root, err := p.dirs.open(rootedName{e.folder, e.dir()})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		e.noDir = true
		return nil
	case err != nil:
		return err
	}
	var f found
	if e.old, f, err = readState(root, e.base()); errors.Is(err, syscall.EISDIR) {
		e.isDir, err = true, nil
	}
	e.info, e.id, e.stays = f.info, f.id, f.stays
	e.new = e.old
	if err != nil {
		return err
	}
	return p.count(e.old.Data)
}

// found is the file that a state was read of.
type found struct {
	info  fs.FileInfo
	id    fileID
	stays bool
}

// readState reads what base is in root, a directory.
func readState(root *os.Root, base string) (version, found, error) {
	info, err := root.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return version{}, found{}, nil
	}
	if err != nil {
		return version{}, found{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(base)
		return version{Exists: true, Link: target}, found{info: info}, err
	}
	file, opened, err := openRead(root, base)
	if err != nil {
		return version{}, found{}, err
	}
	defer file.Close()
	if opened.IsDir() {
		return version{}, found{}, syscall.EISDIR
	}
	if !os.SameFile(info, opened) {
		return version{}, found{}, ErrConflict
	}
	data, err := readBounded(file, opened.Size())
	if err != nil {
		return version{}, found{}, err
	}
	m, err := readMeta(file, opened)
	f := found{info: opened}
	f.id, f.stays = identify(file, opened)
	return version{Exists: true, Data: data, Meta: m}, f, err
}

// finish drops what the batch leaves as it is, and orders the rest: everything
// is written before anything is removed, one directory after the other. Only what a
// directory takes the place of, or what is in one that gives way, goes first.
func (p *planner) finish(ctx context.Context) (*plan, error) {
	out := &plan{}
	needDir := map[rootedName]bool{}
	for at, e := range p.entries {
		if e.old.equal(e.new) {
			continue
		}
		if err := p.prepare(ctx, e); err != nil {
			return nil, pathError("apply", e.view, err)
		}
		out.entries = append(out.entries, e)
		for dir := e.dir(); e.new.Exists && dir != "."; dir = path.Dir(dir) {
			needDir[rootedName{at.folder, dir}] = true
		}
	}
	out.relate()
	rank := func(e *entry) int {
		switch {
		case e.new.Exists:
			return 1
		case e.over || e.below:
			return 0
		}
		return 2
	}
	slices.SortFunc(out.entries, func(a, b *entry) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a.folder.Dir, b.folder.Dir),
			strings.Compare(a.dir(), b.dir()), strings.Compare(a.name, b.name))
	})
	if err := out.room(p.disk.keeps); err != nil {
		return nil, err
	}
	for dir := range needDir {
		if _, err := dir.folder.root.Lstat(dir.name); errors.Is(err, fs.ErrNotExist) {
			out.dirs = append(out.dirs, dir)
		}
	}
	slices.SortFunc(out.dirs, func(a, b rootedName) int {
		return cmp.Or(strings.Compare(a.folder.Dir, b.folder.Dir), strings.Compare(a.name, b.name))
	})
	return out, sharedInode(out)
}

// prepare decides how e is written.
func (p *planner) prepare(ctx context.Context, e *entry) error {
	var random [8]byte
	rand.Read(random[:])
	e.temp = ".sidecar-" + hex.EncodeToString(random[:]) + ".tmp"
	modify := e.old.Exists && e.old.Link == "" && e.new.Exists && e.new.Link == ""
	if e.old.Exists && e.old.Link == "" && (e.old.Meta.Mode&0o222 == 0) && !e.respelled() && (modify || !p.moved(e)) {
		return fmt.Errorf("%w: the file is read-only", fs.ErrPermission)
	}
	if !modify {
		return nil
	}
	if e.respelled() {
		return nil // like any file that is moved it is written anew
	}
	e.inPlace = e.stays
	root, err := p.dirs.open(rootedName{e.folder, e.dir()})
	if err != nil {
		return err
	}
	// Replacing a file needs no permission to write it. Who replaces it must
	// have it all the same.
	err = osfile.Retry(ctx, e.view, func() error {
		file, err := root.OpenFile(e.base(), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			err = file.Close()
		}
		return err
	})
	if isRunning(err) && !e.inPlace {
		return nil
	}
	return err
}

// moved reports whether the text and mode of e went to another name.
func (p *planner) moved(e *entry) bool {
	for _, other := range p.entries {
		if other != e && other.new.Exists && other.new.Meta != nil && other.new.Meta == e.old.Meta {
			return true
		}
	}
	return false
}

// sharedInode refuses two texts for one file that has two names.
func sharedInode(p *plan) error {
	seen := map[fileID]*entry{}
	for i := 0; i < len(p.entries); i++ {
		e := p.entries[i]
		if !e.inPlace {
			continue
		}
		first := seen[e.id]
		if first == nil {
			seen[e.id] = e
			continue
		}
		if !first.new.equal(e.new) {
			return pathError("apply", e.view, fmt.Errorf("%w: it is the same file as %s", fs.ErrInvalid, first.view))
		}
		p.entries = slices.Delete(p.entries, i, i+1)
		i--
	}
	return nil
}
