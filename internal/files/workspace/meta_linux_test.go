package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func stat(t *testing.T, path string) (fs.FileInfo, *syscall.Stat_t) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info, info.Sys().(*syscall.Stat_t)
}

// TestMetadata changes files that are more than their text.
func TestMetadata(t *testing.T) {
	for _, test := range []struct {
		name  string
		setup func(path string) error
		check func(t *testing.T, path string)
		err   error
	}{
		{
			name:  "mode 0755",
			setup: func(path string) error { return ownfile.Chmod(path, 0o755) },
			check: func(t *testing.T, path string) {
				if info, _ := stat(t, path); info.Mode() != 0o755 {
					t.Errorf("mode %v", info.Mode())
				}
			},
		}, {
			name:  "mode 0600",
			setup: func(path string) error { return ownfile.Chmod(path, 0o600) },
			check: func(t *testing.T, path string) {
				if info, _ := stat(t, path); info.Mode() != 0o600 {
					t.Errorf("mode %v", info.Mode())
				}
			},
		}, {
			name:  "setgid",
			setup: func(path string) error { return ownfile.Chmod(path, 0o755|fs.ModeSetgid) },
			check: func(t *testing.T, path string) {
				if info, _ := stat(t, path); info.Mode() != 0o755|fs.ModeSetgid {
					t.Errorf("mode %v", info.Mode())
				}
			},
		}, {
			name:  "read-only",
			setup: func(path string) error { return ownfile.Chmod(path, 0o444) },
			err:   fs.ErrPermission,
		}, {
			name:  "owner",
			setup: func(path string) error { return ownfile.Chown(path, 1234, 4321) },
			check: func(t *testing.T, path string) {
				if _, st := stat(t, path); st.Uid != 1234 || st.Gid != 4321 {
					t.Errorf("owner %d:%d", st.Uid, st.Gid)
				}
			},
		}, {
			name:  "attribute",
			setup: func(path string) error { return unix.Setxattr(path, "user.k", []byte("value"), 0) },
			check: func(t *testing.T, path string) {
				buf := make([]byte, 100)
				if n, err := unix.Getxattr(path, "user.k", buf); err != nil || string(buf[:n]) != "value" {
					t.Errorf("attribute %q, %v", buf[:max(n, 0)], err)
				}
			},
		}, {
			name:  "two names",
			setup: func(path string) error { return ownfile.Link(path, path+".2") },
			check: func(t *testing.T, path string) {
				_, a := stat(t, path)
				_, b := stat(t, path+".2")
				if a.Ino != b.Ino {
					t.Error("the names were parted")
				}
			},
		}, {
			name:  "time",
			setup: func(path string) error { return ownfile.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)) },
			check: func(t *testing.T, path string) {
				if info, _ := stat(t, path); info.ModTime().Equal(time.Unix(0, 0)) {
					t.Error("the time is as before")
				}
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, dir := openTest(t, DiskOptions{StateDir: t.TempDir()}, map[string]string{"f": "old"})
			path := filepath.Join(dir, "f")
			if err := test.setup(path); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) {
				needs.Skip(t, needs.Mounts, "can't be set up here: ", err)
			} else if err != nil {
				t.Fatal(err)
			}
			err := d.Apply(t.Context(), Change{Path: "f", Before: text("old"), After: text("new text")})
			if test.err != nil {
				if !errors.Is(err, test.err) || tree(t, dir)["f"] != "old" {
					t.Errorf("error %v, want %v", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(tree(t, dir)["f"], "x "); got != "new text" { // whether it can be executed is checked below
				t.Errorf("text %q", got)
			}
			test.check(t, path)
			if test.name == "time" || test.name == "two names" {
				return
			}
			if err := d.Apply(t.Context(), Change{From: "f", Path: "moved/f", Before: text("new text")}); err != nil {
				t.Fatal(err)
			}
			test.check(t, filepath.Join(dir, "moved/f"))
		})
	}
}

func TestTwoNamesOfOneFile(t *testing.T) {
	d, dir := openTest(t, DiskOptions{StateDir: t.TempDir()}, map[string]string{"a": "old"})
	if err := ownfile.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	differ := []Change{{Path: "a", Before: text("old"), After: text("1")}, {Path: "b", Before: text("old"), After: text("2")}}
	if err := d.Apply(t.Context(), differ...); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("two texts: %v", err)
	}
	agree := []Change{{Path: "a", Before: text("old"), After: text("1")}, {Path: "b", Before: text("old"), After: text("1")}}
	if err := d.Apply(t.Context(), agree...); err != nil {
		t.Errorf("one text: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "1"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestNewFileMode(t *testing.T) {
	old := unix.Umask(0o027)
	defer unix.Umask(old)
	d, dir := openTest(t, DiskOptions{}, nil)
	if err := d.Apply(t.Context(), Change{Path: "d/a", After: text("")}, Change{Path: "x", After: text(""), Mode: 0o755}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"d/a": 0o640, "x": 0o750, "d": fs.ModeDir | 0o750} {
		if info, _ := stat(t, filepath.Join(dir, name)); info.Mode() != want {
			t.Errorf("%s has %v, want %v", name, info.Mode(), want)
		}
	}
}

// TestTempIsPrivate looks at the temporary file of a private one.
func TestTempIsPrivate(t *testing.T) {
	var modes []fs.FileMode
	d, dir := openTest(t, DiskOptions{}, map[string]string{"f": "old"})
	d.opts.Fail = func(string) error {
		names, _ := filepath.Glob(filepath.Join(dir, ".sidecar-*.tmp"))
		for _, name := range names {
			if info, err := os.Lstat(name); err == nil {
				modes = append(modes, info.Mode())
			}
		}
		return nil
	}
	if err := ownfile.Chmod(filepath.Join(dir, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Apply(t.Context(), Change{Path: "f", Before: text("old"), After: text("new")}); err != nil {
		t.Fatal(err)
	}
	if len(modes) < 3 {
		t.Error("the temporary file was not seen")
	}
	for _, m := range modes {
		if m != 0o600 {
			t.Errorf("mode %v", m)
		}
	}
}

// TestFullDevice runs out of space in the middle of a batch.
func TestFullDevice(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		needs.Skip(t, needs.Mounts, "no small file system can be mounted: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	old, large := strings.Repeat("o", 20<<10), strings.Repeat("n", 60<<10)
	files := map[string]string{"a": old, "b": old, "c": old}
	writeFiles(t, dir, files)
	if err := ownfile.Link(filepath.Join(dir, "c"), filepath.Join(dir, "c2")); err != nil {
		t.Fatal(err)
	}
	d := reopen(t, dir, t.TempDir())
	before := tree(t, dir)
	var all []Change
	for name, text := range files {
		all = append(all, Change{Path: name, Before: []byte(text), After: []byte(large + large)})
	}
	if err := d.Apply(t.Context(), all...); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	inPlace := Change{Path: "c", Before: text(old), After: text(strings.Repeat(large, 5))}
	if err := d.Apply(t.Context(), inPlace); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("in place: error %v", err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("in place, files (-want +got):\n%s", diff)
	}
	if err := d.Apply(t.Context(), Change{Path: "a", Before: text(old), After: text(large)}); err != nil {
		t.Errorf("control: %v", err)
	}
}

// TestReadOnlyDevice can't write anything.
func TestReadOnlyDevice(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		needs.Skip(t, needs.Mounts, "no file system can be mounted: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	writeFiles(t, dir, map[string]string{"a": "a", "b": "b"})
	d := reopen(t, dir, t.TempDir())
	change := []Change{{Path: "a", Before: text("a"), After: text("new")}, {Path: "d/new", After: text("new")}}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		needs.Skip(t, needs.Mounts, err)
	}
	before := tree(t, dir)
	for _, changes := range [][]Change{change, change[1:], {{Path: "b", Before: text("b")}}} {
		if err := d.Apply(t.Context(), changes...); !errors.Is(err, syscall.EROFS) {
			t.Errorf("error %v", err)
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, ""); err != nil {
		needs.Skip(t, needs.Mounts, err)
	}
	if err := d.Apply(t.Context(), change...); err != nil {
		t.Errorf("control: %v", err)
	}
}
