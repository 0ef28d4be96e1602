package langserver

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// TestLines: lines are counted as read_file does, which has none after the last end of a line.
func TestLines(t *testing.T) {
	for text, want := range map[string]int{"": 1, "a": 1, "a\n": 1, "a\nb": 2, "a\r\nb\r\n": 2, "a\n\n": 2, "\n": 1} {
		if got := lines(lsp.NewDocument(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
