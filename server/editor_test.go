package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// plain are the capabilities of a client that takes neither versions nor file
// operations.
func plain() *lsp.ClientCapabilities {
	c := fakeeditor.Usual()
	c.Workspace.WorkspaceEdit = lsp.WorkspaceEditCapabilities{}
	return c
}

func modify(name, before, after string) workspace.Change {
	return workspace.Change{Path: name, Before: []byte(before), After: []byte(after)}
}

func TestApplyToOpenDocument(t *testing.T) {
	for _, c := range []struct {
		name string
		caps *lsp.ClientCapabilities
	}{{"versions", nil}, {"plain changes", plain()}} {
		w := newWorld(t, setup{capabilities: c.caps, files: map[string]string{"a.go": "one\ntwo\nthree\n"}})
		uri := w.open("a.go", "one\ntwo\nthree 😀\n")
		w.must(w.live.Apply(w.ctx, modify("a.go", "one\ntwo\nthree 😀\n", "one\nTWO\nthree 😀\nfour\n")))
		if got := w.text(uri); got != "one\nTWO\nthree 😀\nfour\n" {
			t.Errorf("%s: buffer %q", c.name, got)
		}
		if got := w.read("a.go"); got != w.text(uri) {
			t.Errorf("%s: the view has %q when Apply returns", c.name, got)
		}
		if got := w.disk("a.go"); got != "one\ntwo\nthree\n" {
			t.Errorf("%s: disk %q", c.name, got)
		}
		edits := w.Record().Edits
		if len(edits) != 1 {
			t.Fatalf("%s: %d edits, want one step of undo", c.name, len(edits))
		}
		var got []lsp.TextEdit
		if c.caps == nil {
			doc := edits[0].Edit.DocumentChanges[0].TextDocumentEdit
			if v := doc.TextDocument.Version; v == nil || *v != 1 {
				t.Errorf("version %v", v)
			}
			got = doc.Edits
		} else {
			got = edits[0].Edit.Changes[uri]
		}
		want := []lsp.TextEdit{{Range: *span(1, 0, 2, 0), NewText: "TWO\n"}, {Range: *span(3, 0, 3, 0), NewText: "four\n"}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestApplyRefused(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "a\n", "b.go": "b\n"}})
	uri := w.open("a.go", "a\n")
	for _, c := range []struct {
		name    string
		changes []workspace.Change
	}{
		{"stale open document", []workspace.Change{modify("a.go", "old\n", "new\n")}},
		{"create over an open document", []workspace.Change{{Path: "a.go", After: []byte("x")}}},
		{"stale closed file beside an open document", []workspace.Change{modify("a.go", "a\n", "A\n"), modify("b.go", "old\n", "B\n")}},
		{"existing file beside an open document", []workspace.Change{modify("a.go", "a\n", "A\n"), {Path: "b.go", After: []byte("x")}}},
		{"move onto an open document", []workspace.Change{{From: "b.go", Path: "a.go", Before: []byte("b\n"), After: []byte("b\n")}}},
	} {
		if err := w.live.Apply(w.ctx, c.changes...); !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := w.live.Apply(w.ctx, modify("a.go", "a\n", "\x00")); !errors.Is(err, workspace.ErrBinary) {
		t.Errorf("binary content: %v", err)
	}
	if n := len(w.Record().Edits); n != 0 {
		t.Errorf("%d edits were sent", n)
	}
	w.RefuseEdits("the buffer is read-only")
	err := w.live.Apply(w.ctx, modify("a.go", "a\n", "A\n"), modify("b.go", "b\n", "B\n"))
	if !errors.Is(err, workspace.ErrConflict) || !strings.Contains(err.Error(), "the buffer is read-only") {
		t.Errorf("refused: %v", err)
	}
	if w.text(uri) != "a\n" || w.disk("b.go") != "b\n" {
		t.Errorf("something was changed: %q %q", w.text(uri), w.disk("b.go"))
	}
	w.RefuseEdits("")
	w.must(w.live.Apply(w.ctx, modify("a.go", "a\n", "A\n"), modify("b.go", "b\n", "B\n"))) // the control
	if w.text(uri) != "A\n" || w.disk("b.go") != "B\n" || w.disk("a.go") != "a\n" {
		t.Errorf("got %q %q %q", w.text(uri), w.disk("b.go"), w.disk("a.go"))
	}
}

// TestModesAndLinks: what no edit of a client can do is done by the server, also
// to files that are open with unsaved text.
func TestModesAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.FileModes, "files have no modes here")
	}
	w := newWorld(t, setup{files: map[string]string{"a.sh": "a\n", "m.sh": "m\n", "f": "f\n", "dirty": "d\n", "l": "l\n"}})
	uri := w.open("a.sh", "a\nunsaved\n")
	w.open("m.sh", "m\n")
	w.open("f", "f\n")
	w.open("dirty", "d\nunsaved\n")
	w.must(w.live.Apply(w.ctx,
		workspace.Change{Path: "a.sh", Before: []byte("a\nunsaved\n"), After: []byte("A\nunsaved\n"), Mode: 0o755},
		workspace.Change{From: "m.sh", Path: "n.sh", Before: []byte("m\n"), After: []byte("m\n"), Mode: 0o755},
		workspace.Change{Path: "f", Before: []byte("f\n"), After: []byte("a.sh"), AfterLink: true},
		workspace.Change{Path: "l", Before: []byte("l\n"), After: []byte("a.sh"), AfterLink: true}))
	w.sync()
	mode := func(name string) os.FileMode {
		info, err := os.Lstat(w.path(name))
		w.must(err)
		return info.Mode()
	}
	runs := func(name string) bool { return mode(name)&0o100 != 0 } // the rest is up to the umask
	if w.text(uri) != "A\nunsaved\n" || w.disk("a.sh") != "a\n" || !runs("a.sh") {
		t.Errorf("%q %q %v", w.text(uri), w.disk("a.sh"), mode("a.sh"))
	}
	if w.disk("m.sh") != "absent" || w.disk("n.sh") != "m\n" || !runs("n.sh") {
		t.Errorf("%q %v", w.disk("n.sh"), mode("n.sh"))
	}
	for _, name := range []string{"f", "l"} {
		if target, err := os.Readlink(w.path(name)); err != nil || target != "a.sh" {
			t.Errorf("%s: %q %v", name, target, err)
		}
	}
	edits := len(w.Record().Edits)
	err := w.live.Apply(w.ctx,
		workspace.Change{Path: "dirty", Before: []byte("d\nunsaved\n"), After: []byte("a.sh"), AfterLink: true},
		workspace.Change{Path: "l", Before: []byte("a.sh"), BeforeLink: true, After: []byte("f"), AfterLink: true})
	if !errors.Is(err, workspace.ErrConflict) || w.disk("dirty") != "d\n" || len(w.Record().Edits) != edits {
		t.Errorf("unsaved text was to be lost: %v", err)
	}
	w.must(w.live.Apply(w.ctx, workspace.Change{Path: "a.sh", Before: []byte("A\nunsaved\n"), After: []byte("A\nunsaved\n"), Mode: 0o644}))
	if runs("a.sh") || len(w.Record().Edits) != edits {
		t.Errorf("only a mode: %v", mode("a.sh"))
	}
}

// failing is a disk whose writes fail.
type failing struct{ workspace.View }

var errDisk = errors.New("no space left on device")

func (failing) Apply(context.Context, ...workspace.Change) error { return errDisk }

func TestDiskFailsAfterEditor(t *testing.T) {
	w := newWorld(t, setup{
		files: map[string]string{"a.go": "a\n", "b.go": "b\n", "d.go": "d\n", "m.go": "m\n"},
		wrap:  func(v workspace.View) workspace.View { return failing{v} },
	})
	uri := w.open("a.go", "a\nz\n")
	w.open("d.go", "d\n")
	w.open("m.go", "m\n")
	err := w.live.Apply(w.ctx, modify("a.go", "a\nz\n", "A\nz\nnew\n"), modify("b.go", "b\n", "B\n"),
		workspace.Change{Path: "d.go", Before: []byte("d\n")},
		workspace.Change{From: "m.go", Path: "moved.go", Before: []byte("m\n"), After: []byte("M\n")})
	if !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	w.sync()
	got := []string{w.text(uri), w.text(w.uri("m.go")), w.text(w.uri("d.go")), w.disk("moved.go"), w.disk("b.go")}
	want := []string{"a\nz\n", "m\n", "d\n", "absent", "b\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestForms(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	for _, c := range []struct{ name, disk, buffer, edited string }{
		{"byte order mark", mark + "a\nb\n", "a\nb\n", "a\nB\n"},
		{"line ends", "a\r\nb\r\n", "a\nb\n", "a\nB\n"},
		{"both, kept in the buffer", mark + "a\r\nb\r\n", "\uFEFFa\r\nb\r\n", "\uFEFFa\r\nB\r\n"},
	} {
		w := newWorld(t, setup{files: map[string]string{"a.txt": c.disk}})
		uri := w.open("a.txt", c.buffer)
		if got := w.read("a.txt"); got != c.disk {
			t.Errorf("%s: the view has %q, want the file's form %q", c.name, got, c.disk)
		}
		after := strings.Replace(c.disk, "b", "B", 1)
		w.propose("a.txt", c.disk, after)
		r := run[review.AcceptResult](w, "sidecar.review.accept", nil)
		if len(r.Failed) > 0 || w.text(uri) != c.edited || w.read("a.txt") != after {
			t.Errorf("%s: %v, buffer %q, view %q", c.name, r.Failed, w.text(uri), w.read("a.txt"))
		}
	}
}

func TestDeleteAndMoveOpenDocuments(t *testing.T) {
	for _, c := range []struct {
		name  string
		caps  *lsp.ClientCapabilities
		moved string // the buffer of the new name
		old   string // the buffer of the old one
	}{
		{"by the editor", nil, "m2\n", "not open"},
		{"on disk", plain(), "not open", "m\n"},
	} {
		w := newWorld(t, setup{capabilities: c.caps, files: map[string]string{"d.go": "d\n", "m.go": "m\n"}})
		w.open("d.go", "d\n")
		w.open("m.go", "m\n")
		w.must(w.live.Apply(w.ctx, workspace.Change{Path: "d.go", Before: []byte("d\n")},
			workspace.Change{From: "m.go", Path: "sub/n.go", Before: []byte("m\n"), After: []byte("m2\n")}))
		w.sync()
		if w.disk("d.go") != "absent" || w.disk("m.go") != "absent" {
			t.Errorf("%s: still there", c.name)
		}
		for _, name := range []string{"d.go", "m.go"} {
			if _, err := w.live.Stat(name); err == nil {
				t.Errorf("%s: the view still has %s", c.name, name)
			}
		}
		if got := w.read("sub/n.go"); got != "m2\n" {
			t.Errorf("%s: moved %q", c.name, got)
		}
		if got := w.text(w.uri("sub/n.go")); got != c.moved {
			t.Errorf("%s: new buffer %q, want %q", c.name, got, c.moved)
		}
		if got := w.text(w.uri("m.go")); got != c.old {
			t.Errorf("%s: old buffer %q, want %q", c.name, got, c.old)
		}
	}
}

// What the user has not saved is not thrown away with the file.
func TestUnsavedIsKept(t *testing.T) {
	w := newWorld(t, setup{capabilities: plain(), files: map[string]string{"d.go": "d\n"}})
	w.open("d.go", "typed\n")
	w.open("new.go", "draft\n")
	for _, name := range []string{"d.go", "new.go"} {
		err := w.live.Apply(w.ctx, workspace.Change{Path: name, Before: []byte(w.read(name))})
		if !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.disk("d.go") != "d\n" {
		t.Error("the file is gone")
	}
}

// A client that applies an edit to another text than it was made for, and says
// that all is well, does not get away with it.
func TestEditedAtTheSameMoment(t *testing.T) {
	slow.Test(t)
	w := newWorld(t, setup{files: map[string]string{"a.go": "a\nb\n"}})
	uri := w.open("a.go", "a\nb\n")
	w.Answer("workspace/applyEdit", func(ctx context.Context, _ json.RawMessage) (any, error) {
		w.must(w.Type(ctx, uri, "typed\na\nB?\n"))
		return lsp.ApplyWorkspaceEditResult{Applied: true}, nil
	})
	if err := w.live.Apply(w.ctx, modify("a.go", "a\nb\n", "a\nB\n")); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("got %v", err)
	}
	// Typing on after the edit is no reason to doubt it.
	w.Answer("workspace/applyEdit", func(ctx context.Context, _ json.RawMessage) (any, error) {
		w.must(w.Change(ctx, uri, lsp.ContentChange{Text: "done\n"}, lsp.ContentChange{Range: span(0, 0, 0, 0), Text: "more "}))
		return lsp.ApplyWorkspaceEditResult{Applied: true}, nil
	})
	w.must(w.live.Apply(w.ctx, modify("a.go", "typed\na\nB?\n", "done\n")))
	if got := w.read("a.go"); got != "more done\n" {
		t.Errorf("got %q", got)
	}
}

// What a client made of an edit before it gave up is put back.
func TestHalfOfAnEdit(t *testing.T) {
	slow.Test(t)
	for name, answer := range map[string]lsp.ApplyWorkspaceEditResult{
		"and refused":  {FailureReason: "b.go is locked"},
		"and accepted": {Applied: true},
	} {
		w := newWorld(t, setup{files: map[string]string{"a.go": "a\n", "b.go": "b\n", "c.go": "c\n"}})
		a, b := w.open("a.go", "a\n"), w.open("b.go", "b\n")
		w.Answer("workspace/applyEdit", func(ctx context.Context, _ json.RawMessage) (any, error) {
			w.must(w.Type(ctx, a, "A\n"))
			w.must(w.Type(ctx, b, "typed\n"))
			w.Answer("workspace/applyEdit", nil) // the next edit is made
			return answer, nil
		})
		err := w.live.Apply(w.ctx, modify("a.go", "a\n", "A\n"), modify("b.go", "b\n", "B\n"), modify("c.go", "c\n", "C\n"))
		if !errors.Is(err, workspace.ErrConflict) || w.text(a) != "a\n" || w.text(b) != "typed\n" || w.disk("c.go") != "c\n" {
			t.Errorf("%s: %v, buffers %q and %q, disk %q", name, err, w.text(a), w.text(b), w.disk("c.go"))
		}
	}
}

func TestClientWithoutEdits(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "a\n"}})
	w.open("a.go", "a\n")
	w.Lacks("workspace/applyEdit")
	err := w.live.Apply(w.ctx, modify("a.go", "a\n", "A\n"))
	if err == nil || !strings.Contains(err.Error(), "can't apply edits") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	w.Answer("workspace/applyEdit", func(ctx context.Context, _ json.RawMessage) (any, error) {
		cancel()
		<-ctx.Done() // the server takes its request back
		return nil, ctx.Err()
	})
	if err := w.live.Apply(ctx, modify("a.go", "a\n", "A\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A command waits for the client while document notifications flow and other
// commands are answered.
func TestNoDeadlock(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "a\n", "b.go": "b\n"}})
	a, b := w.open("a.go", "a\n"), w.open("b.go", "b\n")
	w.Answer("workspace/applyEdit", func(ctx context.Context, _ json.RawMessage) (any, error) {
		for range 200 {
			w.must(w.Type(ctx, b, "x\n"))
			w.must(w.Type(ctx, b, "y\n"))
		}
		run[commands.ApprovalList](w, "sidecar.approval.list", nil)
		w.must(w.Type(ctx, a, "A\n"))
		return lsp.ApplyWorkspaceEditResult{Applied: true}, nil
	})
	w.propose("a.go", "a\n", "A\n")
	r := run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if d := cmp.Diff([]string{a}, r.Accepted); d != "" || len(r.Failed) > 0 {
		t.Errorf("%v %s", r.Failed, d)
	}
}

// A document is one file, by whatever name it is reached.
func TestLinks(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"real/a.go": "a\n", ".env": "TOKEN=1\n", "plain.txt": "x\n"}})
	for link, target := range map[string]string{"link": "real", "notes.txt": ".env", "other.txt": "plain.txt"} {
		symlink.Make(t, target, w.path(link))
	}
	uri := w.open("link/a.go", "typed\n")
	for _, name := range []string{"real/a.go", "link/a.go"} {
		if got := w.read(name); got != "typed\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	w.must(w.live.Apply(w.ctx, modify("link/a.go", "typed\n", "one\n")))
	w.must(w.live.Apply(w.ctx, modify("real/a.go", "one\n", "two\n")))
	if w.text(uri) != "two\n" || w.disk("real/a.go") != "a\n" {
		t.Errorf("buffer %q, disk %q", w.text(uri), w.disk("real/a.go"))
	}
	guarded := workspace.Guard(w.live, func(string) bool { return false })
	if _, err := guarded.ReadFile("notes.txt"); !errors.Is(err, workspace.ErrSensitive) {
		t.Errorf("a link to a secret: %v", err)
	}
	w.must(second(guarded.ReadFile("other.txt"))) // the control
}

func TestApplyConcurrently(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	files := map[string]string{}
	for _, n := range names {
		files[n] = "0\n"
	}
	w := newWorld(t, setup{files: files})
	for _, n := range names[:2] {
		w.open(n, "0\n")
	}
	errs := make(chan error)
	for _, n := range names {
		go func() {
			for i := range 10 {
				was := strings.Repeat("x", i) + "0\n"
				if err := w.live.Apply(w.ctx, modify(n, was, "x"+was)); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range names {
		w.must(take(w, errs))
	}
	for _, n := range names {
		if got := w.read(n); got != strings.Repeat("x", 10)+"0\n" {
			t.Errorf("%s: %q", n, got)
		}
	}
	if got := w.server.docs.Names(); !slices.Equal(got, names[:2]) {
		t.Errorf("open: %q", got)
	}
}

// TestSavedMeanwhile: a document that is saved between the plan of an edit and its
// sending has the same text, and is edited; one that is typed into is not.
func TestSavedMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name, method, params string
		edited               bool
	}{
		{"saved", "textDocument/didSave", `{"textDocument":{"uri":%q}}`, true},
		{"typed into", "textDocument/didChange", `{"textDocument":{"uri":%q,"version":2},"contentChanges":[{"text":"of the user\n"}]}`, false},
		{"closed", "textDocument/didClose", `{"textDocument":{"uri":%q}}`, false},
	} {
		caps := fakeeditor.Usual()
		caps.Experimental.Sidecar.Save = true
		var meanwhile func() // what is saved is asked for between the two
		w := newWorld(t, setup{capabilities: caps, files: map[string]string{"a.go": "one\n"}, saving: func() { meanwhile() }})
		uri := w.open("a.go", "one\n")
		meanwhile = func() { w.server.Notification(w.ctx, c.method, json.RawMessage(fmt.Sprintf(c.params, uri))) }
		err := w.live.Apply(w.ctx, modify("a.go", "one\n", "two\n"))
		if edited := w.text(uri) == "two\n"; edited != c.edited || edited != (err == nil) || err != nil && !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%s: edited %v, %v", c.name, edited, err)
		}
	}
}
