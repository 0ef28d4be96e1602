package ide_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// TestRealClaudeShowsEdits: Claude Code finds the editor, shows its own edits there,
// writes what was accepted, and its model reads what became of them.
func TestRealClaudeShowsEdits(t *testing.T) {
	slow.Test(t)
	path := clients.InEditor.Find(t)
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": tenLines, "open.txt": tenLines})
	d := deskAt(t, dir, "review", fakeeditor.Options{})
	d.lock()
	user := filepath.Dir(filepath.Dir(d.places.Claude))
	c := clients.InEditor.Start(t, clients.Options{Path: path, Dir: dir, Home: user, Terminal: true})
	first := c.Turn()
	d.selects(t, filepath.Join(dir, "open.txt"), c) // until it shows what is selected it asks in its terminal
	first.CallOwn("Read", e2e.Object{"file_path": filepath.Join(dir, "a.txt")})
	d.reviews(t, c, c.Turn(), "Write", map[string][]string{"partly": {"updated successfully", "modified your proposed"}, "wholly": {"updated successfully"}, "anew": {"successfully"}})
}

// reviews decides on edits of a.txt and of a new file that the model of a program makes
// with its own tool, and looks at what is written. words are what the model reads when
// an edit was accepted partly, wholly, and when it made the new file.
func (d *desk) reviews(t *testing.T, c *clients.Client, turn *clients.Turn, tool string, words map[string][]string) {
	t.Helper()
	writes := func(name, text string) {
		turn.CallOwn(tool, e2e.Object{"file_path": filepath.Join(d.Dir, name), "content": text})
	}
	reads := func(what string) {
		t.Helper()
		turn = c.Turn()
		for _, want := range words[what] {
			if !strings.Contains(turn.Result, want) {
				t.Errorf("accepted %s, the model reads %q, without %q", what, turn.Result, want)
			}
		}
		d.waits(0)
	}
	writes("a.txt", twoHunks)
	ids := d.waits(2)
	d.Accept(e2e.Object{"hunks": ids[:1]})
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.reject", e2e.Object{"hunks": ids[1:]})
	oneHunk := strings.Replace(tenLines, "1\n", "one\n", 1)
	reads("partly")
	if d.File("a.txt") != oneHunk {
		t.Errorf("the file has %q", d.File("a.txt"))
	}

	writes("a.txt", strings.Replace(strings.Replace(oneHunk, "3\n", "three\n", 1), "10\n", "ten\n", 1))
	d.Accept(e2e.Object{"hunks": d.waits(2)})
	reads("wholly")
	both := d.File("a.txt")
	if !strings.Contains(both, "three") || !strings.Contains(both, "ten") {
		t.Errorf("the file has %q", both)
	}

	writes("new.txt", "new\n")
	d.waits(1)
	d.Accept(nil)
	reads("anew")

	writes("a.txt", tenLines[:2]+"x\n"+strings.TrimSuffix(both, "ten\n")[4:]+"y\n")
	d.waits(2)
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.reject", e2e.Object{})
	d.waits(0)
	if d.File("a.txt") != both {
		t.Errorf("the file has %q", d.File("a.txt"))
	}
}

// selects selects lines of a file until the program shows that in its terminal.
func (d *desk) selects(t *testing.T, file string, c *clients.Client) {
	t.Helper()
	uri, err := d.OpenFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	last := uint32(0)
	e2e.Until(t, "Claude Code does not find the editor", func() bool {
		last = 3 - last%2 // what is selected already is not told again
		if err := d.Notify(t.Context(), "sidecar/selection", e2e.Object{"uri": uri, "ranges": []lsp.Range{{End: lsp.Position{Line: last}}}}); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(c.Printed(), "selected")
	})
}
