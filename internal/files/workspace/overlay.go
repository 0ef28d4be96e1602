package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Layer is what an overlay puts over files. It is safe for concurrent use, and
// its data is not modified.
type Layer interface {
	// Lookup returns the text of name; ok is false if the layer says nothing
	// about it.
	Lookup(name string) (data []byte, deleted, ok bool)

	// Names returns the names that the layer says something about, those it
	// deletes included, in order.
	Names() []string
}

// NewOverlay returns lower as it looks through layer. A name of the layer that
// lies at the end of a link is seen through the link too. Directories come with
// their files; they don't vanish with the last one.
func NewOverlay(lower Files, layer Layer) Files {
	return &overlay{lower, layer}
}

// Undone returns files as they were before changes were made to them.
func Undone(files Files, changes []Change) Files {
	was := texts{}
	for _, c := range changes {
		switch {
		case c.Link():
		case c.From != "":
			was[c.From], was[c.Path] = c.Before, nil
		default:
			was[c.Path] = c.Before
		}
	}
	return NewOverlay(files, was)
}

// texts is a Layer of some files, by name; nil for one that is not there.
type texts map[string][]byte

func (t texts) Lookup(name string) (data []byte, deleted, ok bool) {
	data, ok = t[name]
	return data, ok && data == nil, ok
}

func (t texts) Names() []string { return slices.Sorted(maps.Keys(t)) }

type overlay struct {
	Files
	layer Layer
}

// empty spares most calls the look at links: there is nothing to find.
func (o *overlay) empty() bool { return len(o.layer.Names()) == 0 }

func (o *overlay) Base() (*Disk, []string) {
	disk, over := o.Files.Base()
	over = append(slices.Clone(over), o.layer.Names()...)
	slices.Sort(over)
	return disk, slices.Compact(over)
}

// through follows the links that the layer makes.
func (o *overlay) through(name string) (string, error) {
	links, ok := o.layer.(interface {
		Link(name string) (target string, ok bool)
	})
	if !ok {
		return name, nil
	}
	for range maxLinks {
		target, ok := links.Link(name)
		if !ok {
			return name, nil
		}
		to, err := LinkTo(name, target)
		if err != nil {
			return name, err
		}
		name = to
	}
	return name, syscall.ELOOP
}

// isLink reports whether the layer makes a link of that name that leads somewhere.
func (o *overlay) isLink(name string) bool {
	to, err := o.through(name)
	if err != nil || to == name {
		return false
	}
	if _, deleted, ok := o.layer.Lookup(to); ok {
		return !deleted
	}
	_, err = o.Files.Stat(to)
	return err == nil
}

func (o *overlay) RealName(name string) (string, error) {
	name, err := o.through(name)
	if err != nil {
		return name, err
	}
	if _, deleted, ok := o.layer.Lookup(name); ok && !deleted {
		return name, nil
	} else if ok {
		return o.spelled(name), nil // it may be called by another spelling now
	}
	real, err := o.Files.RealName(name)
	if err != nil {
		return real, err
	}
	return o.spelled(real), nil
}

func (o *overlay) Resolve(given string) (string, error) {
	name, err := o.Files.Resolve(given)
	if err != nil {
		return name, err
	}
	return o.spelled(name), nil
}

// spelled returns a name as the layer calls it, if it has another spelling of it.
func (o *overlay) spelled(name string) string {
	if name == "." {
		return name
	}
	f := o.Folding(path.Dir(name))
	if f.Exact() {
		return name // and the layer is not asked
	}
	return Spelled(name, o.layer.Names(), func(name string) bool {
		_, deleted, ok := o.layer.Lookup(name)
		return deleted || !ok
	}, f)
}

// resolved returns the name under which the layer knows name.
func (o *overlay) resolved(name string) string {
	if name == "." || !fs.ValidPath(name) {
		return name
	}
	if real, err := o.RealName(name); err == nil {
		return real
	}
	return name
}

// lookup finds a file in the layer: absent means that the layer hides it.
func (o *overlay) lookup(name string) (data []byte, absent, ok bool) {
	if o.empty() {
		return nil, false, false
	}
	real := o.resolved(name)
	data, deleted, ok := o.layer.Lookup(real)
	if !ok || deleted && o.hasBelow(real) {
		return nil, false, false
	}
	return data, deleted, true
}

// below returns the layer's files below dir, names relative to dir.
func (o *overlay) below(dir string) []string {
	names := o.layer.Names()
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	from, _ := slices.BinarySearch(names, prefix)
	var out []string
	for _, name := range names[from:] {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			break
		}
		if _, deleted, ok := o.layer.Lookup(name); ok && !deleted || !ok && o.isLink(name) {
			out = append(out, rest)
		}
	}
	return out
}

// hasBelow reports whether the layer makes name a directory.
func (o *overlay) hasBelow(name string) bool { return len(o.below(name)) > 0 }

func (o *overlay) ReadFile(name string) ([]byte, error) {
	name, err := o.through(name)
	if err != nil {
		return nil, pathError("read", name, err)
	}
	data, absent, ok := o.lookup(name)
	switch {
	case !ok && o.trades(name):
		return nil, pathError("read", name, syscall.EISDIR)
	case !ok:
		data, err := o.Files.ReadFile(name)
		return data, o.absent("read", name, err)
	case absent:
		return nil, notExist("read", name)
	}
	return bytes.Clone(data), nil
}

func (o *overlay) Stat(name string) (fs.FileInfo, error) {
	name, err := o.through(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	data, absent, ok := o.lookup(name)
	switch {
	case absent:
		return nil, notExist("stat", name)
	case ok:
		return o.info(name, data), nil
	}
	info, err := o.Files.Stat(name)
	if !o.empty() && fs.ValidPath(name) && (err != nil || !info.IsDir()) && o.hasBelow(o.resolved(name)) {
		return virtualDir(path.Base(name)), nil
	}
	return info, o.absent("stat", name, err)
}

// trades reports whether the layer makes a directory of a file that it takes away.
func (o *overlay) trades(name string) bool {
	if o.empty() {
		return false
	}
	real := o.resolved(name)
	_, deleted, ok := o.layer.Lookup(real)
	return ok && deleted && o.hasBelow(real)
}

// absent is an error of the lower files: what is below a file that the layer takes away is
// not there.
func (o *overlay) absent(op, name string, err error) error {
	if !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, deleted, ok := o.layer.Lookup(o.resolved(dir)); ok && deleted {
			return notExist(op, name)
		}
	}
	return err
}

// info describes a file of the layer: its mode and time are the lower file's.
func (o *overlay) info(name string, data []byte) fs.FileInfo {
	info := layered{name: path.Base(name), size: int64(len(data)), mode: 0o644}
	if low, err := o.Files.Stat(name); err == nil && low.Mode().IsRegular() {
		info.mode, info.time = low.Mode(), low.ModTime()
	}
	return info
}

func (o *overlay) Open(name string) (fs.File, error) {
	name, err := o.through(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	if data, absent, ok := o.lookup(name); absent {
		return nil, notExist("open", name)
	} else if ok {
		return &layeredFile{Reader: bytes.NewReader(data), info: o.info(name, data)}, nil
	}
	info, err := o.Stat(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: underlying(err)}
	}
	if !info.IsDir() {
		return o.Files.Open(name)
	}
	entries, err := o.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &listedDir{info: info, entries: entries}, nil
}

func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	name, err := o.through(name)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	if _, absent, ok := o.lookup(name); absent {
		return nil, notExist("readdir", name)
	} else if ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	real := o.resolved(name)
	below := o.below(real)
	entries, err := o.Files.ReadDir(name)
	if err != nil && len(below) == 0 {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		_, _, ok := o.layer.Lookup(child(real, e.Name()))
		return ok
	})
	for _, rest := range below {
		base, _, isDir := strings.Cut(rest, "/")
		same := func(e fs.DirEntry) bool { return e.Name() == base }
		if at := slices.IndexFunc(entries, same); at >= 0 {
			if entries[at].IsDir() || !isDir {
				continue
			}
			entries = slices.Delete(entries, at, at+1)
		}
		var info fs.FileInfo = virtualDir(base)
		if !isDir {
			full := child(real, base)
			if data, _, ok := o.layer.Lookup(full); ok {
				info = o.info(full, data)
			} else if to, err := o.Stat(full); err == nil { // a link
				info = named{to, base}
			}
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

// Walk visits the lower files as the layer has them, and then the files that
// only the layer has.
func (o *overlay) Walk(ctx context.Context, opts WalkOptions, visit func(*Entry) error) error {
	layered := o.layer.Names() // for the whole walk, so that no file comes twice
	if len(layered) == 0 {
		return o.Files.Walk(ctx, opts, visit)
	}
	dir := path.Clean(opts.Dir) // "" becomes "."
	info, err := o.Stat(dir)
	if err != nil {
		return err
	}
	real := o.resolved(dir)
	inLayer := func(name string) string {
		if real == dir {
			return name
		}
		return path.Join(real, strings.TrimPrefix(name, dir))
	}
	var (
		ofLayer = set(layered...)
		mu      sync.Mutex
		seen    = map[string]bool{}
		stopped bool
	)
	err = o.Files.Walk(ctx, opts, func(e *Entry) error {
		if name := inLayer(e.Path); ofLayer[name] {
			mu.Lock()
			seen[name] = true
			mu.Unlock()
			data, deleted, ok := o.layer.Lookup(name)
			if deleted {
				return nil
			}
			if ok {
				e = layeredEntry(e.Path, e.Worker, data)
			}
		}
		err := visit(e)
		if errors.Is(err, fs.SkipAll) {
			mu.Lock()
			stopped = true
			mu.Unlock()
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) || stopped {
		return err
	}
	var names []string
	if info.IsDir() {
		names = o.below(real)
	} else if data, absent, ok := o.lookup(dir); ok && !absent {
		if seen[real] || opts.Keep != nil && !opts.Keep(dir, false) {
			return nil
		}
		return endOfWalk(visit(layeredEntry(dir, 0, data)))
	}
	if dir != "." && !opts.IncludeIgnored {
		opts.IncludeIgnored = o.Ignored(dir, true) // the rules don't exclude where a walk starts
	}
	for _, rest := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if name := child(real, rest); !ofLayer[name] || seen[name] || !o.walked(dir, rest, opts) {
			continue
		}
		data, _, ok := o.layer.Lookup(child(real, rest))
		if !ok {
			continue
		}
		if err := visit(layeredEntry(child(dir, rest), 0, data)); err != nil {
			return endOfWalk(err)
		}
	}
	return nil
}

// walked reports whether a walk from dir gets to rest below it.
func (o *overlay) walked(dir, rest string, opts WalkOptions) bool {
	name := dir
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		isDir := i < len(parts)-1
		name = child(name, part)
		switch {
		case part == ".git",
			!opts.Hidden && part[0] == '.',
			!isDir && !opts.IncludeIgnored && o.Ignored(name, false),
			opts.Keep != nil && !opts.Keep(name, isDir):
			return false
		}
	}
	return true
}

func endOfWalk(err error) error {
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func layeredEntry(name string, worker int, data []byte) *Entry {
	return &Entry{Path: name, Worker: worker, Read: func(buf []byte) ([]byte, error) {
		return append(buf[:0], data...), nil
	}}
}

func notExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// underlying returns what a PathError says about its path.
func underlying(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
