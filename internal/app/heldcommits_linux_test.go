package app_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeldCommits: commits of commands wait for their files where those wait one by
// one, over a restart of the server, and are made of what is accepted.
func TestHeldCommits(t *testing.T) {
	dir := worldProject(t, "overlay", map[string]string{"a.txt": "1\n2\n3\n4\n5\n", "b.txt": "b\n", "gone.txt": "g\n", "mine.txt": "m\n"})
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("config", "user.name", "A")
	git("config", "user.email", "a@example.org")
	git("add", ".")
	git("commit", "-qm", "base")
	write(t, filepath.Join(dir, "mine.txt"), "the user's own\n")
	git("add", "mine.txt")
	type commit struct {
		Message string   `json:"message"`
		Paths   []string `json:"paths"`
		ByFile  bool     `json:"byFile"`
	}
	list := func(r *rig, want ...string) {
		t := r.t
		t.Helper()
		var l struct {
			Batch   bool     `json:"batch"`
			Commits []commit `json:"commits"`
		}
		if err := r.ExecuteCommand(t.Context(), "sidecar.review.list", object{}, &l); err != nil {
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
		r := worldIn(t, dir)
		r.ran("echo 6 >> a.txt; git rm -q gone.txt; echo x > new.sh; chmod +x new.sh; git add -A a.txt new.sh; git commit -qm 'First of two' -m 'With a body.' -- a.txt gone.txt new.sh; sed -i s/b/B/ b.txt; git commit -qm 'Second' b.txt; echo 7 >> a.txt",
			`The commit "First of two" waits for its files`, `The commit "Second" waits for its files`)
		list(r, "First of two\n\nWith a body.: a.txt gone.txt new.sh", "Second: b.txt")
		r.accept(object{"uris": []string{uri("a.txt")}})
		list(r, "First of two\n\nWith a body.: a.txt gone.txt new.sh", "Second: b.txt")
		if got := git("log", "--format=%s"); got != "base\n" {
			t.Errorf("before all is decided on, the repository has\n%s", got)
		}
	})
	r := worldIn(t, dir)
	list(r, "First of two\n\nWith a body.: a.txt gone.txt new.sh", "Second: b.txt")
	res := r.accept(object{"uris": []string{uri("gone.txt"), uri("new.sh")}})
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
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.reject", object{"uris": []string{uri("b.txt")}}, &rejected); err != nil {
		t.Fatal(err)
	}
	if len(rejected.Commits) != 1 || rejected.Commits[0].Message != "Second" || len(rejected.Made) != 0 {
		t.Errorf("%+v", rejected)
	}
	list(r)
	if res := r.call("read_file", object{"path": "b.txt"}); !strings.Contains(res.Content, `Your queued commit "Second" will not be made`) {
		t.Errorf("the agent reads %s", res.Content)
	}
	if got := git("log", "--format=%s"); got != "First of two\nbase\n" {
		t.Errorf("the repository has\n%s", got)
	}
}
