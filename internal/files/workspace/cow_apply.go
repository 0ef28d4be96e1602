package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

var _ View = (*CopyOnWrite)(nil)

// Apply makes all changes or none, as Disk.Apply does, in the upper directory.
// Before, it copies there what of lower the changes concern and takes that
// over, which changes nothing that is seen.
func (v *CopyOnWrite) Apply(ctx context.Context, changes ...Change) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok, err := v.taken.Names(); err != nil {
		return err
	} else if !ok {
		return v.upper.Apply(ctx, changes...)
	}
	unlock, err := v.taken.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l, err := v.now()
	if err != nil {
		return err
	}
	if l != nil {
		v.upper.keeps = l.isDir // a directory of lower stays one, also when all its files are gone
		defer func() { v.upper.keeps = nil }()
		if err := v.adopt(ctx, l, changes); err != nil {
			return err
		}
	}
	return v.upper.Apply(ctx, changes...)
}

// adopt copies what changes concern.
func (v *CopyOnWrite) adopt(ctx context.Context, l *layers, changes []Change) error {
	t := takeover{layers: l, files: map[string]int{}}
	for _, c := range changes {
		for _, name := range [...]string{c.From, c.Path} {
			if name == "" {
				continue
			}
			if err := t.add(name); err != nil {
				return pathError("apply", name, err)
			}
		}
	}
	var names []string
	for name := range t.files {
		names = append(names, name)
	}
	slices.Sort(names)
	copies, err := t.copies(names)
	if err == nil {
		err = v.upper.Apply(ctx, copies...)
	}
	if err == nil {
		err = v.upper.step("take.links", func() error { return t.makeLinks(names) })
	}
	if err == nil && len(names) > 0 {
		err = v.upper.step("take", func() error { return v.taken.Take(names) })
	}
	return err
}

// takeover is what is taken over for an Apply.
type takeover struct {
	*layers
	files map[string]int // files and links of lower
}

// add adds what lies on the way to a name: links, the file at its end, or one
// that is in the way there too. Directories are made at once.
func (t *takeover) add(name string) error {
	if _, _, err := t.upper.locate(name); err != nil {
		return nil //nolint:nilerr // Disk says so, when it comes to this change
	}
	_, err := followLinks(name, t)
	if isAbsent(err) || errors.Is(err, ErrOutside) || errors.Is(err, syscall.ELOOP) {
		return nil // as above
	}
	return err
}

// kind implements linked.
func (t *takeover) kind(name string) (fs.FileMode, error) {
	if i, ok := t.file(name); ok {
		t.files[name] = i
	} else if t.isDir(name) {
		if err := t.folder.root.MkdirAll(name, 0o777); err != nil {
			return 0, err
		}
	}
	return t.layers.kind(name)
}

// copies are the regular files as changes of the upper directory. Where that
// has a file already, which nobody has seen there, it stays.
func (t *takeover) copies(names []string) ([]Change, error) {
	var list []Change
	for _, name := range names {
		i := t.files[name]
		mode := t.lower.Mode(i)
		if _, err := t.folder.root.Lstat(name); !mode.IsRegular() || err == nil {
			continue
		}
		data, err := t.read(i)
		if err != nil {
			return nil, pathError("apply", name, err)
		}
		if data == nil {
			data = []byte{}
		}
		list = append(list, Change{Path: name, After: data, Mode: mode.Perm()})
	}
	return list, nil
}

// makeLinks makes the links.
func (t *takeover) makeLinks(names []string) error {
	for _, name := range names {
		i := t.files[name]
		if t.lower.Mode(i)&fs.ModeSymlink == 0 {
			continue
		}
		target, err := t.lower.Readlink(i)
		if err == nil {
			err = t.folder.root.MkdirAll(path.Dir(name), 0o777)
		}
		if err == nil {
			err = t.folder.root.Symlink(target, name)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return pathError("apply", name, err)
		}
		if err := t.sync(path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

func (t *takeover) sync(dir string) error {
	root, err := t.folder.root.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(osfile.SyncRoot(root), root.Close())
}

var _ linked = (*takeover)(nil)
