package agents

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestTidyDocuments: the documents of runs that are gone are deleted, and nothing else is.
func TestTidyDocuments(t *testing.T) {
	store, err := conversation.Open(conversation.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	run, err := store.Start(conversation.Spec{Agent: Builtin})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	keep := []string{documentName(run.ID(), "best", "2.0"), documentName(run.ID(), "plan", "1.0"), "my-plan-for-it.md", "run-notes.md"}
	for _, name := range append([]string{documentName("run-gone", "plan", "1.0"), documentName("run-gone", "best", "1.0")}, keep...) {
		if err := ownfile.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tidyDocuments(dir, store, log)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	slices.Sort(keep)
	if !slices.Equal(left, keep) {
		t.Errorf("left are %q, want %q", left, keep)
	}
	tidyDocuments(filepath.Join(dir, "none"), store, log)
}
