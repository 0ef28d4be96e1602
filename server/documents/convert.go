package documents

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// documentKey is what two spellings of one URI have in common.
func documentKey(uri string) string {
	if p, ok := workspace.FilePath(uri); ok {
		return "file://" + p
	}
	return uri
}

// Position makes a wire position.
func Position(line, character int) lsp.Position {
	return lsp.Position{Line: uint32(line), Character: uint32(character)}
}

// textEdits turns old into new with one edit for each run of changed lines, so
// that what is not changed keeps its marks, folds and cursors.
func textEdits(old, new string, enc lsp.Encoding) []lsp.TextEdit {
	lines := diff.SplitLines(old)
	var edits []lsp.TextEdit
	for _, h := range diff.Lines(lines, diff.SplitLines(new)) {
		edits = append(edits, lsp.TextEdit{
			Range:   lsp.Range{Start: lineStart(lines, h.OldStart, enc), End: lineStart(lines, h.OldStart+h.OldLines, enc)},
			NewText: strings.Join(h.New, ""),
		})
	}
	return edits
}

// LineRange is the range of n lines of doc from start, counted from zero. It
// ends where the next line begins, or where the text ends.
func LineRange(doc *lsp.Document, start, n int, enc lsp.Encoding) lsp.Range {
	at := func(line int) lsp.Position {
		if line < doc.Lines() {
			return Position(line, 0)
		}
		return doc.Position(len(doc.Text()), enc)
	}
	start = max(start, 0)
	return lsp.Range{Start: at(start), End: at(start + max(n, 0))}
}

// lineStart is the position of line i. A last line without a line end has no
// line after it: its end is the end of the text.
func lineStart(lines []string, i int, enc lsp.Encoding) lsp.Position {
	if i == 0 || i < len(lines) {
		return Position(i, 0)
	}
	last := lines[len(lines)-1]
	if c := last[len(last)-1]; c == '\n' || c == '\r' {
		return Position(len(lines), 0)
	}
	p := lsp.PositionAt(last, len(last), enc)
	return Position(len(lines)-1, int(p.Character))
}
