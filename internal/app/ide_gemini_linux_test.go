package app_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestRealGeminiShowsEdits is TestRealClaudeShowsEdits with Gemini CLI.
func TestRealGeminiShowsEdits(t *testing.T) {
	slow.Test(t)
	path := clients.GeminiInEditor.Find(t)
	home(t)
	dir := project(t, map[string]string{"a.txt": tenLines, "open.txt": tenLines})
	d := deskAt(t, dir, "review", fakeeditor.Options{})
	until(t, "there is no file for Gemini", func() bool { return len(found(t, d.places.Gemini)) == 1 })
	user := filepath.Dir(filepath.Dir(d.places.Gemini))
	c := clients.GeminiInEditor.Start(t, clients.Options{Path: path, Dir: dir, Home: user, Terminal: true})
	defer func() {
		if t.Failed() {
			t.Log(c.Printed())
		}
	}()
	own := hands["gemini"]
	file := filepath.Join(dir, "a.txt")
	reads := func(turn *clients.Turn, want string) {
		t.Helper()
		if !strings.Contains(turn.Result, want) {
			t.Errorf("the model reads %q, without %q", turn.Result, want)
		}
	}
	shows := func(turn *clients.Turn, text string) []string {
		t.Helper()
		turn.CallOwn("write_file", object{"file_path": file, "content": text})
		return d.waits(2)
	}
	first := c.Turn()
	if _, err := d.OpenFile(t.Context(), filepath.Join(dir, "open.txt")); err != nil {
		t.Fatal(err)
	}
	until(t, "Gemini CLI does not find the editor", func() bool { // it looks for it while it asks its model
		<-time.After(50 * time.Millisecond) // it needs the processors more than we do
		return strings.Contains(c.Printed(), "1 open file")
	})
	own.read(first, file)
	turn := c.Turn()
	reads(turn, "10")
	ids := shows(turn, twoHunks)
	d.accept(object{"hunks": ids[:1]})
	command[object](d.rig, "sidecar.review.reject", object{"hunks": ids[1:]})
	turn = c.Turn()
	oneHunk := strings.Replace(tenLines, "1\n", "one\n", 1)
	reads(turn, "User modified the `content` to be: one\n2\n")
	if d.file("a.txt") != oneHunk {
		t.Errorf("the file has %q", d.file("a.txt"))
	}
	d.waits(0)

	ids = shows(turn, strings.Replace(strings.Replace(oneHunk, "3\n", "three\n", 1), "10\n", "ten\n", 1))
	d.accept(object{"hunks": ids})
	turn = c.Turn()
	reads(turn, "Successfully overwrote")
	both := d.file("a.txt")
	if !strings.Contains(both, "three") || !strings.Contains(both, "ten") {
		t.Errorf("the file has %q", both)
	}
	d.waits(0)

	own.write(turn, filepath.Join(dir, "new.txt"))
	d.waits(1)
	d.accept(nil)
	turn = c.Turn()
	reads(turn, "written")
	d.waits(0)

	shows(turn, tenLines[:2]+"x\n"+strings.TrimSuffix(both, "ten\n")[4:]+"y\n")
	command[object](d.rig, "sidecar.review.reject", object{})
	d.waits(0)
	if d.file("a.txt") != both {
		t.Errorf("the file has %q", d.file("a.txt"))
	}
}
