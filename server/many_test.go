package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// manyLines is a text, and another with a change in every second line.
func manyLines(n int) (before, after string) {
	var b, a strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d stays\nline %d of the file\n", i, i)
		fmt.Fprintf(&a, "line %d stays\nanother text in line %d\n", i, i)
	}
	return b.String(), a.String()
}

// TestManyHunksShown: of very many hunks the first have diagnostics and lenses;
// the file's own lenses, and the list, have all.
func TestManyHunksShown(t *testing.T) {
	for _, n := range []int{maxShownHunks, maxShownHunks + 100} {
		before, after := manyLines(n)
		w := newWorld(t, setup{files: map[string]string{"a.txt": before}})
		uri := w.open("a.txt", before)
		w.propose("a.txt", before, after)
		w.await("diagnostics", func(r *fakeeditor.Record) bool { return len(r.Diagnostics[uri]) == maxShownHunks })
		var lenses []struct {
			Command struct {
				Arguments []struct {
					Hunks []string `json:"hunks"`
				} `json:"arguments"`
			} `json:"command"`
		}
		w.must(w.Call(w.ctx, "textDocument/codeLens", lsp.CodeLensParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}}, &lenses))
		if len(lenses) != 3+2*maxShownHunks {
			t.Fatalf("%d hunks: %d lenses", n, len(lenses))
		}
		if all := lenses[0].Command.Arguments[0].Hunks; len(all) != n {
			t.Errorf("%d hunks: the file's lens accepts %d", n, len(all))
		}
		var list reviewList
		w.must(w.ExecuteCommand(w.ctx, "sidecar.review.list", nil, &list))
		if got := len(list.Edits[0].Hunks); got != n {
			t.Errorf("%d hunks: %d listed", n, got)
		}
		var res acceptResult
		w.must(w.ExecuteCommand(w.ctx, "sidecar.review.accept", nil, &res))
		if text, _ := w.Text(uri); text != after || len(res.Accepted) != 1 {
			t.Errorf("%d hunks: accepted %+v", n, res)
		}
	}
}

// TestProblemsByHunk: a problem is told with the hunk in which it lies, else
// with the first.
func TestProblemsByHunk(t *testing.T) {
	e := pendingedits.Edit{Hunks: []pendingedits.Hunk{{NewStart: 3, NewLines: 2}, {NewStart: 8, NewLines: 0}, {NewStart: 10, NewLines: 1}}}
	for line, want := range map[int]int{1: 0, 3: 0, 4: 0, 5: 0, 8: 1, 9: 0, 10: 2, 11: 0} {
		if by := byHunk(e, []langserver.Problem{{Span: langserver.Span{Line: line}}}); len(by[want]) != 1 {
			t.Errorf("line %d: %v, want hunk %d", line, by, want)
		}
	}
}
