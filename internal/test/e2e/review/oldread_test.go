package review_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestWriteFromAnOldRead: a file that others have changed since a session read it is not
// written whole by it before it has read it again, whoever the others are; what the session
// did itself, and what was accepted of it, is no such change.
func TestWriteFromAnOldRead(t *testing.T) {
	e2e.Home(t)
	const text = "1\n2\n3\n4\n5\n"
	dir := e2e.Project(t, map[string]string{"a.txt": text, "b.txt": text, "c.txt": text})
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	session := func(mode string) (call func(tool string, args e2e.Object) e2e.Result) {
		id := e2e.Command[struct{ Session string }](r, "sidecar.session.open", e2e.Object{"mode": mode}).Session
		return func(tool string, args e2e.Object) e2e.Result {
			t.Helper()
			return r.In(id, tool, args)
		}
	}
	good := func(res e2e.Result) {
		t.Helper()
		if !res.OK {
			t.Fatal(res.Content)
		}
	}
	refused := func(res e2e.Result, shows string) {
		t.Helper()
		if res.OK || res.Error.Code != "conflict" || !strings.Contains(res.Content, shows) || !strings.Contains(res.Content, "read all of it again") {
			t.Fatalf("%+v", res)
		}
	}
	read := func(name string) (string, e2e.Object) { return "read_file", e2e.Object{"path": name} }
	write := func(name, text string) (string, e2e.Object) {
		return "write_file", e2e.Object{"path": name, "content": text}
	}
	edit := func(name, search, replace string) (string, e2e.Object) {
		return "edit_file", e2e.Object{"path": name, "search": search, "replace": replace}
	}

	// The user types, or saves.
	auto := session("autonomous")
	uri, err := r.OpenFile(t.Context(), filepath.Join(dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	good(auto(read("a.txt")))
	good(auto(edit("a.txt", "2\n", "two\n")))
	good(auto(write("a.txt", text+"6\n"))) // on top of its own edit
	if err := r.Type(t.Context(), uri, text+"6\nthe user's\n"); err != nil {
		t.Fatal(err)
	}
	refused(auto(write("a.txt", "all\n")), "+the user's")
	good(auto(edit("a.txt", "1\n", "one\n")))
	refused(auto(write("a.txt", "all\n")), "+the user's")
	refused(auto("apply_patch", e2e.Object{"patch": "*** Begin Patch\n*** Delete File: a.txt\n*** Add File: a.txt\n+all\n*** End Patch"}), "+the user's")
	good(auto(read("a.txt")))
	good(auto(write("a.txt", "all\n")))
	good(session("autonomous")(write("b.txt", "never read\n")))
	good(auto(read("c.txt")))
	e2e.Write(t, filepath.Join(dir, "c.txt"), "saved\n")
	refused(auto(write("c.txt", "all\n")), "+saved")

	// Another session's edits wait, or a person decides on those of this one.
	one, two := session("review"), session("review")
	good(one(read("c.txt")))
	good(two(edit("c.txt", "saved", "two's")))
	refused(one(write("c.txt", "one's\n")), "+two's")
	good(one(read("c.txt")))
	good(one(write("c.txt", "one's\n")))
	r.Accept(nil)
	good(one(write("c.txt", "again\n"))) // accepting changed no text
	e2e.Command[e2e.Object](r, "sidecar.review.reject", nil)
	refused(one(write("c.txt", "once more\n")), "+one's")
}
