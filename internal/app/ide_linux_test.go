package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestRealClaudeShowsEdits: Claude Code finds the editor, shows its own edits there,
// writes what was accepted, and its model reads what became of them.
func TestRealClaudeShowsEdits(t *testing.T) {
	slow.Test(t)
	path := clients.InEditor.Find(t)
	home(t)
	dir := project(t, map[string]string{"a.txt": tenLines, "open.txt": tenLines})
	d := deskAt(t, dir, "review", fakeeditor.Options{})
	d.lock()
	user := filepath.Dir(filepath.Dir(d.places.Claude))
	c := clients.InEditor.Start(t, clients.Options{Path: path, Dir: dir, Home: user, Terminal: true})
	file := filepath.Join(dir, "a.txt")
	reads := func(turn *clients.Turn, want string) {
		t.Helper()
		if !strings.Contains(turn.Result, want) {
			t.Errorf("the model reads %q, without %q", turn.Result, want)
		}
	}
	// shows has the model make two changes of the file, and waits until they are shown.
	shows := func(turn *clients.Turn, text string) []string {
		t.Helper()
		turn.CallOwn("Write", object{"file_path": file, "content": text})
		return d.waits(2)
	}

	first := c.Turn()
	d.selects(t, filepath.Join(dir, "open.txt"), c) // until it shows what is selected it asks in its terminal
	first.CallOwn("Read", object{"file_path": file})
	turn := c.Turn()
	ids := shows(turn, twoHunks)
	d.accept(object{"hunks": ids[:1]})
	command[object](d.rig, "sidecar.review.reject", object{"hunks": ids[1:]})
	oneHunk := strings.Replace(tenLines, "1\n", "one\n", 1)
	turn = c.Turn()
	reads(turn, "updated successfully")
	reads(turn, "modified your proposed")
	if d.file("a.txt") != oneHunk {
		t.Errorf("the file has %q", d.file("a.txt"))
	}
	d.waits(0)

	ids = shows(turn, strings.Replace(strings.Replace(oneHunk, "3\n", "three\n", 1), "10\n", "ten\n", 1))
	d.accept(object{"hunks": ids})
	turn = c.Turn()
	reads(turn, "updated successfully")
	both := d.file("a.txt")
	if !strings.Contains(both, "three") || !strings.Contains(both, "ten") {
		t.Errorf("the file has %q", both)
	}
	d.waits(0)

	turn.CallOwn("Write", object{"file_path": filepath.Join(dir, "new.txt"), "content": "new\n"})
	d.waits(1)
	d.accept(nil)
	turn = c.Turn()
	reads(turn, "successfully")
	d.waits(0)

	shows(turn, tenLines[:2]+"x\n"+strings.TrimSuffix(both, "ten\n")[4:]+"y\n")
	command[object](d.rig, "sidecar.review.reject", object{})
	d.waits(0)
	if _, err := os.Stat(file); err != nil || d.file("a.txt") != both {
		t.Errorf("the file has %q, %v", d.file("a.txt"), err)
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
	until(t, "Claude Code does not find the editor", func() bool {
		last = 3 - last%2 // what is selected already is not told again
		if err := d.Notify(t.Context(), "sidecar/selection", object{"uri": uri, "ranges": []lsp.Range{{End: lsp.Position{Line: last}}}}); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(c.Printed(), "selected")
	})
}
