package review_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestGitOfPending: git_status and git_diff show the disk and say what they did
// not see; with pending they show what git says once all is accepted and saved.
func TestGitOfPending(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\ntwo\n", "b.txt", "b\n", "c.txt", "1\n2\n3\n4\n", "open.txt", "saved\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	r.Mode("review")
	git := func(tool string, args e2e.Object) string {
		t.Helper()
		res := r.Tool(tool, args)
		if !res.OK {
			t.Fatalf("%s %v: %s", tool, args, res.Content)
		}
		return res.Content
	}
	const note = "This saw the disk, not the text"
	for _, args := range []e2e.Object{{}, {"pending": true}} {
		if out := git("git_status", args); !strings.Contains(out, "nothing to commit") || strings.Contains(out, note) {
			t.Errorf("nothing is pending, and git_status %v says %s", args, out)
		}
		if out := git("git_diff", args); !strings.Contains(out, "no differences") || strings.Contains(out, note) {
			t.Errorf("nothing is pending, and git_diff %v says %s", args, out)
		}
	}
	for tool, args := range map[string]e2e.Object{
		"edit_file": {"path": "a.txt", "search": "two", "replace": "TWO"}, "delete_file": {"path": "b.txt"},
		"move_file": {"from": "c.txt", "to": "moved.txt"}, "write_file": {"path": "n/new.txt", "content": "new\n"},
	} {
		git(tool, args)
	}
	uri, err := r.OpenFile(t.Context(), filepath.Join(r.Dir, "open.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "typed\n"); err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]string{"git_status": "nothing to commit", "git_diff": "no differences"} {
		out := git(tool, e2e.Object{})
		if !strings.Contains(out, want) || strings.Count(out, note) != 1 || !strings.Contains(out, "in a.txt, b.txt, c.txt, moved.txt, n/new.txt and 1 more; `pending: true` shows that.") {
			t.Errorf("%s: %s", tool, out)
		}
	}
	status, diff := git("git_status", e2e.Object{"pending": true}), git("git_diff", e2e.Object{"pending": true})
	for _, want := range []string{"Not staged (4):\n  M a.txt\n  D b.txt\n  D c.txt\n  M open.txt\n", "Untracked (2):\n  moved.txt\n  n/\n"} {
		if !strings.Contains(status, want) {
			t.Errorf("git_status has no %q: %s", want, status)
		}
	}
	for _, want := range []string{"5 files differ", "-two\n+TWO\n", "deleted file mode 100644", "rename from c.txt\nrename to moved.txt", "new file mode 100644", "+new\n", "-saved\n+typed\n"} {
		if !strings.Contains(diff, want) {
			t.Errorf("git_diff has no %q: %s", want, diff)
		}
	}
	if strings.Contains(status, note) || strings.Contains(diff, note) {
		t.Errorf("what was seen is said not to be: %s\n%s", status, diff)
	}
	if out := git("git_diff", e2e.Object{"pending": true, "path": "n", "ref1": "HEAD"}); !strings.Contains(out, "1 file differs") || !strings.Contains(out, "+new\n") {
		t.Errorf("git_diff of one directory: %s", out)
	}
	for _, args := range []e2e.Object{{"pending": true, "staged": true}, {"pending": true, "ref1": "HEAD", "ref2": "HEAD"}} {
		if res := r.Tool("git_diff", args); res.OK || !strings.Contains(res.Content, "leave out pending") {
			t.Errorf("git_diff %v: %s", args, res.Content)
		}
	}
	if out := repo.Git("status", "--porcelain"); out != "" {
		t.Errorf("the working tree was changed: %s", out)
	}
	// Then it is so.
	r.Accept(e2e.Object{})
	if err := ownfile.WriteFile(filepath.Join(r.Dir, "open.txt"), []byte("typed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := git("git_status", e2e.Object{}); strings.Split(out, "\n\n[")[0] != strings.Split(status, "\n\n[")[0] {
		t.Errorf("accepted, it is\n%s\nand was to be\n%s", out, status)
	}
}

// What may hold secrets is kept back of what is pending as well.
func TestGitOfPendingHides(t *testing.T) {
	repo := e2e.Repository(t, ".env", "KEY=on the disk\n", "a.txt", "a\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	r.Mode("review")
	uri, err := r.OpenFile(t.Context(), filepath.Join(r.Dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"KEY=hunter2\n", "KEY=hunter3\n"} {
		if err := r.Type(t.Context(), uri, text); err != nil {
			t.Fatal(err)
		}
		if res := r.Tool("write_file", e2e.Object{"path": "a.txt", "content": fmt.Sprintln("text", i)}); !res.OK {
			t.Fatal(res.Content)
		}
		out := r.Tool("git_diff", e2e.Object{"pending": true}).Content
		if strings.Contains(out, "hunter") || strings.Contains(out, ".env") || !strings.Contains(out, fmt.Sprint("+text ", i)) {
			t.Errorf("git_diff: %s", out)
		}
	}
}
