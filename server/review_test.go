package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

const (
	tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	proposed = "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n9\n10\n"
)

func (w *world) diagnostics(what, uri string, want ...string) {
	w.t.Helper()
	w.await(what, func(r *fakeeditor.Record) bool {
		d, told := r.Diagnostics[uri]
		if !told || len(d) != len(want) {
			return false
		}
		for i := range d {
			if !strings.Contains(d[i].Message, want[i]) {
				return false
			}
		}
		return true
	})
}

func (w *world) lenses(uri string) []string {
	w.t.Helper()
	var lenses []lsp.CodeLens
	w.must(w.Call(w.ctx, "textDocument/codeLens", lsp.CodeLensParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}}, &lenses))
	var out []string
	for _, l := range lenses {
		out = append(out, string(rune('0'+l.Range.Start.Line))+" "+l.Command.Title)
		var same lsp.CodeLens
		w.must(w.Call(w.ctx, "codeLens/resolve", l, &same))
		if d := cmp.Diff(l, same); d != "" {
			w.t.Error(d)
		}
	}
	return out
}

func (w *world) actions(uri string, at *lsp.Range, only ...string) []lsp.CodeAction {
	w.t.Helper()
	var actions []lsp.CodeAction
	w.must(w.Call(w.ctx, "textDocument/codeAction", lsp.CodeActionParams{
		TextDocument: lsp.TextDocumentIdentifier{URI: uri}, Range: *at, Context: lsp.CodeActionContext{Only: only},
	}, &actions))
	return actions
}

// choose runs the command of the action with that title, as an editor does.
func (w *world) choose(actions []lsp.CodeAction, title string) {
	w.t.Helper()
	for _, a := range actions {
		if a.Title == title {
			w.must(w.Call(w.ctx, "workspace/executeCommand", a.Command, nil))
			return
		}
	}
	w.t.Fatalf("%q is not on offer in %v", title, actions)
}

// A diff editor shows the proposal in a document of its own.
func TestProposalHasLenses(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": tenLines}})
	uri := w.open("a.txt", tenLines)
	w.propose("a.txt", tenLines, "0\n1\n2\n3\n5\n6\n7\n8\nnine\n10\n") // a line above, 4 is gone, 9 is another
	w.must(w.store.For(agent).Apply(w.ctx, workspace.Change{Path: "new.txt", After: []byte("new\n")}))
	side := func(uri string) string { return strings.Replace(uri, "file:", "sidecar-proposed:", 1) }
	for _, c := range []struct {
		uri  string
		want []string
	}{
		{uri, []string{"0 Accept file", "0 Reject file", "0 Show diff", "0 Accept", "0 Reject", "3 Accept", "3 Reject", "8 Accept", "8 Reject"}},
		{side(uri), []string{"0 Accept file", "0 Reject file", "0 Accept", "0 Reject", "3 Accept", "3 Reject", "7 Accept", "7 Reject"}},
		{side(w.uri("new.txt")), []string{"0 Accept file", "0 Reject file"}},
		{side(w.uri("other.txt")), nil},
		{"sidecar-proposed:/elsewhere/a.txt", nil},
		{"sidecar-proposed:", nil},
		{"sidecar-base" + strings.TrimPrefix(uri, "file"), nil},
	} {
		if d := cmp.Diff(c.want, w.lenses(c.uri)); d != "" {
			t.Errorf("%s: %s", c.uri, d)
		}
	}
}

// TestConflictHasBothTexts decides on lines that the user has changed, too.
func TestConflictHasBothTexts(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": tenLines}})
	uri := w.open("a.txt", tenLines)
	w.propose("a.txt", tenLines, strings.NewReplacer("2\n", "two\n", "7\n", "seven\n").Replace(tenLines))
	w.must(w.Change(w.ctx, uri, lsp.ContentChange{Range: span(1, 0, 2, 0), Text: "my\n2\n!\n"})) // beside it
	w.must(w.Change(w.ctx, uri, lsp.ContentChange{Range: span(2, 0, 3, 0), Text: "zwei\n"}))
	mine := w.text(uri)
	side := strings.Replace(uri, "file:", "sidecar-proposed:", 1)
	want := []string{"0 Reject file", "0 Keep mine", "0 Take the agent's", "5 Accept", "5 Reject"}
	if d := cmp.Diff(want, w.lenses(side)); d != "" {
		t.Error(d)
	}
	for _, c := range []struct{ side, want string }{
		{"base", mine},
		{"proposed", strings.Replace(mine, "7\n", "seven\n", 1)},
		{"taken", strings.NewReplacer("my\nzwei\n!\n", "two\n", "7\n", "seven\n").Replace(mine)},
	} {
		if got := run[review.TextResult](w, "sidecar.review.text", map[string]any{"uri": uri, "side": c.side}); got.Text != c.want {
			t.Errorf("%s: %q, want %q", c.side, got.Text, c.want)
		}
	}
	w.choose(w.actions(uri, span(1, 1, 1, 1), "quickfix.sidecar"), "Take the agent's text in place of mine (edit_file at line 2)")
	if got, want := w.text(uri), strings.Replace(mine, "my\nzwei\n!\n", "two\n", 1); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	if err := w.ExecuteCommand(w.ctx, "sidecar.review.accept", map[string]any{"take": true}, nil); err == nil {
		t.Error("everything was taken unseen")
	}
}

func TestPendingIsShown(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": tenLines}})
	uri := w.open("a.txt", tenLines)
	w.propose("a.txt", tenLines, proposed)
	w.diagnostics("a diagnostic for each hunk", uri, "replace 1 line by 1 (edit_file): two", "insert 1 line (edit_file): nine")
	d := w.Record().Diagnostics[uri]
	if d[0].Severity != lsp.SeverityInformation || d[0].Source != "sidecar" || d[0].Range != *span(1, 0, 2, 0) || d[1].Range != *span(8, 0, 8, 0) {
		t.Errorf("diagnostics %+v", d)
	}
	want := []string{"0 Accept file", "0 Reject file", "0 Show diff", "1 Accept", "1 Reject", "8 Accept", "8 Reject"}
	if d := cmp.Diff(want, w.lenses(uri)); d != "" {
		t.Error(d)
	}

	// The user types above: everything moves along.
	w.must(w.Change(w.ctx, uri, lsp.ContentChange{Range: span(0, 0, 0, 0), Text: "0\n"}))
	w.await("moved diagnostics", func(r *fakeeditor.Record) bool {
		d := r.Diagnostics[uri]
		return len(d) == 2 && d[0].Range == *span(2, 0, 3, 0) && d[1].Range == *span(9, 0, 9, 0)
	})
	want = []string{"0 Accept file", "0 Reject file", "0 Show diff", "2 Accept", "2 Reject", "9 Accept", "9 Reject"}
	if d := cmp.Diff(want, w.lenses(uri)); d != "" {
		t.Error(d)
	}

	// One hunk is accepted under the cursor, one edit of the buffer.
	w.choose(w.actions(uri, span(2, 1, 2, 1), "quickfix.sidecar"), "Accept pending change (edit_file at line 3)")
	if got := w.text(uri); got != "0\n1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n" {
		t.Errorf("buffer %q", got)
	}
	if n := len(w.Record().Edits); n != 1 {
		t.Errorf("%d edits", n)
	}
	w.diagnostics("one hunk is left", uri, "insert 1 line")

	// The other one is rejected.
	w.choose(w.actions(uri, span(9, 0, 9, 0)), "Reject pending change (edit_file at line 10)")
	w.diagnostics("nothing is left", uri)
	if got := w.lenses(uri); got != nil {
		t.Errorf("lenses %q", got)
	}
	if got := w.disk("a.txt"); got != tenLines {
		t.Errorf("disk %q", got)
	}
	// The accept is taken back.
	r := run[review.UndoResult](w, "sidecar.review.undo", nil)
	if d := cmp.Diff([]string{uri}, r.Restored); d != "" || w.text(uri) != "0\n"+tenLines {
		t.Errorf("%s %q", d, w.text(uri))
	}
}

func TestActions(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": tenLines}})
	uri := w.open("a.txt", tenLines)
	w.propose("a.txt", tenLines, proposed)
	titles := func(actions []lsp.CodeAction) []string {
		var out []string
		for _, a := range actions {
			out = append(out, a.Kind+": "+a.Title)
			if a.IsPreferred {
				t.Errorf("%s is preferred", a.Title)
			}
		}
		return out
	}
	accept, reject := "quickfix.sidecar.accept: Accept ", "quickfix.sidecar.reject: Reject "
	for _, c := range []struct {
		name string
		at   *lsp.Range
		only []string
		want []string
	}{
		{"at a hunk", span(1, 0, 1, 0), nil, []string{accept + "pending change (edit_file at line 2)", reject + "pending change (edit_file at line 2)", accept + "all pending changes of this file", reject + "all pending changes of this file"}},
		{"elsewhere", span(4, 0, 5, 0), nil, []string{accept + "all pending changes of this file", reject + "all pending changes of this file"}},
		{"rejects only", span(0, 0, 9, 0), []string{"quickfix.sidecar.reject"}, []string{reject + "pending change (edit_file at line 2)", reject + "pending change (edit_file at line 9)", reject + "all pending changes of this file"}},
		{"another kind", span(1, 0, 1, 0), []string{"refactor"}, nil},
		{"the beginning of a kind", span(1, 0, 1, 0), []string{"quick"}, nil},
	} {
		if d := cmp.Diff(c.want, titles(w.actions(uri, c.at, c.only...))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	err := w.Call(w.ctx, "textDocument/codeAction", lsp.CodeActionParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}, Range: *span(5, 0, 0, 0)}, nil)
	if code(err) != lsp.InvalidParams {
		t.Errorf("range that is turned round: %v", err)
	}

	caps := fakeeditor.Usual()
	caps.TextDocument.CodeAction.Literal = nil
	w = newWorld(t, setup{capabilities: caps, files: map[string]string{"a.txt": tenLines}})
	w.propose("a.txt", tenLines, proposed)
	var commands []lsp.Command
	w.must(w.Call(w.ctx, "textDocument/codeAction", lsp.CodeActionParams{TextDocument: lsp.TextDocumentIdentifier{URI: w.uri("a.txt")}, Range: *span(1, 0, 1, 0)}, &commands))
	if len(commands) != 4 || commands[0].Command != "sidecar.review.accept" {
		t.Errorf("a client that knows only commands got %+v", commands)
	}
}

func TestAcceptClosedFiles(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": tenLines, "gone.txt": "x\n"}})
	w.propose("a.txt", tenLines, proposed)
	w.diagnostics("a closed file's hunks", w.uri("a.txt"), "two", "nine")
	w.must(w.store.For(pendingedits.Proposer{Session: "s1", Tool: "write_file"}).Apply(w.ctx,
		workspace.Change{Path: "new/b.txt", After: []byte("b\n")}, workspace.Change{Path: "gone.txt", Before: []byte("x\n")}))
	w.diagnostics("a deleted file", w.uri("gone.txt"), "delete this file (write_file)")

	list := run[review.Listed](w, "sidecar.review.list", nil)
	var got []string
	for _, e := range list.Edits {
		got = append(got, strings.Join([]string{e.Path, e.Kind, e.State, e.Session, e.Tool}, " "))
		if e.URI != w.uri(e.Path) || len(e.Hunks) == 0 {
			t.Errorf("edit %+v", e)
		}
	}
	want := []string{"a.txt modify clean default edit_file", "gone.txt delete clean s1 write_file", "new/b.txt create clean s1 write_file"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	h := list.Edits[0].Hunks[0]
	if h.OldStart != 2 || h.OldLines != 1 || h.NewStart != 2 || h.NewLines != 1 || h.Text != "-2\n+two\n" {
		t.Errorf("hunk %+v", h)
	}
	if n := len(run[review.Listed](w, "sidecar.review.list", object{"session": "s1"}).Edits); n != 2 {
		t.Errorf("%d edits of the session", n)
	}
	if diff := run[review.DiffResult](w, "sidecar.review.diff", object{"uri": w.uri("a.txt")}).Diff; !strings.Contains(diff, "+two") || strings.Contains(diff, "gone") {
		t.Errorf("diff\n%s", diff)
	}
	for side, want := range map[string]string{"base": tenLines, "proposed": proposed} {
		if got := run[review.TextResult](w, "sidecar.review.text", object{"uri": w.uri("a.txt"), "side": side}).Text; got != want {
			t.Errorf("%s: %q", side, got)
		}
	}

	r := run[review.AcceptResult](w, "sidecar.review.accept", object{"hunks": []string{h.ID}})
	if d := cmp.Diff([]string{w.uri("a.txt")}, r.Accepted); d != "" || w.disk("a.txt") != strings.Replace(tenLines, "2", "two", 1) {
		t.Errorf("one hunk: %s %q", d, w.disk("a.txt"))
	}
	r = run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if d := cmp.Diff([]string{w.uri("a.txt"), w.uri("gone.txt"), w.uri("new/b.txt")}, r.Accepted); d != "" {
		t.Error(d)
	}
	if w.disk("a.txt") != proposed || w.disk("new/b.txt") != "b\n" || w.disk("gone.txt") != "absent" {
		t.Errorf("disk %q %q %q", w.disk("a.txt"), w.disk("new/b.txt"), w.disk("gone.txt"))
	}
	w.diagnostics("nothing is left", w.uri("a.txt"))
	if n := len(w.Record().Edits); n != 0 {
		t.Errorf("%d edits were sent for closed files", n)
	}
}

func TestRefusedAcceptKeepsTheEdit(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "a\n"}})
	uri := w.open("a.txt", "a\n")
	w.propose("a.txt", "a\n", "A\n")
	w.RefuseEdits("the buffer is locked")
	r := run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if len(r.Accepted) != 0 || len(r.Failed) != 1 || r.Failed[0].URI != uri || !strings.Contains(r.Failed[0].Error, "the buffer is locked") {
		t.Errorf("got %+v", r)
	}
	if n := len(run[review.Listed](w, "sidecar.review.list", nil).Edits); n != 1 {
		t.Errorf("%d edits are left", n)
	}
	w.RefuseEdits("")
	if r := run[review.AcceptResult](w, "sidecar.review.accept", nil); len(r.Accepted) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestConflictWhileTyping(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "a\nb\nc\n"}})
	uri := w.open("a.txt", "a\nb\nc\n")
	w.propose("a.txt", "a\nb\nc\n", "a\nB\nc\n")
	w.must(w.Change(w.ctx, uri, lsp.ContentChange{Range: span(1, 0, 1, 1), Text: "mine"}))
	w.diagnostics("the conflict", uri, "in conflict with your changes")
	if got := w.lenses(uri); strings.Join(got, ",") != "0 Reject file,0 Show diff,1 Keep mine,1 Take the agent's" {
		t.Errorf("lenses %q", got)
	}
	r := run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if len(r.Accepted) != 0 || len(r.Failed) != 1 || w.text(uri) != "a\nmine\nc\n" {
		t.Errorf("got %+v, %q", r, w.text(uri))
	}
	run[review.RejectResult](w, "sidecar.review.reject", object{"uris": []string{uri}, "reason": "I did it myself"})
	w.diagnostics("nothing is left", uri)
}

func TestStaleRevision(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "a\n"}})
	w.propose("a.txt", "a\n", "A\n")
	seen := run[review.Listed](w, "sidecar.review.list", nil).Revision
	run[object](w, "sidecar.review.propose", object{"uri": w.uri("a.txt"), "text": "AA\n"})
	stale := run[review.AcceptResult](w, "sidecar.review.accept", object{"revision": seen})
	if len(stale.Accepted) != 0 || len(stale.Failed) != 1 || !strings.HasPrefix(stale.Failed[0].Error, "conflict: ") || w.disk("a.txt") != "a\n" {
		t.Errorf("got %+v, %q", stale, w.disk("a.txt"))
	}
	if err := w.ExecuteCommand(w.ctx, "sidecar.review.reject", object{"revision": seen}, nil); code(err) != lsp.RequestFailed {
		t.Errorf("reject: %v", err)
	}
	seen = run[review.Listed](w, "sidecar.review.list", nil).Revision
	run[review.AcceptResult](w, "sidecar.review.accept", object{"revision": seen})
	if w.disk("a.txt") != "AA\n" {
		t.Errorf("disk %q", w.disk("a.txt"))
	}
}

// The user's own text is written in the form that the file has.
func TestProposeKeepsTheForm(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	w := newWorld(t, setup{files: map[string]string{"a.txt": mark + "a\r\nb\r\n"}})
	w.propose("a.txt", mark+"a\r\nb\r\n", mark+"a\r\nB\r\n")
	got := run[review.TextResult](w, "sidecar.review.text", object{"uri": w.uri("a.txt"), "side": "proposed"}).Text
	if got != "a\r\nB\r\n" {
		t.Errorf("text %q", got)
	}
	run[object](w, "sidecar.review.propose", object{"uri": w.uri("a.txt"), "text": "a\nBB\n"})
	run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if got := w.disk("a.txt"); got != mark+"a\r\nBB\r\n" {
		t.Errorf("disk %q", got)
	}

	w = newWorld(t, setup{files: map[string]string{"latin1.txt": "na\xefve\n"}})
	w.propose("latin1.txt", "na\xefve\n", "na\xefve!\n")
	if err := w.ExecuteCommand(w.ctx, "sidecar.review.propose", object{"uri": w.uri("latin1.txt"), "text": "na\uFFFDve?\n"}, nil); err == nil {
		t.Error("text of an unknown encoding was edited")
	}
}

func TestBatch(t *testing.T) {
	w := newWorld(t, setup{batch: true, files: map[string]string{"a.txt": "a\n"}})
	w.propose("a.txt", "a\n", "A\n")
	if !run[review.Listed](w, "sidecar.review.list", nil).Batch {
		t.Error("the list does not say so")
	}
	if err := w.ExecuteCommand(w.ctx, "sidecar.review.accept", object{"uris": []string{w.uri("a.txt")}}, nil); code(err) != lsp.InvalidParams {
		t.Errorf("a part: %v", err)
	}
	want := []string{"0 Accept the whole batch", "0 Reject file", "0 Show diff", "0 Reject"}
	if d := cmp.Diff(want, w.lenses(w.uri("a.txt"))); d != "" {
		t.Error(d)
	}
	w.choose(w.actions(w.uri("a.txt"), span(0, 0, 0, 0)), "Accept the whole batch of pending changes and commits")
	if w.disk("a.txt") != "A\n" {
		t.Errorf("disk %q", w.disk("a.txt"))
	}
}

func TestShow(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "a\n"}})
	w.propose("a.txt", "a\n", "A\n")
	secret := filepath.Join(w.dir, "a.txt")
	w.must(ownfile.MkdirAll(filepath.Join(w.state, "show"), 0o700))
	symlink.Make(t, secret, filepath.Join(w.state, "show", "review.diff"))
	r := run[client.Shown](w, "sidecar.review.show", object{"uri": w.uri("a.txt")})
	path, _ := workspace.FilePath(r.URI)
	data, err := os.ReadFile(path)
	w.must(err)
	info, err := os.Lstat(path)
	w.must(err)
	if !r.Shown || !strings.Contains(string(data), "+A") || info.Mode() != 0o600 && runtime.GOOS != "windows" || w.disk("a.txt") != "a\n" {
		t.Errorf("got %+v, %v, %q", r, info.Mode(), data)
	}
	for _, m := range w.Record().Requests {
		if m.Method == "window/showDocument" && strings.Contains(string(m.Params), "takeFocus\":true") {
			t.Errorf("the focus is taken: %s", m.Params)
		}
	}
	w.Lacks("window/showDocument")
	if r := run[client.Shown](w, "sidecar.review.show", nil); r.Shown || r.URI == "" {
		t.Errorf("got %+v", r)
	}
}

func TestExtras(t *testing.T) {
	caps := fakeeditor.Usual()
	caps.Workspace.CodeLens.RefreshSupport = true
	caps.Experimental.Sidecar = lsp.SidecarCapabilities{PendingEdits: true, Events: true}
	w := newWorld(t, setup{capabilities: caps, files: map[string]string{"a.txt": "a\n"}})
	w.propose("a.txt", "a\n", "A\n")
	w.await("sidecar/pendingEdits and new lenses", func(r *fakeeditor.Record) bool {
		told, lenses := false, false
		for _, m := range r.Notifications {
			var p review.Listed
			told = told || m.Method == "sidecar/pendingEdits" && json.Unmarshal(m.Params, &p) == nil && len(p.Edits) == 1 && p.Edits[0].Path == "a.txt"
		}
		for _, m := range r.Requests {
			lenses = lenses || m.Method == "workspace/codeLens/refresh"
		}
		return told && lenses
	})
	w.bus.Publish(testEvent)
	w.await("sidecar/event", func(r *fakeeditor.Record) bool { return r.Count("sidecar/event") == 1 })
}

// Pending edits of an earlier life are shown at once.
func TestShownAfterRestart(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "a\n"}})
	w.propose("a.txt", "a\n", "A\n")
	w.Hangup()
	w.must(w.Wait(w.ctx))

	again := newWorldAt(t, w.dir, w.state, setup{})
	again.diagnostics("the edit", again.uri("a.txt"), "replace 1 line by 1")
}
