package review_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestReviewBesideEditor: what a shell decides about the queue of a running
// editor, the editor does, in its documents and with its undo.
func TestReviewBesideEditor(t *testing.T) {
	e2e.Home(t)
	g := e2e.Repository(t, "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt", "b\n", "c.txt", "c\n")
	r := e2e.Connect(t, g.Dir, fakeeditor.Options{})
	sh := e2e.Shell{T: t, Dir: g.Dir}
	open, err := r.OpenFile(t.Context(), filepath.Join(g.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r.Mode("review")
	for tool, args := range map[string]e2e.Object{
		"edit_file":   {"path": "a.txt", "edits": []e2e.Object{{"search": "2\n", "replace": "two\n"}, {"search": "8\n", "replace": "eight\n"}}},
		"write_file":  {"path": "new.txt", "content": "new\n"},
		"delete_file": {"path": "b.txt"},
	} {
		if res := r.Tool(tool, args); !res.OK {
			t.Fatal(res.Content)
		}
	}

	sh.Says([]string{"a.txt", "modify", "b.txt", "delete", "new.txt", "create", "by write_file"}, "review")
	sh.Says([]string{"+two", "+eight"}, "review", "diff", "a.txt")
	var list struct {
		Edits []struct{ Hunks []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(sh.Run(0, "review", "list", "--json")), &list); err != nil || len(list.Edits) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	sh.Says([]string{"accepted a.txt (1 of 2 changes)\n"}, "review", "accept", list.Edits[0].Hunks[1].ID)
	if text, _ := r.Text(open); text != "1\n2\n3\n4\n5\n6\n7\neight\n9\n" || r.File("a.txt") != "1\n2\n3\n4\n5\n6\n7\n8\n9\n" {
		t.Errorf("the document is %q, the file %q", text, r.File("a.txt"))
	}
	sh.Says([]string{"rejected a.txt\n"}, "review", "reject", filepath.Join(g.Dir, "a.txt"), "--reason", "not in words")
	if res := r.Tool("list_directory", e2e.Object{}); !strings.Contains(res.Content, "not in words") {
		t.Errorf("the agent is told %q", res.Content)
	}
	sh.Says([]string{"accepted b.txt, new.txt"}, "review", "accept")
	if list := r.Pending(); len(list.Edits) != 0 || r.File("new.txt") != "new\n" {
		t.Errorf("left pending: %+v; new.txt is %q", list.Edits, r.File("new.txt"))
	}
	sh.Says([]string{"restored "}, "review", "undo")
	if list := r.Pending(); len(list.Edits) != 2 {
		t.Errorf("after undo: %+v", list.Edits)
	}
	sh.Run(0, "review", "reject", "--all")
	sh.Says([]string{"Nothing is pending."}, "review")
	if out := sh.Run(1, "review", "accept", "nowhere.txt"); !strings.Contains(out, "nowhere.txt") {
		t.Errorf("what is not pending: %s", out)
	}

	// A batch with its commit.
	r.Mode("audit")
	for _, c := range []struct {
		tool string
		args e2e.Object
	}{{"edit_file", e2e.Object{"path": "c.txt", "search": "c", "replace": "see"}}, {"git_commit", e2e.Object{"message": "See"}}} {
		if res := r.Tool(c.tool, c.args); !res.OK {
			t.Fatal(res.Content)
		}
	}
	sh.Says([]string{"batch of default", `commit "See"`}, "review")
	if out := sh.Run(1, "review", "accept", "c.txt"); !strings.Contains(out, "as a whole or not at all") {
		t.Errorf("a part of a batch: %s", out)
	}
	sh.Says([]string{"accepted c.txt", `commit "See": `}, "review", "accept")
	if got := git(g, "log", "-1", "--format=%s"); got != "See" {
		t.Errorf("the last commit is %q", got)
	}

	// What was decided is in the record, and the editor's user was told of it.
	sh.Says([]string{"sidecar.review.accept", "sidecar.review.reject", "by user"}, "audit", "list", "--limit", "200")
	sh.Says([]string{"Nothing was changed since it was written."}, "audit", "verify")
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
	e2e.Home(t)
	g := e2e.Repository(t, "a.go", "package a\n\n// Weigh weighs apples.\nfunc Weigh() {}\n")
	r := e2e.Connect(t, g.Dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"commandRules": []e2e.Object{{"prefix": []string{"make"}, "decision": "deny"}}}}})
	sh := e2e.Shell{T: t, Dir: g.Dir}

	sh.Says([]string{"s\t"}, "shadow", "create", "s")
	r.Shadowed("t", "")
	sh.Says([]string{"s ", "t "}, "shadow", "list")
	completes := func(want string, words ...string) {
		t.Helper()
		out, _, code := e2e.RunCLI(t, "", append([]string{"__complete", "fish"}, words...)...)
		if code != 0 || !strings.Contains("\n"+out, "\n"+want+"\t") {
			t.Errorf("%q: %q is not offered: %s", words, want, out)
		}
	}
	completes("t", "shadow", "--root", g.Dir, "discard", "")
	g.Write(".sidecar/shadows/s/b.txt", "b\n")
	sh.Says([]string{"+b"}, "shadow", "diff", "s")
	sh.Says([]string{"merged b.txt"}, "shadow", "merge", "s")
	if list := r.Pending(); len(list.Edits) != 1 || list.Edits[0].Path != "b.txt" {
		t.Errorf("the editor's queue has %+v", list.Edits)
	}
	completes("b.txt", "review", "--root", g.Dir, "accept", "b")
	sh.Run(0, "shadow", "discard", "s")

	sh.Says([]string{"1 file, 1 symbol, "}, "knowledge", "status")
	sh.Says([]string{"a.go"}, "knowledge", "search", "where", "are", "apples", "weighed")

	// The settings of the editor hold.
	sh.Says([]string{"deny by "}, "policy", "explain", "run_command", "command=make it")
	sh.Says([]string{"allow  ls", "deny   make it"}, "policy", "test", "ls", "make it")
	sh.Says([]string{"allow by "}, "policy", "explain", "--mode", "autonomous", "write_file", "path=x", "content=y")
	if out := sh.Run(2, "policy", "explain", "--mode", "wild", "grep", "pattern=x"); !strings.Contains(out, `"wild"`) {
		t.Errorf("an unknown mode: %s", out)
	}
	sh.Says([]string{"read_file (read): "}, "tools", "read_file")
	sh.Says([]string{"git_status ", "read_file "}, "tools")
}

// TestPendingFile: a call that does not look into the queue says so, beside an
// editor and by itself.
func TestPendingFile(t *testing.T) {
	for _, editor := range []bool{true, false} {
		e2e.Home(t)
		dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
		sh := e2e.Shell{T: t, Dir: dir}
		if editor {
			e2e.Connect(t, dir, fakeeditor.Options{})
		}
		sh.Run(0, "call", "--mode", "review", "write_file", "path=new.txt", "content=new\n")
		sh.Run(0, "call", "--mode", "review", "write_file", "path=a.txt", "content=two\n")
		if out := sh.Run(1, "call", "read_file", "path=new.txt"); !strings.Contains(out, "not_found") || !strings.Contains(out, "new.txt has an edit that waits for review") {
			t.Errorf("beside an editor %v, a new file: %s", editor, out)
		}
		sh.Says([]string{"one\n", "a.txt has an edit that waits for review"}, "call", "read_file", "path=a.txt")
		if out := sh.Run(0, "call", "read_file", "path=b.txt"); strings.Contains(out, "review") {
			t.Errorf("the control: %s", out)
		}
		if out := sh.Says([]string{"new\n"}, "call", "--mode", "review", "read_file", "path=new.txt"); strings.Contains(out, "waits") {
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
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox": e2e.Object{"mode": "off"}})
	dir := e2e.Project(t, map[string]string{"long.txt": strings.Repeat("a line of some length\n", 3000) + "the end\n"})
	sh := e2e.Shell{T: t, Dir: dir}

	out := sh.Run(0, "call", "read_file", "path=long.txt", "limit=3001")
	if strings.Contains(out, "cursor") || !strings.Contains(out, "the end\n") || strings.Count(out, "a line") != 3000 {
		t.Errorf("by itself: %d bytes, %d lines, ends with %q", len(out), strings.Count(out, "a line"), out[max(0, len(out)-300):])
	}
	out = sh.Run(1, "call", "run_command", "command=touch ran", "background=true")
	if !strings.Contains(out, "unavailable: background: ") || !strings.Contains(out, "leave background out") {
		t.Errorf("by itself, in the background: %s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it was run")
	}
	if out := sh.Run(2, "call", "--session", "mine", "list_directory"); !strings.Contains(out, "leave it out") {
		t.Errorf("by itself, a session: %s", out)
	}

	r, _ := e2e.EditorProcess(t, dir)
	defer func() {
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	out = sh.Run(0, "call", "read_file", "path=long.txt", "limit=3001")
	cursor := cursorIn.FindStringSubmatch(out)
	if cursor == nil {
		t.Fatalf("beside an editor: %s", out)
	}
	sh.Says([]string{"a line of some length"}, "call", "read_result", "cursor="+cursor[1])
	out = sh.Run(0, "call", "--mode", "autonomous", "run_command", "command=echo begun; exec sleep 1000", "background=true")
	id := jobIn.FindStringSubmatch(out)
	if id == nil {
		t.Fatalf("beside an editor: %s", out)
	}
	sh.Says([]string{id[1], "running"}, "call", "command_list")
	sh.Run(1, "call", "--session", "mine", "command_output", "id="+id[1])
	e2e.Until(t, "it never began", func() bool { return strings.Contains(sh.Run(0, "call", "command_output", "id="+id[1]), "begun") })
	sh.Says([]string{id[1] + " and all its processes have been ended"}, "call", "command_kill", "id="+id[1])
	sh.Says([]string{"begun"}, "call", "command_output", "id="+id[1])
	// A mode is that of its call alone.
	sh.Run(0, "call", "--mode", "review", "write_file", "path=held.txt", "content=x")
	sh.Run(0, "call", "--mode", "autonomous", "write_file", "path=written.txt", "content=x")
	if out := sh.Run(1, "call", "--mode", "wild", "list_directory"); !strings.Contains(out, `there is no mode "wild"; there are autonomous, cautious, review`) {
		t.Errorf("an unknown mode: %s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "held.txt")); err == nil {
		t.Error("held.txt was written")
	}
	if got := r.File("written.txt"); got != "x" {
		t.Errorf("written.txt is %q", got)
	}
}
