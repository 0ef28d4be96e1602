//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestMachineFile: only a file that an administrator alone can write is believed. One of an
// administrator's that is not so locks, one of somebody else says nothing, with a warning.
// Who runs the test counts as an administrator, so without root only root's rows are skipped.
func TestMachineFile(t *testing.T) {
	root := os.Geteuid() == 0
	const set, broken, ignored, none = "set", "broken", "ignored", "none"
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir, file string) error
		want string
		says string
		root bool
	}{
		"as it must be":      {func(*testing.T, string, string) error { return nil }, set, "", false},
		"no file":            {func(_ *testing.T, _, file string) error { return ownfile.Remove(file) }, none, "", false},
		"no directory":       {func(_ *testing.T, dir, _ string) error { return ownfile.RemoveAll(dir) }, none, "", false},
		"everybody's file":   {func(_ *testing.T, _, file string) error { return ownfile.Chmod(file, 0o646) }, broken, "chmod go-w", false},
		"a group's file":     {func(_ *testing.T, _, file string) error { return orGroup(file, 0o664) }, broken, "settings.json can be written by others", true},
		"everybody's folder": {func(_ *testing.T, dir, _ string) error { return ownfile.Chmod(dir, 0o757) }, broken, "sidecar can be written by others", false},
		"a sticky folder":    {func(_ *testing.T, dir, _ string) error { return ownfile.Chmod(dir, 0o757|os.ModeSticky) }, broken, "sidecar can be written by others", false},
		"everybody's folder above": {func(_ *testing.T, dir, _ string) error { return ownfile.Chmod(filepath.Dir(dir), 0o757) }, broken,
			"can be written by others", false},
		"a sticky folder above": {func(_ *testing.T, dir, _ string) error {
			return ownfile.Chmod(filepath.Dir(dir), 0o757|os.ModeSticky)
		}, set, "", false},
		"a link": {func(_ *testing.T, dir, file string) error {
			if err := ownfile.Rename(file, filepath.Join(dir, "real")); err != nil {
				return err
			}
			return ownfile.Symlink("real", file)
		}, broken, "is a link", false},
		"a link that leads nowhere": {func(_ *testing.T, _, file string) error {
			if err := ownfile.Remove(file); err != nil {
				return err
			}
			return ownfile.Symlink("gone", file)
		}, broken, "is a link", false},
		"a linked folder": {func(_ *testing.T, dir, _ string) error {
			if err := ownfile.Rename(dir, dir+"2"); err != nil {
				return err
			}
			return ownfile.Symlink(filepath.Base(dir)+"2", dir)
		}, broken, "sidecar is a link", false},
		"a linked folder that leads nowhere": {func(_ *testing.T, dir, _ string) error {
			if err := ownfile.RemoveAll(dir); err != nil {
				return err
			}
			return ownfile.Symlink("gone", dir)
		}, broken, "sidecar is a link", false},
		"a directory": {func(_ *testing.T, _, file string) error {
			if err := ownfile.Remove(file); err != nil {
				return err
			}
			return ownfile.Mkdir(file, 0o755)
		}, broken, "is no file", false},
		"a pipe": {func(_ *testing.T, _, file string) error {
			if err := ownfile.Remove(file); err != nil {
				return err
			}
			return syscall.Mkfifo(file, 0o644)
		}, broken, "is no file", false},
		"another's file":   {func(_ *testing.T, _, file string) error { return ownfile.Chown(file, 4711, 4711) }, ignored, "belongs to the user 4711", true},
		"another's link":   {func(_ *testing.T, dir, file string) error { return others(dir, file) }, ignored, "belongs to the user 4711", true},
		"another's folder": {func(_ *testing.T, dir, _ string) error { return ownfile.Chown(dir, 4711, 4711) }, broken, "sidecar belongs to the user 4711", true},
		"another's both": {func(_ *testing.T, dir, file string) error {
			if err := ownfile.Chown(file, 4711, 4711); err != nil {
				return err
			}
			return ownfile.Chown(dir, 4711, 4711)
		}, ignored, "nothing in it holds", true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.root && !root {
				needs.Skip(t, needs.OtherUser, "a file can't be given away")
			}
			above := filepath.Join(t.TempDir(), "etc")
			dir := filepath.Join(above, "sidecar")
			file := filepath.Join(dir, "settings.json")
			must(t, ownfile.MkdirAll(dir, 0o755))
			must(t, ownfile.WriteFile(file, []byte(`{"mode": "review"}`), 0o644))
			m := MachineFile{Path: file, Owner: strconv.Itoa(os.Geteuid())}
			before := m.Stamp()
			must(t, c.do(t, dir, file))
			src, warning := m.Source()
			got, says := set, ""
			switch {
			case src.Broken != "":
				got, says = broken, src.Broken
			case warning != "":
				got, says = ignored, warning
			case len(src.Data) == 0:
				got = none
			}
			if got != c.want || !strings.Contains(says, c.says) {
				t.Errorf("it is %s (%s), want %s", got, says, c.want)
			}
			set, _ := Load(src)
			if locked := set.Locked() != ""; locked != (c.want == broken) || locked && !strings.Contains(set.Locked(), file) || c.want == ignored && !strings.Contains(says, file) {
				t.Errorf("locked: %q, %q", set.Locked(), says)
			}
			if floor := set.FloorMode(); (floor == "review") != (c.want == "set") {
				t.Errorf("the floor is %q", floor)
			}
			if after := m.Stamp(); (after == before) != (name == "as it must be") {
				t.Errorf("its stamp was %q and is %q", before, after)
			}
			if root { // the seam is only for who may own it
				m.Owner = ""
				if again, _ := m.Source(); again.Broken != src.Broken {
					t.Errorf("without the seam: %q", again.Broken)
				}
			}
		})
	}
}

func orGroup(file string, mode os.FileMode) error {
	if err := ownfile.Chown(file, -1, 4711); err != nil {
		return err
	}
	return ownfile.Chmod(file, mode)
}

func others(dir, file string) error {
	if err := ownfile.Rename(file, filepath.Join(dir, "real")); err != nil {
		return err
	}
	if err := ownfile.Symlink("real", file); err != nil {
		return err
	}
	return ownfile.Lchown(file, 4711, 4711)
}

// TestNoMachineFile: the zero value asks nothing of the disk.
func TestNoMachineFile(t *testing.T) {
	if src, warning := (MachineFile{}).Source(); len(src.Data) > 0 || src.Broken != "" || warning != "" || (MachineFile{}).Stamp() != "" {
		t.Errorf("%+v, %s", src, warning)
	}
	if at := MachineHere().Path; !filepath.IsAbs(at) || filepath.Base(at) != "settings.json" || filepath.Base(filepath.Dir(at)) != "sidecar" {
		t.Error(at)
	}
}
