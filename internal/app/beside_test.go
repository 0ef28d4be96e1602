package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// shell is a command line in a workspace.
type shell struct {
	t   *testing.T
	dir string
}

// run runs it and returns what it printed, both streams.
func (s shell) run(want int, args ...string) string {
	s.t.Helper()
	out, stderr, code := runCLI(s.t, "", append(args, "--root", s.dir)...)
	if code != want {
		s.t.Fatalf("%q: exit %d, want %d: %s%s", args, code, want, out, stderr)
	}
	return out + stderr
}

// says is run, whose output has all the parts.
func (s shell) says(parts []string, args ...string) string {
	s.t.Helper()
	out := s.run(0, args...)
	for _, part := range parts {
		if !strings.Contains(out, part) {
			s.t.Errorf("%q: %q is missing in\n%s", args, part, out)
		}
	}
	return out
}

// TestReviewBesideEditor: what a shell decides about the queue of a running
// editor, the editor does, in its documents and with its undo.
func TestReviewBesideEditor(t *testing.T) {
	home(t)
	g := repository(t, "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt", "b\n", "c.txt", "c\n")
	r := connect(t, g.Dir, fakeeditor.Options{})
	sh := shell{t, g.Dir}
	open, err := r.OpenFile(t.Context(), filepath.Join(g.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r.mode("review")
	for tool, args := range map[string]object{
		"edit_file":   {"path": "a.txt", "edits": []object{{"search": "2\n", "replace": "two\n"}, {"search": "8\n", "replace": "eight\n"}}},
		"write_file":  {"path": "new.txt", "content": "new\n"},
		"delete_file": {"path": "b.txt"},
	} {
		if res := r.call(tool, args); !res.OK {
			t.Fatal(res.Content)
		}
	}

	sh.says([]string{"a.txt", "modify", "b.txt", "delete", "new.txt", "create", "by write_file"}, "review")
	sh.says([]string{"+two", "+eight"}, "review", "diff", "a.txt")
	var list struct {
		Edits []struct{ Hunks []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(sh.run(0, "review", "list", "--json")), &list); err != nil || len(list.Edits) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	sh.says([]string{"accepted a.txt"}, "review", "accept", list.Edits[0].Hunks[1].ID)
	if text, _ := r.Text(open); text != "1\n2\n3\n4\n5\n6\n7\neight\n9\n" || r.file("a.txt") != "1\n2\n3\n4\n5\n6\n7\n8\n9\n" {
		t.Errorf("the document is %q, the file %q", text, r.file("a.txt"))
	}
	sh.says([]string{"rejected a.txt"}, "review", "reject", filepath.Join(g.Dir, "a.txt"), "--reason", "not in words")
	if res := r.call("list_directory", object{}); !strings.Contains(res.Content, "not in words") {
		t.Errorf("the agent is told %q", res.Content)
	}
	sh.says([]string{"accepted b.txt, new.txt"}, "review", "accept")
	if list := r.pending(); len(list.Edits) != 0 || r.file("new.txt") != "new\n" {
		t.Errorf("left pending: %+v; new.txt is %q", list.Edits, r.file("new.txt"))
	}
	sh.says([]string{"restored "}, "review", "undo")
	if list := r.pending(); len(list.Edits) != 2 {
		t.Errorf("after undo: %+v", list.Edits)
	}
	sh.run(0, "review", "reject")
	sh.says([]string{"Nothing is pending."}, "review")
	if out := sh.run(1, "review", "accept", "nowhere.txt"); !strings.Contains(out, "nowhere.txt") {
		t.Errorf("what is not pending: %s", out)
	}

	// A batch with its commit.
	r.mode("audit")
	for _, c := range []struct {
		tool string
		args object
	}{{"edit_file", object{"path": "c.txt", "search": "c", "replace": "see"}}, {"git_commit", object{"message": "See"}}} {
		if res := r.call(c.tool, c.args); !res.OK {
			t.Fatal(res.Content)
		}
	}
	sh.says([]string{"batch of default", `commit "See"`}, "review")
	if out := sh.run(1, "review", "accept", "c.txt"); !strings.Contains(out, "as a whole or not at all") {
		t.Errorf("a part of a batch: %s", out)
	}
	sh.says([]string{"accepted c.txt", `commit "See": `}, "review", "accept")
	if got := git(g, "log", "-1", "--format=%s"); got != "See" {
		t.Errorf("the last commit is %q", got)
	}

	// What was decided is in the record, and the editor's user was told of it.
	sh.says([]string{"sidecar.review.accept", "sidecar.review.reject", "by user"}, "audit", "list", "--limit", "200")
	sh.says([]string{"Nothing was changed since it was written."}, "audit", "verify")
	if err := r.Await(t.Context(), "a message", func(rec *fakeeditor.Record) bool {
		for _, m := range rec.Notifications {
			if m.Method == "window/showMessage" && strings.Contains(string(m.Params), "`sidecar-ls review accept` was run in a shell") {
				return true
			}
		}
		return false
	}); err != nil {
		t.Error(err)
	}
}

// TestVerbsBesideEditor: the other verbs ask the running server, too.
func TestVerbsBesideEditor(t *testing.T) {
	home(t)
	g := repository(t, "a.go", "package a\n\n// Weigh weighs apples.\nfunc Weigh() {}\n")
	r := connect(t, g.Dir, fakeeditor.Options{InitializationOptions: object{"sidecar": object{"commandRules": []object{{"prefix": []string{"make"}, "decision": "deny"}}}}})
	sh := shell{t, g.Dir}

	sh.says([]string{"s\t"}, "shadow", "create", "s")
	r.shadowed("t", "")
	sh.says([]string{"s ", "t "}, "shadow", "list")
	completes := func(want string, words ...string) {
		t.Helper()
		out, _, code := runCLI(t, "", append([]string{"__complete", "fish"}, words...)...)
		if code != 0 || !strings.Contains("\n"+out, "\n"+want+"\t") {
			t.Errorf("%q: %q is not offered: %s", words, want, out)
		}
	}
	completes("t", "shadow", "--root", g.Dir, "discard", "")
	g.Write(".sidecar/shadows/s/b.txt", "b\n")
	sh.says([]string{"+b"}, "shadow", "diff", "s")
	sh.says([]string{"merged b.txt"}, "shadow", "merge", "s")
	if list := r.pending(); len(list.Edits) != 1 || list.Edits[0].Path != "b.txt" {
		t.Errorf("the editor's queue has %+v", list.Edits)
	}
	completes("b.txt", "review", "--root", g.Dir, "accept", "b")
	sh.run(0, "shadow", "discard", "s")

	sh.says([]string{"1 file, 1 symbol, "}, "knowledge", "status")
	sh.says([]string{"a.go"}, "knowledge", "search", "where", "are", "apples", "weighed")

	// The settings of the editor hold.
	sh.says([]string{"deny by "}, "policy", "explain", "run_command", "command=make it")
	sh.says([]string{"allow  ls", "deny   make it"}, "policy", "test", "ls", "make it")
	sh.says([]string{"allow by "}, "policy", "explain", "--mode", "autonomous", "write_file", "path=x", "content=y")
	if out := sh.run(2, "policy", "explain", "--mode", "wild", "grep", "pattern=x"); !strings.Contains(out, `"wild"`) {
		t.Errorf("an unknown mode: %s", out)
	}
	sh.says([]string{"read_file (read): "}, "tools", "read_file")
	sh.says([]string{"git_status ", "read_file "}, "tools")
}

// TestPendingFile: a call that does not look into the queue says so, beside an
// editor and by itself.
func TestPendingFile(t *testing.T) {
	for _, editor := range []bool{true, false} {
		home(t)
		dir := project(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
		sh := shell{t, dir}
		if editor {
			connect(t, dir, fakeeditor.Options{})
		}
		sh.run(0, "call", "--mode", "review", "write_file", "path=new.txt", "content=new\n")
		sh.run(0, "call", "--mode", "review", "write_file", "path=a.txt", "content=two\n")
		if out := sh.run(1, "call", "read_file", "path=new.txt"); !strings.Contains(out, "not_found") || !strings.Contains(out, "new.txt has an edit that waits for review") {
			t.Errorf("beside an editor %v, a new file: %s", editor, out)
		}
		sh.says([]string{"one\n", "a.txt has an edit that waits for review"}, "call", "read_file", "path=a.txt")
		if out := sh.run(0, "call", "read_file", "path=b.txt"); strings.Contains(out, "review") {
			t.Errorf("the control: %s", out)
		}
		if out := sh.says([]string{"new\n"}, "call", "--mode", "review", "read_file", "path=new.txt"); strings.Contains(out, "waits") {
			t.Errorf("in the mode review: %s", out)
		}
	}
}

var (
	cursorIn = regexp.MustCompile(`cursor "([^"]+)"`)
	jobIn    = regexp.MustCompile(`background as (\w+)`)
)

// TestNextCall: what a call tells the shell to come back with works in the next
// call, where a server keeps it; where none does, nothing is promised.
func TestNextCall(t *testing.T) {
	home(t)
	userSettings(t, object{"toolPermissions": object{"run_command": "allow"}, "sandbox": object{"mode": "off"}})
	dir := project(t, map[string]string{"long.txt": strings.Repeat("a line of some length\n", 3000) + "the end\n"})
	sh := shell{t, dir}

	out := sh.run(0, "call", "read_file", "path=long.txt", "limit=3001")
	if strings.Contains(out, "cursor") || !strings.Contains(out, "the end\n") || strings.Count(out, "a line") != 3000 {
		t.Errorf("by itself: %d bytes, %d lines, ends with %q", len(out), strings.Count(out, "a line"), out[max(0, len(out)-300):])
	}
	out = sh.run(1, "call", "run_command", "command=touch ran", "background=true")
	if !strings.Contains(out, "unavailable: background: ") || !strings.Contains(out, "leave background out") {
		t.Errorf("by itself, in the background: %s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it was run")
	}
	if out := sh.run(2, "call", "--session", "mine", "list_directory"); !strings.Contains(out, "leave it out") {
		t.Errorf("by itself, a session: %s", out)
	}

	r, _ := editorProcess(t, dir)
	defer func() {
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	out = sh.run(0, "call", "read_file", "path=long.txt", "limit=3001")
	cursor := cursorIn.FindStringSubmatch(out)
	if cursor == nil {
		t.Fatalf("beside an editor: %s", out)
	}
	sh.says([]string{"a line of some length"}, "call", "read_result", "cursor="+cursor[1])
	out = sh.run(0, "call", "--mode", "autonomous", "run_command", "command=echo begun; exec sleep 1000", "background=true")
	id := jobIn.FindStringSubmatch(out)
	if id == nil {
		t.Fatalf("beside an editor: %s", out)
	}
	sh.says([]string{id[1], "running"}, "call", "command_list")
	sh.run(1, "call", "--session", "mine", "command_output", "id="+id[1])
	until(t, "it never began", func() bool { return strings.Contains(sh.run(0, "call", "command_output", "id="+id[1]), "begun") })
	sh.says([]string{id[1] + " and all its processes have been ended"}, "call", "command_kill", "id="+id[1])
	sh.says([]string{"begun"}, "call", "command_output", "id="+id[1])
	// A mode is that of its call alone.
	sh.run(0, "call", "--mode", "review", "write_file", "path=held.txt", "content=x")
	sh.run(0, "call", "--mode", "autonomous", "write_file", "path=written.txt", "content=x")
	if out := sh.run(1, "call", "--mode", "wild", "list_directory"); !strings.Contains(out, `there is no mode "wild"`) {
		t.Errorf("an unknown mode: %s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "held.txt")); err == nil {
		t.Error("held.txt was written")
	}
	if got := r.file("written.txt"); got != "x" {
		t.Errorf("written.txt is %q", got)
	}
}
