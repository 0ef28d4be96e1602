package workspace

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// A file whose name changes in its spelling alone is at both names before and after,
// so it is no move from an entry to another: it is one entry, and how the name is
// written is part of its versions.

// respell makes base the spelling of e's name. It reports whether that is another.
func (e *entry) respell(base string) bool {
	if !e.new.Exists || e.new.Link != "" || base == e.base() && e.new.As == "" {
		return false
	}
	if !e.old.Exists { // it was made a moment ago
		e.name = path.Join(e.dir(), base)
		return true
	}
	if e.old.As == "" {
		e.old.As = e.base()
	}
	e.new.As = base
	return true
}

func (e *entry) respelled() bool { return e.old.As != e.new.As }

// parked is the base name that the file has while its names are exchanged. It is not
// that of the temporary file, which is written anew before each attempt.
func (e *entry) parked() string { return strings.TrimSuffix(e.temp, ".tmp") + "-name.tmp" }

// haveRespelled reads what there is at e, which is parked if its names were being
// exchanged.
func (e *entry) haveRespelled(root *os.Root) (version, error) {
	base, err := e.onDisk(root)
	if err != nil {
		return version{}, err
	}
	s, _, err := readState(root, base)
	s.As = base
	return s, err
}

// onDisk is how the name is written now.
func (e *entry) onDisk(root *os.Root) (string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return "", err
	}
	names, err := dir.Readdirnames(-1)
	if err = closeAfter(dir, err); err != nil {
		return "", err
	}
	for _, base := range []string{e.new.As, e.old.As, e.parked()} {
		if slices.Contains(names, base) {
			return base, nil
		}
	}
	return e.base(), nil
}

// unpark gives a file its old name again that was left parked.
func (e *entry) unpark(root *os.Root) error {
	if !e.respelled() {
		return nil
	}
	if now, err := e.onDisk(root); err != nil || now != e.parked() {
		return err
	}
	return root.Rename(e.parked(), e.base())
}

// respell puts the temporary file, which is written, in the place of the file, and
// gives it its name in two steps: many systems do nothing when they are told to
// rename a file to another spelling. Should it end in between, the journal knows.
func (d *Disk) respell(ctx context.Context, root *os.Root, e *entry, as string) error {
	now, err := e.onDisk(root)
	if err != nil {
		return err
	}
	rename := func(from, to string) error {
		return osfile.Retry(ctx, e.view, func() error { return root.Rename(from, to) })
	}
	if err := d.step("file.rename", func() error { return rename(e.temp, now) }); err != nil || now == as {
		return err
	}
	if now != e.parked() {
		if err := d.step("file.respell 1", func() error { return rename(now, e.parked()) }); err != nil {
			return err
		}
	}
	err = d.step("file.respell 2", func() error { return rename(e.parked(), as) })
	if err != nil && now != e.parked() {
		return errors.Join(err, rename(e.parked(), now)) // it keeps a name
	}
	return err
}
