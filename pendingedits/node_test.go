package pendingedits_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestMode: a mode is a hunk beside those of the text, to be taken or left by
// itself, and stays while the agent goes on with the text.
func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	b := newBench(t, "f", ten, "bin", "\x00")
	view := b.store.For(agent)
	apply := func(name, before, after string, mode os.FileMode) {
		t.Helper()
		if err := view.Apply(t.Context(), workspace.Change{Path: name, Before: []byte(before), After: []byte(after), Mode: mode}); err != nil {
			t.Fatal(err)
		}
	}
	exec := func(name string) bool {
		info, err := os.Stat(filepath.Join(b.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return workspace.IsExec(info.Mode())
	}
	hunks := func() []pendingedits.Hunk { return b.store.List("").Edits[0].Hunks }
	accept := func(id ...string) {
		t.Helper()
		if r, err := b.store.Accept(t.Context(), pendingedits.Selection{Hunks: id}); err != nil || len(r.Failed) > 0 {
			t.Fatalf("%+v %v", r, err)
		}
	}
	two := replace(ten, "2\n", "two\n")
	apply("f", ten, two, 0o755)
	mode := hunks()[0].ID
	if h := hunks(); len(h) != 2 || h[0].Text != "old mode 100644\nnew mode 100755\n" || h[0].Says != "make it executable" {
		t.Fatalf("%+v", h)
	}
	if d, err := b.store.Diff("f"); err != nil || !strings.HasPrefix(d, "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n") {
		t.Errorf("%v %q", err, d)
	}
	apply("f", two, replace(two, "8\n", "acht\n"), 0)
	b.reopen()
	view = b.store.For(agent)
	if h := hunks(); len(h) != 3 || h[0].ID != mode {
		t.Fatalf("%+v", h)
	}
	accept(hunks()[1].ID)
	if exec("f") || len(hunks()) != 2 {
		t.Errorf("%v %+v", exec("f"), hunks())
	}
	accept(mode)
	if !exec("f") || len(hunks()) != 1 {
		t.Errorf("%v %+v", exec("f"), hunks())
	}
	if u, err := b.store.Undo(t.Context()); err != nil || len(u.Failed) > 0 || exec("f") || len(hunks()) != 2 {
		t.Errorf("%+v %v %v", u, err, hunks())
	}
	if _, err := b.store.Reject(t.Context(), pendingedits.Selection{Hunks: []string{hunks()[0].ID}}, ""); err != nil || len(hunks()) != 1 || hunks()[0].Says != "" {
		t.Errorf("%v %+v", err, hunks())
	}
	accept()

	// What the user does himself is not pending any more; nor is it undone.
	apply("bin", "\x00", "\x00", 0o755)
	b.chmod("bin", 0o700)
	if l := b.store.List("").Edits; len(l) != 0 {
		t.Errorf("%+v", l)
	}
	b.chmod("bin", 0o644)
	apply("bin", "\x00", "\x00", 0o755)
	b.write("bin", "\x00\x01")
	accept()
	if !exec("bin") || text(b.disk, "bin") != "\x00\x01" {
		t.Errorf("%q", text(b.disk, "bin"))
	}
	apply("bin", "\x00\x01", "\x00\x01", 0o755)
	if l := b.store.List("").Edits; len(l) != 0 {
		t.Errorf("the mode that it has: %+v", l)
	}
	apply("bin", "\x00\x01", "\x00\x01", 0o644)
	if err := ownfile.Remove(filepath.Join(b.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	b.store.BaseChanged("bin")
	if r, err := b.store.Accept(t.Context(), pendingedits.Selection{}); err != nil || len(r.Failed) != 1 {
		t.Errorf("a mode of a file that is gone: %+v %v", r, err)
	}
}

func (b *bench) chmod(name string, mode os.FileMode) {
	b.t.Helper()
	if err := ownfile.Chmod(filepath.Join(b.dir, name), mode); err != nil {
		b.t.Fatal(err)
	}
	b.store.BaseChanged(name)
}

// TestLinkConflicts: a link goes with no other edit of its name, and with
// nothing that the user made of it.
func TestLinkConflicts(t *testing.T) {
	b := newBench(t, "f", "f\n", "g", "g\n")
	symlink.Make(t, "g", filepath.Join(b.dir, "probe"))
	view := b.store.For(agent)
	link := workspace.Change{Path: "f", Before: []byte("f\n"), After: []byte("g"), AfterLink: true}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	conflict := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
	edit := func(name, before, after string) error {
		return view.Apply(t.Context(), workspace.Change{Path: name, Before: []byte(before), After: []byte(after)})
	}
	must(edit("f", "f\n", "pending\n"))
	conflict("a link over an edit", view.Apply(t.Context(), link))
	_, err := b.store.Reject(t.Context(), pendingedits.Selection{}, "")
	must(err)
	must(view.Apply(t.Context(), link))
	conflict("an edit over a link", edit("f", "f\n", "pending\n"))
	if n, err := workspace.NodeOf(view, "f"); err != nil || n.Link != "g" {
		t.Errorf("%+v %v", n, err)
	}
	if got := text(view, "f"); got != "f\n" {
		t.Errorf("the view has %q before it is accepted", got)
	}
	if err := b.store.Propose(t.Context(), "f", []byte("x")); err == nil {
		t.Error("the text of a link was edited")
	}
	b.write("f", "the user's\n")
	if r, err := b.store.Accept(t.Context(), pendingedits.Selection{}); err != nil || len(r.Failed) != 1 || text(b.disk, "f") != "the user's\n" {
		t.Errorf("%+v %v", r, err)
	}
	b.write("f", "f\n")
	if r, err := b.store.Accept(t.Context(), pendingedits.Selection{}); err != nil || len(r.Failed) != 0 {
		t.Errorf("the control: %+v %v", r, err)
	}
	if target, err := os.Readlink(filepath.Join(b.dir, "f")); err != nil || target != "g" {
		t.Errorf("%q %v", target, err)
	}
	must(ownfile.Remove(filepath.Join(b.dir, "f")))
	must(ownfile.Symlink("elsewhere", filepath.Join(b.dir, "f")))
	if u, err := b.store.Undo(t.Context()); err != nil || len(u.Failed) != 1 {
		t.Errorf("a link that the user changed was taken back: %+v %v", u, err)
	}
}
