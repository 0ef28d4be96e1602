package osfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestHeld replaces, removes and writes a file that somebody has open, who does not
// share it: until he closes it, and for ever.
func TestHeld(t *testing.T) {
	for name, do := range map[string]func(dir, file string) error{
		"replace": func(dir, file string) error { return ownfile.Rename(filepath.Join(dir, "new"), file) },
		"replace in root": func(dir, _ string) error {
			return inRoot(dir, func(r *os.Root) error { return r.Rename("new", "file") })
		},
		"remove": func(_, file string) error { return ownfile.Remove(file) },
		"write": func(_, file string) error {
			f, err := ownfile.OpenFile(file, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return f.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, released := range []bool{true, false} {
				dir := t.TempDir()
				file := filepath.Join(dir, "file")
				write(t, file, "old")
				write(t, filepath.Join(dir, "new"), "new")
				path, err := windows.UTF16PtrFromString(file)
				if err != nil {
					t.Fatal(err)
				}
				h, err := windows.CreateFile(path, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				closed := false
				calls := 0
				err = Retry(context.Background(), file, func() error {
					calls++
					if calls == 3 && released {
						closed = windows.CloseHandle(h) == nil
					}
					return do(dir, file)
				})
				switch {
				case released && (err != nil || calls != 3):
					t.Errorf("released: %v after %d calls", err, calls)
				case !released && (err == nil || calls != tries || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "close it there")):
					t.Errorf("never released: %v after %d calls", err, calls)
				}
				if !closed {
					_ = windows.CloseHandle(h)
				}
			}
		})
	}
}

func inRoot(dir string, do func(*os.Root) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(do(root), root.Close())
}
