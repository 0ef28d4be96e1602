package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// TestUndoOfAppliedEdits takes edits that nobody reviewed back, of a file that is open and
// of one that is not, by commands.
func TestUndoOfAppliedEdits(t *testing.T) {
	w := withDispatcher(t, map[string]string{"open.txt": "on disk\n", "closed.txt": "one\n"})
	uri := w.open("open.txt", "one\n")
	w.Answer("window/showMessageRequest", func(context.Context, json.RawMessage) (any, error) {
		return lsp.MessageActionItem{Title: "Allow"}, nil
	})
	edit := func(name, old, new string) {
		t.Helper()
		var r dispatch.Result
		w.must(w.Call(w.ctx, "workspace/executeCommand", w.replace(name, old, new), &r))
		if !r.OK || r.Changes[0].State != "applied" {
			t.Fatalf("%+v %+v", r, r.Error)
		}
	}
	write := func(name, text string) {
		t.Helper()
		w.must(ownfile.WriteFile(w.path(name), []byte(text), 0o644))
	}
	want := func(open, closed string) {
		t.Helper()
		if w.text(uri) != open || w.disk("open.txt") != "on disk\n" || w.disk("closed.txt") != closed {
			t.Errorf("buffer %q, disk %q, closed %q", w.text(uri), w.disk("open.txt"), w.disk("closed.txt"))
		}
	}
	turn := func(command string, arg any, want ...string) {
		t.Helper()
		r := run[review.UndoResult](w, command, arg)
		got := append([]string{r.What}, r.Restored...)
		for _, f := range r.Failed {
			got = append(got, "failed "+f.URI+" "+strings.SplitN(f.Error, ":", 2)[0])
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s %v -want +got:\n%s", command, arg, d)
		}
	}
	const undo, redo = "sidecar.review.undo", "sidecar.review.redo"
	edit("open.txt", "one", "two")
	edit("closed.txt", "one", "two")
	want("two\n", "two\n")
	list := run[review.HistoryResult](w, "sidecar.review.history", nil).Entries
	if len(list) != 2 || list[0].What != "apply" || !list[1].Undoable || list[1].At.IsZero() ||
		!cmp.Equal(list[1].Files, []pendingedits.PastFile{{Path: "open.txt", Kind: "modify", Added: 1, Removed: 1}}) || list[0].Files[0].Path != "closed.txt" || list[0].Tool != "replace_text" {
		t.Errorf("history %+v", list)
	}
	if got := run[review.HistoryResult](w, "sidecar.review.history", object{"limit": 1}).Entries; len(got) != 1 || got[0].ID != list[0].ID {
		t.Errorf("limit: %+v", got)
	}

	turn(undo, nil, "undo", w.uri("closed.txt"))
	want("two\n", "one\n")
	turn(undo, object{}, "undo", uri)
	want("one\n", "one\n")
	turn(undo, nil, "undo")
	turn(redo, nil, "redo", uri)
	turn(redo, object{"to": list[0].ID}, "redo", w.uri("closed.txt"))
	want("two\n", "two\n")
	turn(undo, object{"to": list[1].ID}, "undo", w.uri("closed.txt"), uri)
	want("one\n", "one\n")

	// A file that was changed since stays as it is; one that was not goes back.
	edit("closed.txt", "one", "two")
	write("closed.txt", "somebody else\n")
	turn(undo, nil, "undo", "failed "+w.uri("closed.txt")+" conflict")
	want("one\n", "somebody else\n")
	write("closed.txt", "two\n")
	turn(undo, nil, "undo", w.uri("closed.txt"))
	want("one\n", "one\n")
}

// TestUndoArguments: what is wrong with them is said; what is right is taken.
func TestUndoArguments(t *testing.T) {
	w := withDispatcher(t, map[string]string{"a.txt": "one\n"})
	w.Answer("window/showMessageRequest", func(context.Context, json.RawMessage) (any, error) {
		return lsp.MessageActionItem{Title: "Allow"}, nil
	})
	var r dispatch.Result
	w.must(w.Call(w.ctx, "workspace/executeCommand", w.replace("a.txt", "one", "two"), &r))
	for _, c := range []struct {
		command string
		arg     object
		says    string
	}{
		{"sidecar.review.undo", object{"to": "u1"}, "to: "},
		{"sidecar.review.undo", object{"to": 1}, "to"},
		{"sidecar.review.undo", object{"id": "u1"}, "id"},
		{"sidecar.review.redo", object{"to": "u1"}, "to: "},
		{"sidecar.review.redo", object{"to": []string{}}, "to"},
		{"sidecar.review.history", object{"limit": "1"}, "limit"},
		{"sidecar.review.history", object{"limit": -1}, "limit: "},
		{"sidecar.review.history", object{"session": 1}, "session"},
	} {
		err := w.ExecuteCommand(w.ctx, c.command, c.arg, nil)
		if code(err) != lsp.InvalidParams || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %v: %v", c.command, c.arg, err)
		}
	}
	if w.disk("a.txt") != "two\n" {
		t.Errorf("disk %q", w.disk("a.txt"))
	}
	list := run[review.HistoryResult](w, "sidecar.review.history", object{"session": "default", "limit": 5}).Entries
	if len(list) != 1 {
		t.Fatalf("history %+v", list)
	}
	run[review.UndoResult](w, "sidecar.review.undo", object{"to": list[0].ID})
	if w.disk("a.txt") != "one\n" {
		t.Errorf("disk %q", w.disk("a.txt"))
	}
}
