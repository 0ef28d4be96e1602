package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// install makes want of what there is at e. When staged, its temporary file is
// written already.
func (d *Disk) install(ctx context.Context, dirs *dirCache, e *entry, want version, staged bool) error {
	root, err := dirs.open(rootedName{e.folder, e.dir()})
	if e.below && want.Exists && isAbsent(err) {
		if err = makeRoom(d, e); err == nil {
			root, err = dirs.open(rootedName{e.folder, e.dir()})
		}
	}
	if err != nil {
		return err
	}
	switch {
	case !want.Exists:
		return d.step("file.remove", func() error {
			return osfile.Retry(ctx, e.view, func() error { return root.Remove(e.base()) })
		})
	case e.inPlace:
		err := d.writeInPlace(ctx, root, e, want)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !staged || e.inPlace {
		if err := d.writeTemp(dirs, e, want); err != nil {
			return err
		}
	}
	if e.over {
		if err := d.step("dir.giveway", func() error { return giveWay(root, e.base()) }); err != nil {
			return err
		}
	}
	if e.respelled() && want.As != "" {
		return d.respell(ctx, root, e, want.As)
	}
	return d.step("file.rename", func() error {
		return osfile.Retry(ctx, e.view, func() error { return root.Rename(e.temp, e.base()) })
	})
}

// writeTemp writes s, complete and synced, under the temporary name of e.
func (d *Disk) writeTemp(dirs *dirCache, e *entry, s version) error {
	root, err := dirs.open(rootedName{e.folder, e.dir()})
	if err != nil {
		return err
	}
	if err := root.Remove(e.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.Link != "" {
		return d.step("temp.link", func() error { return root.Symlink(s.Link, e.temp) })
	}
	perm := fs.FileMode(0o600) // nobody else may look before the file has its final mode
	if s.Meta == nil {
		perm = s.Perm
	}
	var file *os.File
	err = d.step("temp.create", func() (err error) {
		file, err = root.OpenFile(e.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	if file != nil {
		defer file.Close()
	}
	if err != nil {
		return err
	}
	if err := d.write("temp.write", file, s.Data); err != nil {
		return err
	}
	if s.Meta != nil {
		if err := d.step("temp.meta", func() error { return s.meta().writeTo(file) }); err != nil {
			return err
		}
	}
	return d.step("temp.sync", file.Sync)
}

// writeInPlace writes want over a file that must stay the same file. The
// journal is what makes it safe.
func (d *Disk) writeInPlace(ctx context.Context, root *os.Root, e *entry, want version) error {
	var file *os.File
	err := osfile.Retry(ctx, e.view, func() (err error) {
		file, err = root.OpenFile(e.base(), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return err
	}
	defer file.Close()
	if err := d.write("file.write", file, want.Data); err != nil {
		return err
	}
	if err := d.step("file.truncate", func() error { return file.Truncate(int64(len(want.Data))) }); err != nil {
		return err
	}
	if want.Exec != 0 {
		if err := d.step("file.chmod", func() error { return file.Chmod(want.meta().Mode) }); err != nil {
			return err
		}
	}
	return d.step("file.sync", file.Sync)
}

// write writes data; under test in two parts, so that a crash can tear it.
func (d *Disk) write(name string, file *os.File, data []byte) error {
	if d.opts.Fail == nil {
		_, err := file.Write(data)
		return err
	}
	half := len(data) / 2
	if err := d.step(name+" 1", func() error { _, err := file.Write(data[:half]); return err }); err != nil {
		return err
	}
	return d.step(name+" 2", func() error { _, err := file.Write(data[half:]); return err })
}
