package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestHeldCommits: commits of commands wait for their files where those wait one by
// one, over a restart of the server, and are made of what is accepted.
func TestHeldCommits(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "1\n2\n3\n4\n5\n", "b.txt": "b\n", "gone.txt": "g\n", "mine.txt": "m\n"})
	git := func(args ...string) string { return e2e.GitIn(t, dir, args...) }
	git("init", "-q")
	git("config", "user.name", "A")
	git("config", "user.email", "a@example.org")
	git("add", ".")
	git("commit", "-qm", "base")
	e2e.Write(t, filepath.Join(dir, "mine.txt"), "the user's own\n")
	git("add", "mine.txt")
	type commit struct {
		Message string   `json:"message"`
		Paths   []string `json:"paths"`
		ByFile  bool     `json:"byFile"`
	}
	list := func(r *e2e.Rig, want ...string) {
		t := r.T
		t.Helper()
		var l struct {
			Batch   bool     `json:"batch"`
			Commits []commit `json:"commits"`
		}
		if err := r.ExecuteCommand(t.Context(), "sidecar.review.list", e2e.Object{}, &l); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range l.Commits {
			got = append(got, c.Message+": "+strings.Join(c.Paths, " "))
			if !c.ByFile {
				t.Errorf("%s waits for a batch", c.Message)
			}
		}
		if l.Batch || strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("commits %q, want %q; batch %v", got, want, l.Batch)
		}
	}
	uri := func(name string) string { return "file://" + filepath.Join(dir, name) }
	t.Run("before a restart", func(t *testing.T) {
		r := e2e.WorldIn(t, dir)
		r.Ran("echo 6 >> a.txt; git rm -q gone.txt; echo x > new.sh; chmod +x new.sh; git add -A a.txt new.sh; git commit -qm 'First of two' -m 'With a body.' -- a.txt gone.txt new.sh; sed -i s/b/B/ b.txt; git commit -qm 'Second' b.txt; echo 7 >> a.txt",
			`The commit "First of two" waits for its files`, `The commit "Second" waits for its files`)
		list(r, "First of two\n\nWith a body.: a.txt gone.txt new.sh", "Second: b.txt")
		r.Accept(e2e.Object{"uris": []string{uri("a.txt")}})
		list(r, "First of two\n\nWith a body.: a.txt gone.txt new.sh", "Second: b.txt")
		if got := git("log", "--format=%s"); got != "base\n" {
			t.Errorf("before all is decided on, the repository has\n%s", got)
		}
	})
	r := e2e.WorldIn(t, dir)
	list(r, "First of two\n\nWith a body.: a.txt gone.txt new.sh", "Second: b.txt")
	res := r.Accept(e2e.Object{"uris": []string{uri("gone.txt"), uri("new.sh")}})
	if len(res.Failed) != 0 {
		t.Errorf("%+v", res)
	}
	if got := git("log", "--format=%B", "--name-status", "-1"); !strings.HasPrefix(got, "First of two\n\nWith a body.\n") || !strings.HasSuffix(got, "\nM\ta.txt\nD\tgone.txt\nA\tnew.sh\n") {
		t.Errorf("the commit is\n%s", got)
	}
	if got := git("show", "HEAD:a.txt"); got != "1\n2\n3\n4\n5\n6\n" {
		t.Errorf("it has a.txt as %q", got)
	}
	if got := git("ls-tree", "HEAD", "new.sh"); !strings.HasPrefix(got, "100755 ") {
		t.Errorf("it has new.sh as %q", got)
	}
	if got := git("status", "--porcelain"); got != " M a.txt\nM  mine.txt\n" {
		t.Errorf("what else is changed or staged is %q", got)
	}
	list(r, "Second: b.txt")
	var rejected struct {
		Commits []commit   `json:"commits"`
		Made    []struct{} `json:"made"`
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.reject", e2e.Object{"uris": []string{uri("b.txt")}}, &rejected); err != nil {
		t.Fatal(err)
	}
	if len(rejected.Commits) != 1 || rejected.Commits[0].Message != "Second" || len(rejected.Made) != 0 {
		t.Errorf("%+v", rejected)
	}
	list(r)
	if res := r.Tool("read_file", e2e.Object{"path": "b.txt"}); !strings.Contains(res.Content, `Your queued commit "Second" will not be made`) {
		t.Errorf("the agent reads %s", res.Content)
	}
	if got := git("log", "--format=%s"); got != "First of two\nbase\n" {
		t.Errorf("the repository has\n%s", got)
	}
}

// TestHeldCommitsAmended: what a command commits anew takes the place of what it was,
// and what it takes back waits no more.
func TestHeldCommitsAmended(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	git := func(args ...string) string { return e2e.GitIn(t, dir, args...) }
	git("init", "-q")
	git("config", "user.name", "A")
	git("config", "user.email", "a@example.org")
	git("add", ".")
	git("commit", "-qm", "base")
	r := e2e.WorldIn(t, dir)
	r.Ran("echo 1 >> a.txt; git commit -qam first", `The commit "first" waits`)
	r.Ran("echo 2 >> b.txt; git commit -qa --amend -m amended", `The commit "amended" waits`)
	r.Ran("echo 3 >> b.txt; git commit -qam more", `The commit "more" waits`)
	r.Ran("git reset -q HEAD~1", "Commits that were taken back, and wait no more: 1.")
	if res := r.Accept(e2e.Object{}); len(res.Accepted) != 2 || len(res.Failed) != 0 {
		t.Errorf("%+v", res)
	}
	if got := git("log", "--format=%s", "--name-only", "-2"); got != "amended\n\na.txt\nb.txt\nbase\n\na.txt\nb.txt\n" {
		t.Errorf("the repository has\n%s", got)
	}
	if got := git("show", "HEAD:b.txt"); got != "b\n2\n" || r.File("b.txt") != "b\n2\n3\n" {
		t.Errorf("the commit has b.txt as %q", got)
	}
	// What nobody was asked about is not committed unseen.
	r.Ran("git commit -qam 'what was left'", `The commit "what was left" waits for the user, who accepts it with all that is pending`)
	if got := git("log", "-1", "--format=%s"); got != "amended\n" {
		t.Errorf("the repository has\n%s", got)
	}
	r.Accept(e2e.Object{})
	if got := git("status", "--porcelain") + git("log", "-1", "--format=%s"); got != "what was left\n" {
		t.Errorf("the repository has\n%s", got)
	}
}
