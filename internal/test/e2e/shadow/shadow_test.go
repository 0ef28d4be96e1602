package shadow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestShadowOverLSP goes the whole way of an agent's work in a shadow.
func TestShadowOverLSP(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\ntwo\nthree\nfour\nfive\n", "b.txt", "b\n", "untouched", "u\n")
	repo.Write("a.txt", "one\ntwo\nthree\nfour\nfive\nnot committed\n", ".git/info/exclude", "/excluded\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	uri, err := r.OpenFile(t.Context(), repo.Path("b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "b\ntyped\n"); err != nil {
		t.Fatal(err)
	}
	s := e2e.Command[e2e.Created](r, "sidecar.shadow.create", e2e.Object{"id": "work", "includeUncommitted": true})
	if s.ID != "work" || s.Path != repo.Path(".sidecar/shadows/work") || s.Base != strings.TrimSpace(repo.Git("rev-parse", "HEAD")) {
		t.Errorf("%+v", s)
	}
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "agent", "shadow": "work", "mode": "review"})
	list := e2e.Command[struct {
		Sessions []struct{ Session, Root, Shadow string }
	}](r, "sidecar.session.list", nil)
	if list.Sessions[0].Session != "agent" || list.Sessions[0].Root != s.Path || list.Sessions[0].Shadow != "work" {
		t.Errorf("%+v", list)
	}
	for _, c := range []struct {
		tool string
		args e2e.Object
		has  string
	}{
		{"read_file", e2e.Object{"path": "b.txt"}, "typed"},
		{"read_file", e2e.Object{"path": filepath.Join(s.Path, "a.txt")}, "not committed"},
		{"edit_file", e2e.Object{"path": "a.txt", "edits": []e2e.Object{{"search": "two", "replace": "zwei"}}}, ""},
		{"write_file", e2e.Object{"path": "new/c.txt", "content": "created\n"}, ""},
		{"delete_file", e2e.Object{"path": "b.txt"}, ""},
		{"grep", e2e.Object{"pattern": "zwei|created"}, "new/c.txt"},
		{"search_files", e2e.Object{"pattern": "**/*.txt"}, "a.txt"},
		{"write_file", e2e.Object{"path": "excluded", "content": "zwei\n"}, ""},
		{"grep", e2e.Object{"pattern": "zwei"}, "in 1 file"},
		{"list_directory", e2e.Object{"path": "."}, "new"},
	} {
		res := r.In("agent", c.tool, c.args)
		if !res.OK || !strings.Contains(res.Content, c.has) {
			t.Errorf("%s %v: %+v", c.tool, c.args, res)
		}
		if strings.Contains(res.Content, "Held for review") {
			t.Errorf("%s: %s", c.tool, res.Content)
		}
	}
	// In the worktree at once, in no queue, and not in the main tree.
	if got, _ := os.ReadFile(filepath.Join(s.Path, "a.txt")); !strings.Contains(string(got), "zwei\n") {
		t.Errorf("the shadow has %q", got)
	}
	if q := r.Pending(); len(q.Edits) > 0 {
		t.Errorf("pending: %+v", q)
	}
	if strings.Contains(r.File("a.txt"), "zwei") {
		t.Error("the main tree has it too")
	}
	if res := r.Tool("grep", e2e.Object{"pattern": "zwei"}); strings.Contains(res.Content, "a.txt") {
		t.Errorf("another session sees it: %s", res.Content)
	}
	shadows := e2e.Command[struct {
		Shadows []struct {
			ID, Path, Base, CreatedAt string
			Changed                   int
		}
	}](r, "sidecar.shadow.list", nil)
	if len(shadows.Shadows) != 1 || shadows.Shadows[0].Changed != 3 || shadows.Shadows[0].CreatedAt == "" {
		t.Errorf("%+v", shadows)
	}
	d := e2e.Command[struct {
		Diff  string
		Files []e2e.Object
	}](r, "sidecar.shadow.diff", e2e.Object{"id": "work"})
	if len(d.Files) != 3 || !strings.Contains(d.Diff, "-two\n+zwei\n") || strings.Contains(d.Diff, "not committed\n+") || d.Files[0]["kind"] != "modify" || d.Files[0]["added"] != 1.0 {
		t.Errorf("%+v", d)
	}

	// The user goes on, in the lines that the agent changed too.
	if err := r.Type(t.Context(), uri, "b\ntyped more\n"); err != nil {
		t.Fatal(err)
	}
	type merged struct {
		Merged    []string
		Conflicts []struct {
			Path               string
			Base, Ours, Theirs *string
		}
	}
	m := e2e.Command[merged](r, "sidecar.shadow.merge", e2e.Object{"id": "work"})
	if fmt.Sprint(m.Merged) != "[a.txt new/c.txt]" || len(m.Conflicts) != 1 || m.Conflicts[0].Path != "b.txt" || m.Conflicts[0].Theirs != nil || *m.Conflicts[0].Ours != "b\ntyped more\n" || *m.Conflicts[0].Base != "b\ntyped\n" {
		t.Errorf("%+v", m)
	}
	if q := r.Pending(); len(q.Edits) != 2 {
		t.Errorf("pending: %+v", q)
	}
	if r.File("a.txt") != "one\ntwo\nthree\nfour\nfive\nnot committed\n" {
		t.Error("the merge into the review queue wrote a file")
	}
	if m := e2e.Command[merged](r, "sidecar.shadow.merge", e2e.Object{"id": "work", "into": "review"}); len(m.Merged) != 0 || len(m.Conflicts) != 1 {
		t.Errorf("second merge: %+v", m)
	}
	if got := r.Accept(nil); len(got.Failed) > 0 {
		t.Errorf("%+v", got)
	}
	if r.File("a.txt") != "one\nzwei\nthree\nfour\nfive\nnot committed\n" || r.File("new/c.txt") != "created\n" {
		t.Error("the files are not as accepted")
	}
	if res := r.In("agent", "write_file", e2e.Object{"path": "later", "content": "l\n"}); !res.OK {
		t.Error(res.Content)
	}
	if m := e2e.Command[merged](r, "sidecar.shadow.merge", e2e.Object{"id": "work", "into": "tree"}); fmt.Sprint(m.Merged) != "[later]" {
		t.Errorf("%+v", m)
	}
	if r.File("later") != "l\n" {
		t.Error("not in the tree")
	}
	e2e.Command[e2e.Object](r, "sidecar.shadow.discard", e2e.Object{"id": "work"})
	if res := r.In("agent", "read_file", e2e.Object{"path": "a.txt"}); res.OK || res.Error.Code != tools.Unavailable || !strings.Contains(res.Content, "another session") {
		t.Errorf("after the discard: %+v", res)
	}
	if res := r.In("agent", "write_file", e2e.Object{"path": "x", "content": "x\n"}); res.OK {
		t.Error("a discarded shadow was written to")
	}
	if out := repo.Git("worktree", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("git worktree list: %s", out)
	}
	// A new one of the same name is another one.
	e2e.Command[e2e.Created](r, "sidecar.shadow.create", e2e.Object{"id": "work"})
	if res := r.In("agent", "read_file", e2e.Object{"path": "later"}); res.OK || res.Error.Code != tools.NotFound {
		t.Errorf("%+v", res)
	}
}

// TestMergeIntoOpenDocument: a merge into the tree goes to the buffer of an
// open document, as one edit of the editor.
func TestMergeIntoOpenDocument(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\ntwo\nthree\nfour\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	uri, err := r.OpenFile(t.Context(), repo.Path("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r.Shadowed("x", "autonomous")
	r.In("x", "edit_file", e2e.Object{"path": "a.txt", "edits": []e2e.Object{{"search": "one", "replace": "eins"}}})
	if err := r.Type(t.Context(), uri, "one\ntwo\nthree\nvier, unsaved\n"); err != nil {
		t.Fatal(err)
	}
	m := e2e.Command[struct{ Merged, Conflicts []any }](r, "sidecar.shadow.merge", e2e.Object{"id": "x", "into": "tree"})
	if len(m.Merged) != 1 || len(m.Conflicts) != 0 {
		t.Errorf("%+v", m)
	}
	if text, _ := r.Text(uri); text != "eins\ntwo\nthree\nvier, unsaved\n" {
		t.Errorf("the buffer has %q", text)
	}
	if r.File("a.txt") != "one\ntwo\nthree\nfour\n" {
		t.Error("the file was written behind the buffer")
	}
}

// TestMergeIntoTreeLeavesSomeForReview: what a person is asked about in every
// mode is not written unseen.
func TestMergeIntoTreeLeavesSomeForReview(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	s := r.Shadowed("x", "autonomous")
	for name, text := range map[string]string{".vscode/tasks.json": "{}\n", ".npmrc": "x\n", "a.txt": "two\n"} {
		e2e.Write(t, filepath.Join(s.Path, name), text)
	}
	if err := ownfile.Symlink("../../elsewhere", filepath.Join(s.Path, "out")); err != nil {
		t.Fatal(err)
	}
	m := e2e.Command[merged](r, "sidecar.shadow.merge", e2e.Object{"id": "x", "into": "tree"})
	if fmt.Sprint(m.Merged) != "[a.txt]" || len(m.Conflicts) != 3 || m.Conflicts[0].Theirs != nil {
		t.Errorf("%+v", m)
	}
	r.Told(".npmrc: the file may hold secrets", "out: it is a link that leads out of the workspace")
	if _, err := os.Lstat(repo.Path(".npmrc")); err == nil {
		t.Error(".npmrc was written")
	}
	again := e2e.Command[struct{ Merged []string }](r, "sidecar.shadow.merge", e2e.Object{"id": "x"})
	if fmt.Sprint(again.Merged) != "[.npmrc .vscode/tasks.json out]" {
		t.Errorf("%+v", again)
	}
	if got := r.Accept(nil); len(got.Failed) > 0 {
		t.Errorf("%+v", got)
	}
	if r.File(".npmrc") != "x\n" {
		t.Error("not accepted")
	}
}

// TestShadowIsConfined: nothing that a session in a shadow says reaches the main
// tree or another shadow; the same words, meant for its own tree, work.
func TestShadowIsConfined(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "main's\n", "sub/b.txt", "main's\n")
	for link, target := range map[string]string{"up": "../../..", "abs": repo.Dir, "file": repo.Path("a.txt"), "other": "../two", "inside": "sub", "git": ".git"} {
		if err := ownfile.Symlink(target, repo.Path(link)); err != nil {
			t.Fatal(err)
		}
	}
	repo.Git("add", "-A")
	repo.Git("commit", "-qm", "links")
	repo.Write("only-main.txt", "main's alone\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	one := r.Shadowed("one", "autonomous")
	two := r.Shadowed("two", "autonomous")
	r.In("two", "write_file", e2e.Object{"path": "only-two.txt", "content": "two's alone\n"})
	before := treeOf(t, repo.Dir)
	for _, path := range []string{
		repo.Path("a.txt"), repo.Path("only-main.txt"), "../../../only-main.txt", "up/only-main.txt", "abs/only-main.txt", "file", "../two/only-two.txt", "other/only-two.txt",
		filepath.Join(two.Path, "only-two.txt"), "only-main.txt", "sub/../../../../only-main.txt", one.Path + "/../../../only-main.txt", "inside/../../only-main.txt",
	} {
		for tool, args := range map[string]e2e.Object{
			"read_file":      {"path": path},
			"list_directory": {"path": filepath.Dir(path)},
			"grep":           {"pattern": "alone", "path": path},
		} {
			if res := r.In("one", tool, args); strings.Contains(res.Content, "alone\n") || res.OK && tool == "read_file" || strings.Contains(res.Content, "only-main") && res.OK {
				t.Errorf("%s %s: %+v", tool, path, res)
			}
		}
		for tool, args := range map[string]e2e.Object{
			"edit_file":   {"path": path, "edits": []e2e.Object{{"search": "main's", "replace": "taken"}}},
			"delete_file": {"path": path},
			"move_file":   {"from": path, "to": "taken.txt"},
		} {
			if path == "file" && tool != "edit_file" {
				continue // who deletes or moves a link does so with the link: below
			}
			if res := r.In("one", tool, args); res.OK {
				t.Errorf("%s %s: %+v", tool, path, res)
			}
		}
		if path != "only-main.txt" {
			if res := r.In("one", "write_file", e2e.Object{"path": path, "content": "taken\n"}); res.OK {
				t.Errorf("write_file %s: %+v", path, res)
			}
		}
	}
	for _, path := range []string{".git", "git", ".git/x", "sub/.git", ".GIT"} {
		if res := r.In("one", "write_file", e2e.Object{"path": path, "content": "gitdir: /tmp\n"}); res.OK {
			t.Errorf("write_file %s: %+v", path, res)
		}
	}
	if after := treeOf(t, repo.Dir); after != before {
		t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
	}
	for _, path := range []string{"a.txt", filepath.Join(one.Path, "a.txt"), "inside/b.txt", "sub/../a.txt"} {
		if res := r.In("one", "read_file", e2e.Object{"path": path}); !res.OK {
			t.Errorf("control: read_file %s: %+v", path, res)
		}
		if res := r.In("one", "write_file", e2e.Object{"path": path, "content": "one's\n"}); !res.OK {
			t.Errorf("control: write_file %s: %+v", path, res)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(one.Path, "a.txt")); string(got) != "one's\n" {
		t.Errorf("control: the shadow has %q", got)
	}
	if res := r.In("one", "move_file", e2e.Object{"from": "file", "to": "moved"}); !res.OK {
		t.Errorf("control: move_file of a link: %+v", res)
	}
	if res := r.In("one", "delete_file", e2e.Object{"path": "moved"}); !res.OK {
		t.Errorf("control: delete_file of a link: %+v", res)
	}
	if got := r.File("a.txt"); got != "main's\n" {
		t.Errorf("where the link led there is %q", got)
	}
	// The main session may look into a shadow, and not write there.
	if res := r.Tool("write_file", e2e.Object{"path": ".sidecar/shadows/one/a.txt", "content": "x\n"}); res.OK {
		t.Error("the main session wrote into a shadow")
	}
}

// TestShadowDocuments: what the user types in a document of a shadow is what its
// sessions read, and nothing writes over it.
func TestShadowDocuments(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\n", "b.txt", "b\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	s := r.Shadowed("x", "autonomous")
	uri, err := r.OpenFile(t.Context(), filepath.Join(s.Path, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if res := r.In("x", "write_file", e2e.Object{"path": "a.txt", "content": "while it is open and saved\n"}); !res.OK {
		t.Error(res.Content)
	}
	if err := r.Type(t.Context(), uri, "typed, not saved\n"); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]e2e.Object{"read_file": {"path": "a.txt"}, "grep": {"pattern": "typed"}} {
		if res := r.In("x", tool, args); !res.OK || !strings.Contains(res.Content, "typed, not saved") {
			t.Errorf("%s: %+v", tool, res)
		}
	}
	if res := r.In("x", "edit_file", e2e.Object{"path": "a.txt", "edits": []e2e.Object{{"search": "typed", "replace": "taken"}}}); res.OK || res.Error.Code != tools.Conflict {
		t.Errorf("%+v", res)
	}
	if text, _ := r.Text(uri); text != "typed, not saved\n" {
		t.Errorf("the buffer has %q", text)
	}
	if res := r.In("x", "write_file", e2e.Object{"path": "b.txt", "content": "control\n"}); !res.OK {
		t.Error(res.Content)
	}
	if err := r.Save(t.Context(), uri); err != nil {
		t.Fatal(err)
	}
	if res := r.In("x", "edit_file", e2e.Object{"path": "a.txt", "edits": []e2e.Object{{"search": "typed", "replace": "taken"}}}); !res.OK {
		t.Errorf("%+v", res)
	}
}

// TestShadowIndexes: what searches by symbols knows of one tree it doesn't tell
// in another.
func TestShadowIndexes(t *testing.T) {
	repo := e2e.Repository(t, "go.mod", "module example.com/m\n", "a.go", "package m\n\n// SharedThing is in both.\nfunc SharedThing() {}\n")
	repo.Write("main.go", "package m\n\n// OnlyMainThing is in the main tree.\nfunc OnlyMainThing() { SharedThing() }\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	r.Shadowed("one", "autonomous")
	if res := r.In("one", "write_file", e2e.Object{"path": "one.go", "content": "package m\n\n// OnlyShadowThing is in the shadow.\nfunc OnlyShadowThing() { SharedThing() }\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	for _, c := range []struct{ session, has, hasNot string }{
		{"one", "OnlyShadowThing", "OnlyMainThing"},
		{"default", "OnlyMainThing", "OnlyShadowThing"},
		{"one", "OnlyShadowThing", "OnlyMainThing"},
	} {
		for tool, args := range map[string]e2e.Object{
			"project_knowledge_search": {"query": "only thing"},
			"find_references":          {"symbol": "SharedThing"},
			"grep":                     {"pattern": "Only\\w+Thing\\("},
		} {
			res := r.In(c.session, tool, args)
			if !res.OK && res.Error.Code == tools.Unavailable && strings.Contains(res.Content, "use grep") && c.session != "default" {
				continue // it says that it doesn't know this tree
			}
			if !res.OK || !strings.Contains(res.Content, c.has[:8]) && !strings.Contains(res.Content, map[string]string{"OnlyShadowThing": "one.go", "OnlyMainThing": "main.go"}[c.has]) {
				t.Errorf("%s in %s: %+v", tool, c.session, res)
			}
			if strings.Contains(res.Content, c.hasNot) || strings.Contains(res.Content, map[string]string{"OnlyShadowThing": "one.go", "OnlyMainThing": "main.go"}[c.hasNot]) {
				t.Errorf("%s in %s tells of the other tree: %s", tool, c.session, res.Content)
			}
		}
	}
}

// treeOf lists the files of the main tree and of its repository's settings,
// with their contents.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, path); {
		case err != nil:
			return err
		case rel == ".sidecar/state" || rel == ".sidecar/logs" || rel == ".git/objects" || rel == ".sidecar/cache":
			return filepath.SkipDir
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %q %v\n", rel, data, err)
		default:
			fmt.Fprintln(&b, rel, d.Type())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestShadowModes: in every mode what is changed goes to the worktree; the
// questions stay those of the mode.
func TestShadowModes(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\n")
	for mode, asks := range map[string]int{"autonomous": 0, "cautious": 1, "review": 0, "audit": 0, "manual": 1} {
		t.Run(mode, func(t *testing.T) {
			r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
			r.Choose("Allow")
			s := r.Shadowed(mode, mode)
			questions := func() (n int) {
				for _, m := range r.Record().Requests {
					if m.Method == "window/showMessageRequest" {
						n++
					}
				}
				return n
			}
			before := questions()
			res := r.In(mode, "write_file", e2e.Object{"path": "a.txt", "content": mode + "\n"})
			if n := questions() - before; !res.OK || n != asks {
				t.Errorf("%+v, asked %d times", res, n)
			}
			if got, _ := os.ReadFile(filepath.Join(s.Path, "a.txt")); string(got) != mode+"\n" {
				t.Errorf("the shadow has %q", got)
			}
			if q := r.Pending(); len(q.Edits) > 0 {
				t.Errorf("pending: %+v", q)
			}
		})
	}
}

// TestShadowErrors: what can't be is said with a code, or names the argument.
func TestShadowErrors(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	r.Shadowed("good", "")
	for _, c := range []struct {
		command string
		arg     e2e.Object
		code    int64
		says    string
	}{
		{"sidecar.shadow.create", e2e.Object{"id": "../x"}, lsp.InvalidParams, "id"},
		{"sidecar.shadow.create", e2e.Object{"id": "-x"}, lsp.InvalidParams, "id"},
		{"sidecar.shadow.create", e2e.Object{"id": 1}, lsp.InvalidParams, "id"},
		{"sidecar.shadow.create", e2e.Object{"base": "--x"}, lsp.InvalidParams, "base"},
		{"sidecar.shadow.create", e2e.Object{"base": "nowhere"}, lsp.InvalidParams, "base"},
		{"sidecar.shadow.create", e2e.Object{"uncommitted": true}, lsp.InvalidParams, "uncommitted"},
		{"sidecar.shadow.create", e2e.Object{"id": "good"}, lsp.RequestFailed, "already_exists"},
		{"sidecar.shadow.diff", e2e.Object{}, lsp.InvalidParams, "id"},
		{"sidecar.shadow.diff", e2e.Object{"id": "none"}, lsp.RequestFailed, "not_found"},
		{"sidecar.shadow.merge", e2e.Object{"id": "good", "into": "main"}, lsp.InvalidParams, "into"},
		{"sidecar.shadow.merge", e2e.Object{"id": "none"}, lsp.RequestFailed, "not_found"},
		{"sidecar.shadow.discard", e2e.Object{"id": "none"}, lsp.RequestFailed, "not_found"},
		{"sidecar.session.open", e2e.Object{"shadow": "none"}, lsp.InvalidParams, "shadow"},
		{"sidecar.session.open", e2e.Object{"shadow": "../.."}, lsp.InvalidParams, "shadow"},
	} {
		err := r.ExecuteCommand(t.Context(), c.command, c.arg, nil)
		var e *lsp.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message+string(e.Data), c.says) {
			t.Errorf("%s %v: %v", c.command, c.arg, err)
		}
	}
	if list := e2e.Command[struct{ Shadows []e2e.Object }](r, "sidecar.shadow.list", nil); len(list.Shadows) != 1 {
		t.Errorf("%+v", list)
	}
}

// TestShadowCLI: the same on the command line.
func TestShadowCLI(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\n")
	run := func(want int, args ...string) string {
		t.Helper()
		out, stderr, code := e2e.RunCLI(t, "", append([]string{"shadow", "--root", repo.Dir}, args...)...)
		if code != want {
			t.Fatalf("%q: exit %d, want %d\n%s%s", args, code, want, out, stderr)
		}
		return out + stderr
	}
	if out := run(0); !strings.Contains(out, "no shadow") {
		t.Error(out)
	}
	var made e2e.Created
	if err := json.Unmarshal([]byte(run(0, "create", "--json", "--include-uncommitted", "x")), &made); err != nil || made.Path != repo.Path(".sidecar/shadows/x") {
		t.Errorf("%+v %v", made, err)
	}
	run(0, "create", "--base", "HEAD", "y")
	if err := ownfile.WriteFile(filepath.Join(made.Path, "a.txt"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		exit int
		args []string
		says string
	}{
		{0, []string{"list"}, "1 changed"},
		{0, []string{"list", "--json"}, `"changed": 1`},
		{0, []string{"diff", "x"}, "-one\n+two\n"},
		{0, []string{"diff", "--json", "x"}, `"added": 1`},
		{0, []string{"merge", "x"}, "merged a.txt"},
		{0, []string{"merge", "x"}, "Nothing is new"},
		{0, []string{"merge", "--into", "tree", "--json", "x"}, `"a.txt"`},
		{0, []string{"merge", "y"}, "Nothing is new"},
		{1, []string{"fill", "none"}, "no such shadow"},
		{0, []string{"discard", "x"}, ""},
		{0, []string{"discard", "--json", "y"}, "{}"},
		{0, []string{"list"}, "no shadow"},
		{1, []string{"diff", "x"}, "no such shadow"},
		{1, []string{"create", "--base=-x"}, "base"},
		{1, []string{"create", "a/b"}, "id"},
		{2, []string{"diff"}, "takes the id"},
		{2, []string{"diff", "x", "y"}, "too much"},
		{2, []string{"merge", "--into", "main", "x"}, "--into"},
		{2, []string{"rename", "x"}, "no verb"},
	} {
		if out := run(c.exit, c.args...); !strings.Contains(out, c.says) {
			t.Errorf("%q: %s", c.args, out)
		}
	}
	run(0, "create", "--lazy", "l")
	for _, want := range []bool{false, true, true} {
		if _, err := os.Stat(repo.Path(".sidecar/shadows/l/a.txt")); want != (err == nil) {
			t.Errorf("a.txt: %v", err)
		}
		run(0, "fill", "l")
	}
	repo.Git("checkout", "-q", "--", ".")
	run(0, "create", "z")
	for dir, text := range map[string]string{repo.Dir: "ours\n", repo.Path(".sidecar/shadows/z"): "theirs\n"} {
		if err := ownfile.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := run(1, "merge", "--into", "tree", "z"); !strings.Contains(out, "conflict a.txt") {
		t.Error(out)
	}
	// Whoever discards it if the merge ends well must not lose what was left out.
	z := repo.At(repo.Path(".sidecar/shadows/z"))
	z.Git("checkout", "-q", "--", ".")
	run(0, "merge", "z")
	z.Git("init", "-q", "inner")
	z.At("inner").Commit("inner", "i", "1\n")
	if out := run(1, "merge", "z"); !strings.Contains(out, "skipped inner: it is a repository of its own") {
		t.Error(out)
	}
	if err := errors.Join(ownfile.Rename(z.Dir, z.Dir+".away"), ownfile.Symlink(z.Dir+".away", z.Dir)); err != nil {
		t.Fatal(err)
	}
	if out := run(0, "list"); !strings.Contains(out, "z can't be used: the shadow workspace is not as it was made") {
		t.Error(out)
	}
}

// The answers of the shadow commands, with all their members.
type (
	shadowsListed struct {
		Shadows []struct {
			ID, Path, Base string
			CreatedAt      time.Time
			Changed        int
		}
	}
	shadowDiffed struct {
		Diff  string
		Files []struct {
			Path, Kind     string
			Added, Removed int
		}
	}
	merged struct {
		Merged    []string
		Conflicts []struct {
			Path               string
			Base, Ours, Theirs *string
		}
	}
)

// exactly runs a command and refuses an answer with members that it should not
// have.
func exactly[R any](r *e2e.Rig, name string, arg any) R {
	r.T.Helper()
	var raw json.RawMessage
	if err := r.ExecuteCommand(r.T.Context(), name, arg, &raw); err != nil {
		r.T.Fatalf("%s: %v", name, err)
	}
	var res R
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&res); err != nil {
		r.T.Errorf("%s: %v\n%s", name, err, raw)
	}
	return res
}

// TestShadowAnswers: the answers have the members of the protocol and no others.
func TestShadowAnswers(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\n", "b.txt", "1\n2\n3\n4\n5\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	s := exactly[e2e.Created](r, "sidecar.shadow.create", e2e.Object{"id": "x"})
	e2e.Write(t, filepath.Join(s.Path, "a.txt"), "theirs\n")
	if err := errors.Join(ownfile.Rename(filepath.Join(s.Path, "b.txt"), filepath.Join(s.Path, "c.txt")), ownfile.Chmod(filepath.Join(s.Path, "c.txt"), 0o755)); err != nil {
		t.Fatal(err)
	}
	repo.Write("a.txt", "ours\n")
	if l := exactly[shadowsListed](r, "sidecar.shadow.list", e2e.Object{}); len(l.Shadows) != 1 || l.Shadows[0].Changed != 3 {
		t.Errorf("%+v", l)
	}
	if d := exactly[shadowDiffed](r, "sidecar.shadow.diff", e2e.Object{"id": "x"}); len(d.Files) != 2 {
		t.Errorf("%+v", d)
	}
	if m := exactly[merged](r, "sidecar.shadow.merge", e2e.Object{"id": "x"}); len(m.Merged) != 1 || len(m.Conflicts) != 1 || *m.Conflicts[0].Ours != "ours\n" {
		t.Errorf("%+v", m)
	}
	r.Told("a.txt: both trees changed the same lines")
	if got := r.Pending(); len(got.Edits) != 1 {
		t.Errorf("%+v", got)
	}
	if got := r.Accept(nil); len(got.Failed) > 0 {
		t.Errorf("%+v", got)
	}
	if info, err := os.Stat(repo.Path("c.txt")); err != nil || info.Mode().Perm()&0o100 == 0 { // the rest is up to the umask
		t.Errorf("%v %v", info, err)
	}
	if d := exactly[struct{}](r, "sidecar.shadow.discard", e2e.Object{"id": "x"}); d != struct{}{} {
		t.Errorf("%+v", d)
	}
}

// TestShadowLimits: the settings bound how many there are, and how large.
func TestShadowLimits(t *testing.T) {
	for key, n := range map[string][2]int{"maxMegabytes": {1, 3}, "max": {1, 2}} {
		repo := e2e.Repository(t, "a.txt", strings.Repeat("x", 2<<20), "b.txt", "b\n")
		for i, limit := range n {
			r := e2e.Connect(t, repo.Dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"shadow": e2e.Object{key: limit}}}})
			if key == "max" && i == 0 {
				e2e.Command[e2e.Created](r, "sidecar.shadow.create", e2e.Object{})
			}
			err := r.ExecuteCommand(t.Context(), "sidecar.shadow.create", e2e.Object{}, nil)
			if refused := err != nil && strings.Contains(err.Error(), "sidecar.shadow."); refused != (i == 0) || !refused && err != nil {
				t.Errorf("%s %d: %v", key, limit, err)
			}
		}
	}
}
