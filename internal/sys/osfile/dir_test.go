package osfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func open2(t *testing.T) (from, to *Dir, fromAt, toAt string) {
	t.Helper()
	fromAt, toAt = t.TempDir(), t.TempDir()
	from, err := OpenDir(fromAt)
	if err == nil {
		to, err = OpenDir(toAt)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = from.Close(), to.Close() })
	return from, to, fromAt, toAt
}

func TestMove(t *testing.T) {
	from, to, _, toAt := open2(t)
	if err := errors.Join(from.WriteFile("a", []byte("new"), 0o600), to.MkdirAll("sub", 0o700), to.WriteFile("sub/b", []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	sub, err := to.Sub("sub")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := from.Move("a", sub, "b"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(toAt, "sub", "b")); err != nil || string(text) != "new" {
		t.Fatalf("got %q, %v", text, err)
	}
	for _, name := range []string{"", ".", "..", "x/y"} {
		if err := from.Move(name, sub, "c"); err == nil {
			t.Errorf("%q was moved", name)
		}
	}
}

// A link on the way is not followed, wherever it leads.
func TestSubLinks(t *testing.T) {
	_, to, _, toAt := open2(t)
	if err := to.MkdirAll("real/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(t.TempDir(), filepath.Join(toAt, "out")); err != nil {
		needs.Skip(t, needs.Links, "there are no links here")
	}
	if err := errors.Join(to.Symlink("real", "in"), to.Symlink("../real/deep", "real/again")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out", "in", "in/deep", "real/again", "missing", "real/../.."} {
		if d, err := to.Sub(name); err == nil {
			t.Errorf("%s was opened", name)
			_ = d.Close()
		}
		if d, err := to.MakeSub(name+"/x", 0o700); err == nil && name != "missing" {
			t.Errorf("%s/x was made", name)
			_ = d.Close()
		}
	}
	for _, name := range []string{".", "real", "real/deep"} {
		d, err := to.Sub(name)
		if err != nil {
			t.Fatal(err)
		}
		_ = d.Close()
	}
}

// What is moved lands in the directory that was asked for, or nowhere, while a neighbour
// puts a link in the place of that directory again and again.
func TestMoveRace(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.ExactNames, "a directory that is open can't be renamed there")
	}
	from, to, _, toAt := open2(t)
	decoy := t.TempDir()
	at := func(name string) string { return filepath.Join(toAt, name) }
	if err := errors.Join(ownfile.Mkdir(at("sub"), 0o700), ownfile.Symlink(decoy, at("link"))); err != nil {
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
			}
			_ = ownfile.Rename(at("sub"), at("away"))
			_ = ownfile.Rename(at("link"), at("sub"))
			_ = ownfile.Rename(at("sub"), at("link"))
			_ = ownfile.Rename(at("away"), at("sub"))
		}
	})
	moved, refused := 0, 0
	for range 3000 {
		if err := from.WriteFile("x", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := to.Sub("sub")
		if err != nil {
			refused++
			continue
		}
		if from.Move("x", d, "x") == nil {
			moved++
		}
		_ = d.Close()
	}
	close(stop)
	end.Wait()
	if left, _ := os.ReadDir(decoy); len(left) > 0 {
		t.Errorf("%d files landed outside", len(left))
	}
	if moved == 0 {
		t.Error("nothing was moved")
	}
	t.Log(moved, "moved,", refused, "refused")
}
