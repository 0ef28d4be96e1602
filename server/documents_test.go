package server

import (
	"encoding/json"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
)

func span(fromLine, from, toLine, to int) *lsp.Range {
	return &lsp.Range{Start: documents.Position(fromLine, from), End: documents.Position(toLine, to)}
}

func TestSync(t *testing.T) {
	const text = "a😀b\r\nzwölf\nlast"
	for _, c := range []struct {
		enc     lsp.Encoding
		b, last int // where b and the end of zwölf are
	}{
		{lsp.UTF8, 5, 6}, {lsp.UTF16, 3, 5}, {lsp.UTF32, 2, 5},
	} {
		caps := fakeeditor.Usual()
		caps.General.PositionEncodings = []lsp.Encoding{c.enc}
		w := newWorld(t, setup{capabilities: caps, files: map[string]string{"a.txt": "on disk\n"}})
		uri := w.open("a.txt", text)
		if got := w.read("a.txt"); got != text {
			t.Errorf("%s: opened %q", c.enc, got)
		}
		w.must(w.Change(w.ctx, uri,
			lsp.ContentChange{Range: span(0, c.b, 0, c.b+1), Text: "Z"},
			lsp.ContentChange{Range: span(1, c.last, 2, 4), Text: "\r\nend"},
			lsp.ContentChange{Range: span(99, 99, 99, 99), Text: "!"},
			lsp.ContentChange{Range: span(0, 1, 0, 0), Text: "A"},
		))
		w.sync()
		if got, want := w.read("a.txt"), "A😀Z\r\nzwölf\r\nend!"; got != want || got != w.text(uri) {
			t.Errorf("%s: got %q, want %q, the editor has %q", c.enc, got, want, w.text(uri))
		}
		w.must(w.Close(w.ctx, uri))
		w.sync()
		if got := w.read("a.txt"); got != "on disk\n" {
			t.Errorf("%s: closed %q", c.enc, got)
		}
	}
}

func TestStrangeSync(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "disk\n"}})
	send := func(method, params string) {
		t.Helper()
		w.must(w.Notify(w.ctx, method, json.RawMessage(params)))
		w.sync()
	}
	want := func(what, text string) {
		t.Helper()
		if got := w.read("a.txt"); got != text {
			t.Errorf("%s: %q, want %q", what, got, text)
		}
	}
	id := `"textDocument":{"uri":"` + w.uri("a.txt") + `","languageId":"x","version":`
	send("textDocument/didChange", `{`+id+`2},"contentChanges":[{"text":"x"}]}`)
	want("change before open", "disk\n")
	send("textDocument/didOpen", `{"textDocument":5}`)
	want("open of another shape", "disk\n")
	send("textDocument/didOpen", `{`+id+`9,"text":"one"}}`)
	want("open", "one")
	send("textDocument/didOpen", `{`+id+`1,"text":"two"}}`)
	want("open again", "two")
	send("textDocument/didChange", `{`+id+`-3},"contentChanges":[{"text":"three"}]}`)
	want("version that goes back", "three")
	send("textDocument/didChange", `{`+id+`7},"contentChanges":[{"range":{"start":{"line":4294967295,"character":4294967295},"end":{"line":0,"character":5}},"text":"!"}]}`)
	want("range that is turned round and past the end", "three!")
	send("textDocument/didChange", `{`+id+`8},"contentChanges":"all"}`)
	want("change of another shape", "three!")
	send("textDocument/didClose", `{`+id+`8}}`)
	want("close", "disk\n")
	send("textDocument/didClose", `{`+id+`8}}`)
	want("close again", "disk\n")
	send("$/unheardOf", `{}`)
	send("textDocument/unheardOf", `{}`)

	for _, uri := range []string{"untitled:Untitled-1", "file:///etc/passwd", w.uri("../beside.txt"), "", "file://"} {
		w.must(w.Open(w.ctx, uri, "x", "not ours"))
	}
	w.sync()
	if got := w.server.docs.Names(); len(got) > 0 {
		t.Errorf("documents of others are in the view: %q", got)
	}
	w.must(w.Open(w.ctx, w.uri("new/unsaved.txt"), "x", "draft")) // the control
	w.sync()
	if got := w.read("new/unsaved.txt"); got != "draft" {
		t.Errorf("unsaved document: %q", got)
	}
}

func TestTimesGrow(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "aaaa\n"}})
	uri := w.open("a.txt", "aaaa\n")
	last, err := w.live.Stat("a.txt")
	w.must(err)
	for _, text := range []string{"bbbb\n", "cccc\n"} {
		w.must(w.Type(w.ctx, uri, text))
		w.sync()
		now, err := w.live.Stat("a.txt")
		w.must(err)
		if !now.ModTime().After(last.ModTime()) || now.Size() != 5 {
			t.Errorf("%q: %v is not after %v", text, now.ModTime(), last.ModTime())
		}
		f, err := w.live.Open("a.txt")
		w.must(err)
		opened, err := f.Stat()
		w.must(err)
		w.must(f.Close())
		if !opened.ModTime().Equal(now.ModTime()) {
			t.Errorf("the opened file's time is %v, want %v", opened.ModTime(), now.ModTime())
		}
		last = now
	}
}
