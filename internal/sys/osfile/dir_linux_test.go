package osfile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestSubRace: a directory that changes places with a link to its neighbour, at one stroke, is
// entered itself or not at all.
func TestSubRace(t *testing.T) {
	_, to, _, toAt := open2(t)
	at := func(name string) string { return filepath.Join(toAt, name) }
	if err := errors.Join(ownfile.Mkdir(at("sub"), 0o700), ownfile.Mkdir(at("other"), 0o700), ownfile.Symlink("other", at("link"))); err != nil {
		t.Fatal(err)
	}
	other, err := os.Stat(at("other"))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Renameat2(unix.AT_FDCWD, at("sub"), unix.AT_FDCWD, at("link"), unix.RENAME_EXCHANGE); err != nil {
		t.Fatal(err)
	}
	var end sync.WaitGroup
	stop := make(chan struct{})
	end.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, at("sub"), unix.AT_FDCWD, at("link"), unix.RENAME_EXCHANGE)
			}
		}
	})
	entered, refused := 0, 0
	for range 10_000 {
		d, err := to.Sub("sub")
		if err != nil {
			refused++
			continue
		}
		entered++
		if info, err := d.Stat("."); err == nil && os.SameFile(info, other) {
			t.Error("the link was followed")
		}
		_ = d.Close()
		if t.Failed() {
			break
		}
	}
	close(stop)
	end.Wait()
	if !t.Failed() && (entered == 0 || refused == 0) {
		t.Errorf("%d times entered, %d times refused", entered, refused)
	}
}
