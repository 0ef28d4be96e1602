//go:build unix

package osfile

import (
	"os"

	"golang.org/x/sys/unix"
)

func (d *Dir) move(name string, to *Dir, as string) error {
	from, err := d.handle()
	if err != nil {
		return err
	}
	into, err := to.handle()
	if err != nil {
		return err
	}
	if err := unix.Renameat(int(from.Fd()), name, int(into.Fd()), as); err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: as, Err: err}
	}
	return nil
}

// File is the open directory itself, which is d's to close.
func (d *Dir) File() (*os.File, error) { return d.handle() }

func (d *Dir) handle() (_ *os.File, err error) {
	if d.file == nil {
		d.file, err = d.Open(".")
	}
	return d.file, err
}
