package review_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// What an agent does in a mode without review is in the history, can be taken
// back and made again, by commands and after a restart in a shell; the agent is
// told, and the decision is recorded.
func TestUndoWithoutReview(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
	has := func(want ...string) {
		t.Helper()
		for i := 0; i < len(want); i += 2 {
			data, _ := os.ReadFile(filepath.Join(dir, want[i]))
			if string(data) != want[i+1] {
				t.Errorf("%s: %q, want %q", want[i], data, want[i+1])
			}
		}
	}
	type entry struct {
		ID, What, Tool string
		Undoable       bool
	}
	var all []entry
	t.Run("editor", func(t *testing.T) {
		r := e2e.Connect(t, dir, fakeeditor.Options{})
		r.Mode("autonomous")
		call := func(name string, args e2e.Object) string {
			t.Helper()
			return string(e2e.Command[json.RawMessage](r, "sidecar.tools.call", e2e.Object{"name": name, "arguments": args}))
		}
		call("write_file", e2e.Object{"path": "a.txt", "content": "ONE\n"})
		call("delete_file", e2e.Object{"path": "b.txt"})
		call("write_file", e2e.Object{"path": "c.txt", "content": "new\n"})
		has("a.txt", "ONE\n", "b.txt", "", "c.txt", "new\n")
		list := func() []entry {
			t.Helper()
			return e2e.Command[struct{ Entries []entry }](r, "sidecar.review.history", e2e.Object{}).Entries
		}
		if all = list(); len(all) != 3 || all[0].Tool != "write_file" || all[1].Tool != "delete_file" || all[2].What != "apply" || !all[2].Undoable {
			t.Fatalf("history %+v", all)
		}
		e2e.Command[json.RawMessage](r, "sidecar.review.undo", e2e.Object{"to": all[2].ID})
		has("a.txt", "one\n", "b.txt", "two\n", "c.txt", "")
		if got := call("read_file", e2e.Object{"path": "a.txt"}); !strings.Contains(got, "took back your edit of a.txt") {
			t.Errorf("told %s", got)
		}
		e2e.Command[json.RawMessage](r, "sidecar.review.redo", e2e.Object{})
		has("a.txt", "ONE\n", "b.txt", "two\n")
		records, err := auditlog.Find(filepath.Join(dir, ".sidecar", "logs"), auditlog.Query{Tool: "sidecar.review.redo"})
		if err != nil || len(records) != 1 || records[0].By != "user" || records[0].Changes[0].State != "applied" {
			t.Errorf("recorded %+v, %v", records, err)
		}
	})

	shell := func(want int, args ...string) string {
		t.Helper()
		out, stderr, code := e2e.RunCLI(t, "", append(append([]string{"review"}, args...), "--root", dir)...)
		if code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, out, stderr)
		}
		return out + stderr
	}
	if out := shell(0, "history"); !strings.Contains(out, all[2].ID) || !strings.Contains(out, "you made again") || !strings.Contains(out, "made by write_file") {
		t.Errorf("history: %s", out)
	}
	if out := shell(0, "undo"); !strings.Contains(out, "restored a.txt") {
		t.Errorf("undo: %s", out)
	}
	has("a.txt", "one\n")
	if out := shell(0, "redo"); !strings.Contains(out, "made again: a.txt") {
		t.Errorf("redo: %s", out)
	}
	has("a.txt", "ONE\n")
	if out := shell(1, "undo", "u1"); !strings.Contains(out, "history") {
		t.Errorf("unknown: %s", out)
	}
	e2e.Write(t, filepath.Join(dir, "a.txt"), "somebody else\n")
	if out := shell(1, "undo", all[2].ID); !strings.Contains(out, "changed since") {
		t.Errorf("conflict: %s", out)
	}
	has("a.txt", "somebody else\n")
}

// TestUndoOfACall: what a command line changed without an editor can be taken back by
// another, also in a project that had no queue; one that reads makes none.
func TestUndoOfACall(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	sh := e2e.Shell{T: t, Dir: dir}
	sh.Says([]string{"one"}, "call", "--mode", "autonomous", "read_file", `{"path": "a.txt"}`)
	if _, err := os.Stat(filepath.Join(dir, ".sidecar", "state", "pending")); err == nil {
		t.Error("reading made a queue")
	}
	sh.Run(0, "call", "--mode", "autonomous", "write_file", `{"path": "a.txt", "content": "two\n"}`)
	sh.Run(0, "call", "--mode", "autonomous", "write_file", `{"path": "b.txt", "content": "new\n"}`)
	sh.Says([]string{"write_file", "a.txt", "b.txt"}, "review", "history")
	sh.Says([]string{"deleted b.txt"}, "review", "undo")
	sh.Says([]string{"made again: b.txt"}, "review", "redo")
	sh.Says([]string{"deleted b.txt"}, "review", "undo")
	sh.Says([]string{"restored a.txt"}, "review", "undo")
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
		t.Error("b.txt is there after undo")
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "one\n" {
		t.Errorf("a.txt is %q, %v", data, err)
	}
	sh.Says([]string{"a.txt"}, "review", "redo")
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "two\n" {
		t.Errorf("after redo a.txt is %q, %v", data, err)
	}
}

// TestUndoAgain: each undo of a shell takes back one more decision, and redo goes the other
// way. What it says of a rejection names no redo, which would make another edit again.
func TestUndoAgain(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review"})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"})
	sh := e2e.Shell{T: t, Dir: dir}
	has := func(name, want string) {
		t.Helper()
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
			t.Errorf("%s is %q, %v, want %q", name, data, err, want)
		}
	}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		sh.Run(0, "call", "write_file", `{"path": "`+name+`", "content": "two\n"}`)
	}
	sh.Run(0, "review", "accept", "a.txt")
	sh.Says([]string{"rejected c.txt"}, "review", "reject", "c.txt")
	sh.Run(0, "review", "accept", "b.txt")
	sh.Says([]string{"restored b.txt", "it waits again"}, "review", "undo")
	sh.Says([]string{"restored c.txt", "rejecting an edit", "redo makes accepted edits again, not rejections"}, "review", "undo")
	has("b.txt", "one\n")
	sh.Says([]string{"restored a.txt"}, "review", "undo")
	has("a.txt", "one\n")
	sh.Says([]string{"Nothing was restored"}, "review", "undo")
	sh.Says([]string{"made again: a.txt"}, "review", "redo")
	sh.Says([]string{"made again: b.txt"}, "review", "redo")
	has("a.txt", "two\n")
	has("b.txt", "two\n")

	// Editors ask for the last by its name; without it a command takes its own undo back.
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	last := func(arg e2e.Object, what string, files ...string) {
		t.Helper()
		res := e2e.Command[struct {
			What     string
			Restored []string
		}](r, "sidecar.review.undo", arg)
		if res.What != what || len(res.Restored) != len(files) || len(files) == 1 && !strings.HasSuffix(res.Restored[0], files[0]) {
			t.Errorf("%v: %+v, want %s %v", arg, res, what, files)
		}
	}
	last(e2e.Object{"to": "last"}, "undo", "b.txt")
	last(e2e.Object{"to": "last"}, "undo", "a.txt")
	last(e2e.Object{"to": "last"}, "undo")
	last(e2e.Object{}, "redo", "a.txt")
	r.IsQueued("b.txt", "c.txt")
}
