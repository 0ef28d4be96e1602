package world

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestLayersOfOthers: servers that begin at once leave each other's layers alone; those of
// a folder that is gone are removed when no server has them any more.
func TestLayersOfOthers(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := t.TempDir()
	made, err := layersOf(root)
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(made, "cache")
	if err := ownfile.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		other := t.TempDir()
		all.Go(func() {
			for range 150 {
				for _, dir := range []string{root, other} {
					if _, err := layersOf(dir); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(kept); err != nil {
		t.Fatalf("the layers of a folder that is there are gone: %v", err)
	}

	lock, err := os.Open(kept)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB), ownfile.Remove(root)); err != nil {
		t.Fatal(err)
	}
	if _, err := layersOf(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Fatalf("the layers that a server has are gone: %v", err)
	}
	lock.Close()
	if _, err := layersOf(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(made); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the layers of a folder that is gone are left: %v", err)
	}
}
