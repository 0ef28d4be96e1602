//go:build unix

package workspace

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func TestSpecialFiles(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{"a": "a"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	names := []string{"pipe"}
	if err := syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5); err == nil {
		names = append(names, "zero")
	}
	for _, name := range names {
		if _, err := d.ReadFile(name); !errors.Is(err, ErrSpecial) {
			t.Errorf("read %s: %v", name, err)
		}
		if _, err := d.Open(name); !errors.Is(err, ErrSpecial) {
			t.Errorf("open %s: %v", name, err)
		}
		if err := d.Apply(t.Context(), Change{Path: name, Before: text(""), After: text("x")}); !errors.Is(err, ErrSpecial) {
			t.Errorf("apply %s: %v", name, err)
		}
	}
	if _, err := d.ReadFile("."); err == nil {
		t.Error("a directory was read")
	}
	if data, err := d.ReadFile("a"); string(data) != "a" {
		t.Errorf("control: %q, %v", data, err)
	}
}

// Links, pipes and sockets are no files, and a link never leads a walk away.
func TestWalkSkipsWhatIsNoFile(t *testing.T) {
	userIgnore(t, "")
	outside := diskOf(t, map[string]string{"secret": "x", "dir/secret": "x"})
	d := diskOf(t, map[string]string{"real/file": "x"})
	link := func(to, name string) {
		if err := ownfile.Symlink(to, filepath.Join(d.Abs("."), name)); err != nil {
			t.Fatal(err)
		}
	}
	link(outside.Abs("secret"), "filelink")
	link(outside.Abs("dir"), "dirlink")
	link("real", "inside")
	link("real/file", "insidefile")
	link(".", "loop")
	if err := syscall.Mkfifo(d.Abs("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"real/file"}, walked(t, d, WalkOptions{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"inside/file"}, walked(t, d, WalkOptions{Dir: "inside"})); diff != "" {
		t.Errorf("a link inside the root, named (-want +got):\n%s", diff)
	}
	for name, want := range map[string]error{"filelink": ErrOutside, "dirlink": ErrOutside, "pipe": ErrSpecial} {
		err := d.Walk(context.Background(), WalkOptions{Dir: name}, func(e *Entry) error {
			_, err := e.Read(nil)
			t.Errorf("%s: visited %s (read: %v)", name, e.Path, err)
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: Walk = %v, want %v", name, err, want)
		}
	}
}
