package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestRace reads and writes below a name that somebody swaps all the time
// between a directory and a link out of the root.
func TestRace(t *testing.T) {
	const tries = 20_000
	base := t.TempDir()
	writeFiles(t, base, map[string]string{"ws/flip/secret.txt": "inside", "outside/secret.txt": "CANARY-OUT"})
	if err := ownfile.Symlink("../outside", filepath.Join(base, "ws/evil")); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDisk([]Folder{{Dir: filepath.Join(base, "ws")}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()

	var stop atomic.Bool
	swapped := make(chan int)
	go func() {
		flip, evil := filepath.Join(base, "ws/flip"), filepath.Join(base, "ws/evil")
		n := 0
		for !stop.Load() {
			if unix.Renameat2(unix.AT_FDCWD, flip, unix.AT_FDCWD, evil, unix.RENAME_EXCHANGE) == nil {
				n++
			}
		}
		swapped <- n
	}()

	// With one processor it is chance who runs when.
	deadline := time.Now().Add(2 * time.Minute)
	missing := func(i, seen int) bool { return i < tries || seen == 0 && time.Now().Before(deadline) }
	inside, refused, leaked, naive := 0, 0, 0, 0
	for i := 0; missing(i, min(inside, refused)); i++ {
		data, err := d.ReadFile("flip/secret.txt")
		switch {
		case err != nil:
			refused++
		case strings.Contains(string(data), "CANARY"):
			leaked++
		default:
			inside++
		}
	}
	for i := 0; missing(i, naive); i++ {
		path := filepath.Join(base, "ws/flip/secret.txt")
		if real, err := filepath.EvalSymlinks(path); err != nil || !strings.HasPrefix(real, filepath.Join(base, "ws")+"/") {
			continue
		}
		if data, _ := os.ReadFile(path); strings.Contains(string(data), "CANARY") {
			naive++
		}
	}
	for range tries / 40 {
		err := d.Apply(t.Context(), Change{Path: "flip/made.txt", After: text("made")})
		if err == nil {
			if data, err := d.ReadFile("flip/made.txt"); err == nil {
				err = d.Apply(t.Context(), Change{Path: "flip/made.txt", Before: data})
				if err != nil && !errors.Is(err, ErrOutside) && !errors.Is(err, ErrConflict) {
					t.Logf("delete: %v", err)
				}
			}
		}
	}
	stop.Store(true)
	n := <-swapped
	t.Logf("%d swaps; of %d reads %d inside, %d refused, %d leaked; %d leaked after a check by path", n, tries, inside, refused, leaked, naive)
	if leaked > 0 {
		t.Errorf("%d reads leaked", leaked)
	}
	if inside == 0 || refused == 0 || naive == 0 {
		t.Error("the race did not happen")
	}
	if got := tree(t, filepath.Join(base, "outside")); len(got) != 1 || got["secret.txt"] != "CANARY-OUT" {
		t.Errorf("the outside changed: %v", got)
	}
}
