package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// A one-line edit of a file of 10,000 lines that is open: pending, hunks, and
// what the editor is sent for it.
func BenchmarkPendingToEditor(b *testing.B) {
	var sb strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&sb, "line %d of a file that has some text on every line\n", i)
	}
	text := sb.String()
	w := newWorld(b, setup{files: map[string]string{"a.txt": text}})
	uri := w.open("a.txt", text)
	view := w.store.For(agent)
	params := []byte(`{"textDocument":{"uri":"` + uri + `"}}`)
	versions := [2][]byte{[]byte(strings.Replace(text, "line 5000 ", "line 5000, ", 1)), []byte(strings.Replace(text, "line 5000 ", "line 5000; ", 1))}
	before := []byte(text)
	for i := 0; b.Loop(); i++ {
		after := versions[i%2]
		if err := view.Apply(w.ctx, workspace.Change{Path: "a.txt", Before: before, After: after}); err != nil {
			b.Fatal(err)
		}
		before = after
		for _, e := range w.store.List("").Edits {
			if d, ok := w.server.deps().Queue.Diagnostics(e); !ok || len(d.Diagnostics) != 1 {
				b.Fatalf("diagnostics %+v", d)
			}
		}
		lenses, err := w.server.deps().Queue.Lenses(params)
		if err != nil || len(lenses.([]lsp.CodeLens)) != 5 {
			b.Fatalf("lenses %v, %v", lenses, err)
		}
	}
}

// A character typed into that file while the edit is pending.
func BenchmarkTypeBesidePending(b *testing.B) {
	text := strings.Repeat("some text on every line of the file\n", 10_000)
	w := newWorld(b, setup{files: map[string]string{"a.txt": text}})
	w.open("a.txt", text)
	w.propose("a.txt", text, text+"more\n")
	change := []byte(`{"textDocument":{"uri":"` + w.uri("a.txt") + `","version":2},"contentChanges":[{"range":{"start":{"line":5000,"character":4},"end":{"line":5000,"character":4}},"text":"x"}]}`)
	for b.Loop() {
		w.store.BaseChanged(w.server.docs.Change(change))
		if n := len(w.store.List("").Edits); n != 1 {
			b.Fatal(n)
		}
	}
}

// BenchmarkManyHunks shows how the work for the editor grows with the hunks of
// a file: what is shown of them, and that they are accepted all at once.
func BenchmarkManyHunks(b *testing.B) {
	for _, open := range []bool{false, true} {
		for _, n := range []int{1_000, 10_000, 50_000, 200_000} {
			b.Run(fmt.Sprintf("open=%v/%d", open, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					var before, after strings.Builder
					for i := range n {
						fmt.Fprintf(&before, "line %d stays\nline %d of the file\n", i, i)
						fmt.Fprintf(&after, "line %d stays\nanother text in line %d\n", i, i)
					}
					w := newWorld(b, setup{files: map[string]string{"a.txt": before.String()}})
					if open {
						w.open("a.txt", before.String())
					}
					w.propose("a.txt", before.String(), after.String())
					b.StartTimer()
					var list review.Listed
					w.must(w.ExecuteCommand(w.ctx, "sidecar.review.list", nil, &list))
					w.must(w.Call(w.ctx, "textDocument/codeLens", lsp.CodeLensParams{TextDocument: lsp.TextDocumentIdentifier{URI: w.uri("a.txt")}}, nil))
					var res review.AcceptResult
					w.must(w.ExecuteCommand(w.ctx, "sidecar.review.accept", nil, &res))
					if len(res.Accepted) != 1 {
						b.Error(res)
					}
				}
			})
		}
	}
}
