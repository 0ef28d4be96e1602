package ide_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestRealGeminiShowsEdits is TestRealClaudeShowsEdits with Gemini CLI.
func TestRealGeminiShowsEdits(t *testing.T) {
	slow.Test(t)
	path := clients.GeminiInEditor.Find(t)
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": tenLines, "open.txt": tenLines})
	d := deskAt(t, dir, "review", fakeeditor.Options{})
	e2e.Until(t, "there is no file for Gemini", func() bool { return len(found(t, d.places.Gemini)) == 1 })
	user := filepath.Dir(filepath.Dir(d.places.Gemini))
	c := clients.GeminiInEditor.Start(t, clients.Options{Path: path, Dir: dir, Home: user, Terminal: true})
	defer func() {
		if t.Failed() {
			t.Log(c.Printed())
		}
	}()
	first := c.Turn()
	if _, err := d.OpenFile(t.Context(), filepath.Join(dir, "open.txt")); err != nil {
		t.Fatal(err)
	}
	e2e.Until(t, "Gemini CLI does not find the editor", func() bool { // it looks for it while it asks its model
		d.Queued()
		return strings.Contains(c.Printed(), "1 open file")
	})
	e2e.Hands["gemini"].Read(first, filepath.Join(dir, "a.txt"))
	turn := c.Turn()
	if !strings.Contains(turn.Result, "10") {
		t.Errorf("the model reads %q", turn.Result)
	}
	d.reviews(t, c, turn, "write_file", map[string][]string{"partly": {"User modified the `content` to be: one\n2\n"}, "wholly": {"Successfully overwrote"}, "anew": {"new.txt"}})
}
