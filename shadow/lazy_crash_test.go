package shadow_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/crash"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// applied is a batch of all kinds of changes, and what the files it concerns
// are before and after.
var applied = []workspace.Change{
	{Path: "a", Before: []byte("1\n"), After: []byte("one\n")},
	{Path: "b/c", Before: []byte("2\n")},
	{Path: "b/new", After: []byte("new\n")},
	{Path: "moved", From: "b/d", Before: []byte("3\n")},
	{Path: "link", Before: []byte("4\n"), After: []byte("four\n")},
}

const (
	asBefore = "a=1\n b/c=2\n b/d=3\n b/e=4\n link=4\n "
	asAfter  = "a=one\n b/e=four\n b/new=new\n link=four\n moved=3\n "
)

func state(t *testing.T, v workspace.Files) string {
	var b strings.Builder
	for _, name := range []string{"a", "b/c", "b/d", "b/e", "b/new", "link", "moved"} {
		if data, err := v.ReadFile(name); err == nil {
			fmt.Fprintf(&b, "%s=%s ", name, data)
		}
	}
	return b.String()
}

// applyDisk opens the shadow x with a journal.
func applyDisk(dir string, fail func(string) error) (*workspace.Disk, error) {
	return workspace.OpenDisk([]workspace.Folder{{Dir: filepath.Join(dir, ".sidecar/shadows/x")}}, workspace.DiskOptions{
		StateDir: filepath.Join(dir, ".sidecar/state/shadows/x.apply"), Fail: fail,
	})
}

// applyAndDie applies the batch and dies at a step, by its number.
func applyAndDie(ctx context.Context, m *shadow.Manager, step string) error {
	n := 0
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	disk, err := applyDisk(dir, func(string) error {
		if n++; fmt.Sprint(n) == step {
			crash.Now()
		}
		return nil
	})
	if err != nil {
		return err
	}
	v, err := m.View(ctx, "x", disk)
	if err != nil {
		return err
	}
	return v.Apply(ctx, applied...)
}

func lazyHouse(t *testing.T) *house {
	h := newHouse(t, "a", "1\n", "b/c", "2\n", "b/d", "3\n", "b/e", "4\n", "y/z", "5\n", "z", "6\n")
	if err := ownfile.Symlink("b/e", h.Path("link")); err != nil {
		t.Fatal(err)
	}
	h.Commit("second")
	h.create(shadow.CreateRequest{ID: "x", Lazy: true})
	return h
}

// TestLazyApplyKilled: wherever a server dies in a change of a lazy shadow, the
// next start sees all of the change or nothing.
func TestLazyApplyKilled(t *testing.T) {
	slow.Test(t)
	h := lazyHouse(t)
	var steps []string
	disk, err := applyDisk(h.Dir, func(step string) error {
		steps = append(steps, step)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	v, err := h.View(t.Context(), "x", disk)
	if err != nil {
		t.Fatal(err)
	}
	if got := state(t, v); got != asBefore {
		t.Fatalf("%q", got)
	}
	if err := v.Apply(t.Context(), applied...); err != nil {
		t.Fatal(err)
	}
	if got := state(t, v); got != asAfter {
		t.Fatalf("%q", got)
	}
	if i := slices.Index(steps, "after take"); i < 0 || i == len(steps)-1 {
		t.Fatalf("%q", steps)
	}
	seen := map[string]int{}
	for n := 1; n <= len(steps); n++ {
		// All around what is new here, and some of the rest.
		if take := slices.Index(steps, "before take") + 1; n%4 != 0 && (n < take-3 || n > take+4) && n != len(steps) {
			continue
		}
		h := lazyHouse(t)
		h.die(fmt.Sprint(n), "apply")
		again := openHouse(t, h.Repo, shadow.Options{})
		disk, err := applyDisk(h.Dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		if _, err := disk.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		v, err := again.View(t.Context(), "x", disk)
		if err != nil {
			t.Fatal(err)
		}
		got := state(t, v)
		if got != asBefore && got != asAfter {
			t.Errorf("%d, %s: %q", n, steps[n-1], got)
		}
		seen[got]++
		if got == asBefore { // nothing is in the way of trying again
			if err := v.Apply(t.Context(), applied...); err != nil {
				t.Errorf("%d, %s: again: %v", n, steps[n-1], err)
			}
		}
		if d, err := again.Diff(t.Context(), "x"); err != nil || len(d.Files) != 5 {
			t.Errorf("%d, %s: %+v %v", n, steps[n-1], d.Files, err)
		}
		h.sound()
	}
	if seen[asBefore] == 0 || seen[asAfter] == 0 {
		t.Errorf("%v", seen)
	}
}

// TestMaterializeKilled: wherever a server dies while it makes the files, the
// shadow's view is the same as before, and its files can be made then.
func TestMaterializeKilled(t *testing.T) {
	slow.Test(t)
	for _, point := range []string{"create.dir", "create.copied", "materialize.filled", "materialize.one", "materialize.moved", "materialize.indexed", "materialize.done"} {
		t.Run(point, func(t *testing.T) {
			h := lazyHouse(t)
			if err := h.view("x").Apply(t.Context(), applied...); err != nil {
				t.Fatal(err)
			}
			h.die(point, "materialize")
			again := openHouse(t, h.Repo, shadow.Options{})
			if got := state(t, again.view("x")); got != asAfter {
				t.Errorf("%q", got)
			}
			if left, _ := filepath.Glob(h.Path(".sidecar/shadows/.[no]*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			d1, err1 := again.Diff(t.Context(), "x")
			err2 := again.Materialize(t.Context(), "x")
			d2, err3 := again.Diff(t.Context(), "x")
			if err1 != nil || err2 != nil || err3 != nil || d1.Text != d2.Text || len(d1.Files) != 5 {
				t.Errorf("%v %v %v\n%s\n%s", err1, err2, err3, d1.Text, d2.Text)
			}
			if out := h.At(h.Path(".sidecar/shadows/x")).Git("status", "--porcelain"); out != " M a\n D b/c\n D b/d\n M b/e\n?? b/new\n?? moved\n" {
				t.Errorf("git status: %q", out)
			}
			if got := state(t, again.view("x")); got != asAfter {
				t.Errorf("%q", got)
			}
			h.sound()
		})
	}
}
