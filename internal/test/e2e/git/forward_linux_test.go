package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestFastForward: a command merges a branch that is ahead. The branch goes there with the
// accept of its files, as they are, over a restart; else it stays.
func TestFastForward(t *testing.T) {
	const merge = "git merge -q feat"
	for name, c := range map[string]struct {
		line, says string
		then       func(t *testing.T, r *e2e.Rig, git func(args ...string) string)
		head       string // the subject of what the branch is at
		status     string // of git
	}{
		"accepted": {merge, "waits for its files: the branch goes there", func(t *testing.T, r *e2e.Rig, _ func(...string) string) {
			if res := r.Accept(e2e.Object{}); len(res.Failed) != 0 {
				t.Errorf("%+v", res)
			}
		}, "two", "?? mine.txt\n"},
		"accepted file by file": {merge, "waits for its files", func(t *testing.T, r *e2e.Rig, git func(...string) string) {
			r.Accept(e2e.Object{"uris": []string{"file://" + filepath.Join(r.Dir, "a.txt")}})
			if got := git("log", "-1", "--format=%s"); got != "base\n" {
				t.Errorf("before all is accepted, the branch is at %s", got)
			}
			r.Accept(e2e.Object{})
		}, "two", "?? mine.txt\n"},
		"a file is rejected": {merge, "waits for its files", func(_ *testing.T, r *e2e.Rig, _ func(...string) string) {
			_ = r.ExecuteCommand(r.T.Context(), "sidecar.review.reject", e2e.Object{"uris": []string{"file://" + filepath.Join(r.Dir, "new.txt")}}, nil)
			r.Accept(e2e.Object{})
		}, "base", " M a.txt\n?? mine.txt\n"},
		"all is rejected": {merge, "waits for its files", func(_ *testing.T, r *e2e.Rig, _ func(...string) string) {
			_ = r.ExecuteCommand(r.T.Context(), "sidecar.review.reject", e2e.Object{}, nil)
		}, "base", "?? mine.txt\n"},
		"the user commits meanwhile": {merge, "waits for its files", func(_ *testing.T, r *e2e.Rig, git func(...string) string) {
			git("commit", "-q", "--allow-empty", "-m", "of the user")
			res := r.Accept(e2e.Object{})
			if len(res.Commits) != 1 || !strings.Contains(res.Commits[0].Error, "went on meanwhile") {
				t.Errorf("%+v", res)
			}
			if res := r.Accept(e2e.Object{}); len(res.Commits) != 0 {
				t.Errorf("it waits on: %+v", res)
			}
		}, "of the user", " M a.txt\n?? mine.txt\n?? new.txt\n"},
		"and more": {merge + "; echo 3 >> a.txt; git commit -qam more", `The commit "more" waits`, func(_ *testing.T, r *e2e.Rig, git func(...string) string) {
			r.Accept(e2e.Object{})
			r.Accept(e2e.Object{})
		}, "more", "?? mine.txt\n"},
		"taken back": {merge + "\ngit reset -q HEAD~2", "taken back, and wait no more: 1", func(_ *testing.T, r *e2e.Rig, _ func(...string) string) {
			r.Accept(e2e.Object{})
		}, "base", " M a.txt\n?? mine.txt\n?? new.txt\n"},
		"to what no reference names": {"git merge -q feat~1", "branch main (moved)", func(_ *testing.T, r *e2e.Rig, _ func(...string) string) {
			r.Accept(e2e.Object{})
		}, "base", " M a.txt\n?? mine.txt\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "1\n"})
			git := func(args ...string) string { return e2e.GitIn(t, dir, args...) }
			git("init", "-q", "-b", "main")
			git("config", "user.name", "A")
			git("config", "user.email", "a@example.org")
			if err := ownfile.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte(".sidecar\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			git("add", ".")
			git("commit", "-qm", "base")
			git("switch", "-qc", "feat")
			e2e.Write(t, filepath.Join(dir, "a.txt"), "1\n2\n")
			git("commit", "-qam", "one")
			e2e.Write(t, filepath.Join(dir, "new.txt"), "new\n")
			git("add", "new.txt")
			git("commit", "-qm", "two")
			git("switch", "-q", "main")
			e2e.Write(t, filepath.Join(dir, "mine.txt"), "the user's own\n")
			t.Run("before a restart", func(t *testing.T) {
				r := e2e.WorldIn(t, dir)
				said := ""
				for line := range strings.SplitSeq(c.line, "\n") {
					said = r.Ran(line)
				}
				if !strings.Contains(said, c.says) || c.says != "" && strings.Contains(said, "written anew") {
					t.Errorf("it says %s", said)
				}
			})
			if got := git("log", "-1", "--format=%s"); got != "base\n" {
				t.Errorf("before the review the branch is at %s", got)
			}
			c.then(t, e2e.WorldIn(t, dir), git)
			if got := git("log", "-1", "--format=%s"); got != c.head+"\n" {
				t.Errorf("the branch is at %s", got)
			}
			if got := git("status", "--porcelain"); got != c.status {
				t.Errorf("git status:\n%s", got)
			}
			if got := git("symbolic-ref", "HEAD") + git("log", "-1", "--format=%s", "feat"); got != "refs/heads/main\ntwo\n" {
				t.Errorf("branches: %s", got)
			}
		})
	}
}
