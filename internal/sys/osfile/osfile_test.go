package osfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := ownfile.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOpen renames and removes a file while it is open, and goes on writing.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.tmp"), filepath.Join(dir, "a")
	f, err := Open(from, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Name() != from {
		t.Errorf("its name is %q", f.Name())
	}
	if err := ownfile.Rename(from, to); err != nil {
		t.Fatalf("renamed while it is open: %v", err)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if got := text(t, to); got != "text" {
		t.Errorf("the file has %q", got)
	}
	if err := ownfile.Remove(to); err != nil {
		t.Errorf("removed while it is open: %v", err)
	}
}

func TestOpenOnlyFiles(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	write(t, file, "text")
	if err := ownfile.Symlink("file", link); err == nil { // not everybody may on Windows
		if f, err := Open(link, os.O_RDWR, 0); err == nil {
			f.Close()
			t.Error("a link was followed")
		}
	}
	if _, err := Open(dir, os.O_RDONLY, 0); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	f, err := Open(file, os.O_RDONLY, 0)
	if err != nil {
		t.Fatalf("control: %v", err)
	}
	f.Close()
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

var errHeld = errors.New("sharing violation")

func held(err error) bool { return errors.Is(err, errHeld) }

func TestRetry(t *testing.T) {
	other := errors.New("no space")
	for _, c := range []struct {
		name  string
		free  int   // the call that the file is free at
		err   error // of the calls before
		calls int
		want  error
	}{
		{"free", 1, nil, 1, nil},
		{"soon free", 4, errHeld, 4, nil},
		{"free at the last moment", tries, errHeld, tries, nil},
		{"never free", tries + 1, errHeld, tries, errHeld},
		{"another error", 2, other, 1, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				err := retry(t.Context(), "dir/a.go", func() error {
					if calls++; calls >= c.free {
						return nil
					}
					return &os.LinkError{Op: "rename", Old: "x.tmp", New: "a.go", Err: c.err}
				}, held)
				if !errors.Is(err, c.want) || calls != c.calls {
					t.Errorf("%v after %d calls, want %v after %d", err, calls, c.want, c.calls)
				}
				if errors.Is(err, errHeld) && err.Error() != "replace dir/a.go: it seems to be open in another program: close it there and try again (sharing violation)" {
					t.Errorf("it says %q", err)
				}
			})
		})
	}
}

func TestRetryCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := retry(ctx, "a.go", func() error { calls++; cancel(); return errHeld }, held)
	if !errors.Is(err, context.Canceled) || calls > 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
