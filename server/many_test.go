package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/review"
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
	for _, n := range []int{review.MaxShownHunks, review.MaxShownHunks + 100} {
		before, after := manyLines(n)
		w := newWorld(t, setup{files: map[string]string{"a.txt": before}})
		uri := w.open("a.txt", before)
		w.propose("a.txt", before, after)
		w.await("diagnostics", func(r *fakeeditor.Record) bool { return len(r.Diagnostics[uri]) == review.MaxShownHunks })
		var lenses []struct {
			Command struct {
				Arguments []struct {
					Hunks []string `json:"hunks"`
				} `json:"arguments"`
			} `json:"command"`
		}
		w.must(w.Call(w.ctx, "textDocument/codeLens", lsp.CodeLensParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}}, &lenses))
		if len(lenses) != 3+2*review.MaxShownHunks {
			t.Fatalf("%d hunks: %d lenses", n, len(lenses))
		}
		if all := lenses[0].Command.Arguments[0].Hunks; len(all) != n {
			t.Errorf("%d hunks: the file's lens accepts %d", n, len(all))
		}
		var list review.Listed
		w.must(w.ExecuteCommand(w.ctx, "sidecar.review.list", nil, &list))
		if got := len(list.Edits[0].Hunks); got != n {
			t.Errorf("%d hunks: %d listed", n, got)
		}
		var res review.AcceptResult
		w.must(w.ExecuteCommand(w.ctx, "sidecar.review.accept", nil, &res))
		if text, _ := w.Text(uri); text != after || len(res.Accepted) != 1 {
			t.Errorf("%d hunks: accepted %+v", n, res)
		}
	}
}
