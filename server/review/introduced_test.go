package review

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

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
