package pendingedits_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestMode: a mode is a hunk beside those of the text, to be taken or left by
// itself, and stays while the agent goes on with the text.
func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.FileModes, "files have no modes here")
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
	if got := text(view, "f"); got != "g\n" {
		t.Errorf("the view has %q through the link", got)
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

// linked is a bench with a link, one to a directory with a link in it, and one that leads
// nowhere.
func linked(t *testing.T) *bench {
	b := newBench(t, "target", "text\n", "d/in", "in\n", "d/target", "other\n")
	for name, to := range map[string]string{"link": "target", "dir": "d", "d/link": "target", "lost": "nowhere", "away": "/no/such/place"} {
		symlink.Make(t, to, filepath.Join(b.dir, filepath.FromSlash(name)))
	}
	return b
}

func (b *bench) readlink(name string) string {
	to, err := os.Readlink(filepath.Join(b.dir, name))
	if err != nil {
		return "no link"
	}
	return to
}

// TestLinkGoesItself: who deletes or moves a link has its file left alone, whether the
// change speaks of the link or of the text that it shows, and after a restart, too.
func TestLinkGoesItself(t *testing.T) {
	raw := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name    string
		changes []workspace.Change
		names   []string // of the edits
		links   map[string]string
		target  string
	}{
		{"delete by its text", []workspace.Change{{Path: "link", Before: raw("text\n")}}, []string{"link"}, map[string]string{"link": "no link"}, "text\n"},
		{"delete", []workspace.Change{{Path: "link", Before: raw("target"), BeforeLink: true}}, []string{"link"}, map[string]string{"link": "no link"}, "text\n"},
		{"delete one that leads nowhere", []workspace.Change{{Path: "lost", Before: raw("nowhere"), BeforeLink: true}}, []string{"lost"}, map[string]string{"lost": "no link"}, "text\n"},
		{"delete one that leads out", []workspace.Change{{Path: "away", Before: raw("/no/such/place"), BeforeLink: true}}, []string{"away"}, map[string]string{"away": "no link"}, "text\n"},
		{"delete below a linked directory", []workspace.Change{{Path: "dir/link", Before: raw("other\n")}}, []string{"d/link"}, map[string]string{"d/link": "no link", "dir": "d"}, "text\n"},
		{"delete a file below a linked directory", []workspace.Change{{Path: "dir/in", Before: raw("in\n")}}, []string{"d/in"}, map[string]string{"dir": "d"}, "text\n"},
		{"move by its text", []workspace.Change{{From: "link", Path: "new/link", Before: raw("text\n"), After: raw("text\n")}}, []string{"link", "new/link"}, map[string]string{"link": "no link", "new/link": "target"}, "text\n"},
		{"move and edit", []workspace.Change{{From: "link", Path: "l", Before: raw("text\n"), After: raw("new\n")}}, []string{"l", "link", "target"}, map[string]string{"link": "no link", "l": "target"}, "new\n"},
		{"move", []workspace.Change{{Path: "lost", Before: raw("nowhere"), BeforeLink: true}, {Path: "l", After: raw("nowhere"), AfterLink: true}}, []string{"l", "lost"}, map[string]string{"lost": "no link", "l": "nowhere"}, "text\n"},
		{"edit", []workspace.Change{{Path: "link", Before: raw("text\n"), After: raw("new\n")}}, []string{"target"}, map[string]string{"link": "target"}, "new\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := linked(t)
			before := b.readlink(c.changes[0].Path)
			if err := b.store.For(agent).Apply(t.Context(), c.changes...); err != nil {
				t.Fatal(err)
			}
			b.reopen()
			var names []string
			for _, e := range b.store.List("").Edits {
				names = append(names, e.Name)
			}
			if !slices.Equal(names, c.names) {
				t.Fatalf("pending: %q, want %q", names, c.names)
			}
			check := func(when string) {
				t.Helper()
				for name, want := range c.links {
					if got := b.readlink(name); got != want {
						t.Errorf("%s: %s leads to %q, want %q", when, name, got, want)
					}
				}
				if got := text(b.disk, "target"); got != c.target {
					t.Errorf("%s: the target has %q", when, got)
				}
			}
			b.acceptAll()
			check("accepted")
			if r, err := b.store.Undo(t.Context()); err != nil || len(r.Failed) > 0 {
				t.Fatalf("%+v %v", r, err)
			}
			if got := b.readlink(c.changes[0].Path); got != before || text(b.disk, "target") != "text\n" {
				t.Errorf("taken back, it leads to %q, and the target has %q", got, text(b.disk, "target"))
			}
			b.reopen()
			if r, err := b.store.RedoTo(t.Context(), ""); err != nil || len(r.Failed) > 0 {
				t.Fatalf("%+v %v", r, err)
			}
			check("redone")
		})
	}
}

// TestLinkWaits: the view has a link where it will be, and follows it; what else is done
// to it while it waits becomes one proposal.
func TestLinkWaits(t *testing.T) {
	b := linked(t)
	view := b.store.For(agent)
	apply := func(changes ...workspace.Change) {
		t.Helper()
		if err := view.Apply(t.Context(), changes...); err != nil {
			t.Fatal(err)
		}
	}
	apply(workspace.Change{From: "link", Path: "l", Before: []byte("text\n"), After: []byte("text\n")})
	if got := text(view, "l"); got != "text\n" {
		t.Errorf("through the new link: %q", got)
	}
	if _, err := view.Stat("link"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old link: %v", err)
	}
	list, err := view.ReadDir(".")
	if err != nil || !slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() == "l" }) {
		t.Errorf("%v %v", list, err)
	}
	apply(workspace.Change{Path: "l", Before: []byte("text\n"), After: []byte("new\n")})
	if got := text(view, "target"); got != "new\n" {
		t.Errorf("edited through the new link: %q", got)
	}
	apply(workspace.Change{Path: "link", After: []byte("a file\n")})
	if got := text(view, "link"); got != "a file\n" {
		t.Errorf("in its place: %q", got)
	}
	apply(workspace.Change{Path: "l", Before: []byte("target"), BeforeLink: true})
	b.acceptAll()
	if text(b.disk, "link") != "a file\n" || b.readlink("link") != "no link" || text(b.disk, "target") != "new\n" || b.readlink("l") != "no link" {
		t.Errorf("accepted: %q %q %q", text(b.disk, "link"), text(b.disk, "target"), b.readlink("l"))
	}
}
