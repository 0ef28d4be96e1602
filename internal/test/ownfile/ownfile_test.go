package ownfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// TestNothingIsFollowedOut: nothing is changed by a path that a link leads out of the test's own directory, and
// the same is done where none does.
func TestNothingIsFollowedOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	decoy := filepath.Join(outside, "decoy")
	must(t, WriteFile(decoy, []byte("decoy\n"), 0o600))
	// The test has both directories; another test's is as far away as the rest of the machine.
	other, err := os.MkdirTemp("", "another-test-")
	must(t, err)
	t.Cleanup(func() { must(t, RemoveAll(other)) })
	far := filepath.Join(other, "far")
	must(t, WriteFile(far, []byte("far\n"), 0o600))
	long := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	must(t, Chtimes(far, long, long))
	if err := Symlink(far, filepath.Join(dir, "file")); err != nil {
		needs.Skip(t, needs.Links, "there are no links: ", err)
	}
	must(t, Symlink(other, filepath.Join(dir, "dir")))
	must(t, Symlink(strings.Repeat("../", 40)+strings.TrimPrefix(far, "/"), filepath.Join(dir, "up")))
	must(t, Mkdir(filepath.Join(dir, "sub"), 0o755))
	must(t, WriteFile(filepath.Join(dir, "sub/far"), []byte("near\n"), 0o600))
	must(t, Symlink("sub", filepath.Join(dir, "in")))
	deeds := map[string]func(path string) error{
		"write": func(p string) error { return WriteFile(p, []byte("MMMM"), 0o600) },
		"open": func(p string) error {
			f, err := OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.WriteString("M")
				err = errors.Join(err, f.Close())
			}
			return err
		},
		"create": func(p string) error {
			f, err := Create(p)
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"truncate": func(p string) error { return Truncate(p, 1) },
		"chmod":    func(p string) error { return Chmod(p, 0o700) },
		"chtimes":  func(p string) error { return Chtimes(p, time.Now(), time.Now()) },
	}
	below := map[string]func(path string) error{
		"remove":    Remove,
		"removeall": RemoveAll,
		"rename":    func(p string) error { return Rename(p, filepath.Join(dir, "taken")) },
		"link":      func(p string) error { return Link(p, filepath.Join(dir, "linked")) },
		"mkdir":     func(p string) error { return Mkdir(p+".new", 0o755) },
		"mkdirall":  func(p string) error { return MkdirAll(p+".new2/x", 0o755) },
		"symlink":   func(p string) error { return Symlink("x", p+".new3") },
	}
	same := func(what string) {
		t.Helper()
		data, err := os.ReadFile(far)
		info, err2 := os.Stat(far)
		list, err3 := os.ReadDir(other)
		if err := errors.Join(err, err2, err3); err != nil || string(data) != "far\n" || info.Mode() != 0o600 || !info.ModTime().Equal(long) || len(list) != 1 {
			t.Fatalf("%s: %q %v %v %v", what, data, info, list, err)
		}
	}
	for what, do := range deeds {
		for _, name := range []string{"file", "up", "dir/far"} {
			if err := do(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s %s: it was done", what, name)
			}
			same(what + " " + name)
		}
		if err := do(filepath.Join(dir, "in/far")); err != nil {
			t.Errorf("%s of a file of its own, by a link: %v", what, err)
		}
	}
	for what, do := range below {
		if err := do(filepath.Join(dir, "dir/far")); err == nil {
			t.Errorf("%s: it was done", what)
		}
		same(what)
		must(t, WriteFile(filepath.Join(dir, "in/far"), nil, 0o600))
		if err := do(filepath.Join(dir, "in/far")); err != nil {
			t.Errorf("%s of a file of its own, by a link: %v", what, err)
		}
		_ = Remove(filepath.Join(dir, "taken"))
	}
	for _, path := range []string{"/", "/x", "/etc/x", os.TempDir(), "here"} {
		if err := WriteFile(path, nil, 0o600); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if err := Rename(decoy, filepath.Join(dir, "moved")); err != nil {
		t.Errorf("from one directory of the test to another: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
