package git_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestCommitsHaveWhatWasShown: a command commits a text, a link, a mode or a file that the review does not show, by plumbing,
// and then what it shows. After the accept no object of the user's branch has it, and what was not made is said. A chain of
// which the review shows every text is made as it is.
func TestCommitsHaveWhatWasShown(t *testing.T) {
	slow.Test(t)
	const evil = `blob=$(echo EVIL | git hash-object -w --stdin); `
	const reviewed = `; sed -i s/2/two/ a.txt; git add -A; git commit -qm reviewed`
	for name, c := range map[string]struct {
		line string
		says string // of the first commit; "": it is made
		made string // subjects, the newest first
		left string // by git status: of what was not made
	}{
		"control":           {`sed -i s/2/two/ a.txt; git commit -qam first; sed -i s/9/nine/ a.txt; git commit -qam second`, "", "second first base", ""},
		"control: it grows": {`echo 11 >> a.txt; git commit -qam first; echo 12 >> a.txt; git commit -qam second`, "", "second first base", ""},
		"control: a rename": {`git mv a.txt b.txt; git commit -qm first; echo 11 >> b.txt; git commit -qam second`, "", "second first base", ""},
		"a text":            {evil + `git update-index --cacheinfo 100644,$blob,a.txt; git commit -qm evil` + reviewed, `"EVIL"`, "reviewed base", ""},
		"a text in two":     {evil + `git update-index --cacheinfo 100644,$blob,a.txt; git commit -qm evil; git commit -qm evil --allow-empty` + reviewed, `"EVIL"`, "reviewed base", ""},
		"a link":            {evil + `git update-index --cacheinfo 120000,$blob,a.txt; git commit -qm evil` + reviewed, "a link", "reviewed base", ""},
		"a mode":            {`git update-index --cacheinfo 100755,$(git rev-parse HEAD:a.txt),a.txt; git commit -qm evil` + reviewed, "executable", "reviewed base", ""},
		"a file that goes":  {`echo EVIL > evil.txt; git add -A; git commit -qm evil; rm evil.txt` + reviewed, "", "reviewed base", ""},
		"a rename":          {evil + `git mv a.txt b.txt; git update-index --cacheinfo 100644,$blob,b.txt; git commit -qm evil; git add -A; git commit -qm reviewed`, `"EVIL"`, "reviewed base", " D a.txt\n"},
		"commit-tree":       {evil + `export GIT_INDEX_FILE=/tmp/i; git read-tree HEAD; git update-index --cacheinfo 100644,$blob,a.txt; git update-ref HEAD $(git commit-tree -p HEAD -m evil $(git write-tree)); unset GIT_INDEX_FILE; git reset -q` + reviewed, `"EVIL"`, "reviewed base", ""},
		"a later line":      {`echo EVIL >> a.txt; git commit -qam evil; sed -i /EVIL/d a.txt` + reviewed, `"EVIL"`, "reviewed base", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"})
			git := func(args ...string) string { return e2e.GitIn(t, dir, args...) }
			git("init", "-q")
			git("config", "user.name", "A")
			git("config", "user.email", "a@example.org")
			git("add", ".")
			git("commit", "-qm", "base")
			r := e2e.WorldIn(t, dir)
			if res := r.Tool("run_command", e2e.Object{"command": c.line}); !res.OK {
				t.Fatal(res.Content)
			}
			var said []string
			for range 2 { // of all: commits of which nothing waits are made by the second
				res := r.Accept(e2e.Object{})
				for _, f := range res.Commits {
					if f.Error != "" {
						said = append(said, f.Error)
					}
				}
			}
			if all := strings.Join(said, "\n"); (c.says == "") != (all == "") || !strings.Contains(all, c.says) {
				t.Errorf("it says %q, want %s", all, c.says)
			}
			if got := strings.ReplaceAll(strings.TrimSpace(git("log", "--format=%s")), "\n", " "); got != c.made {
				t.Errorf("made are %s, want %s", got, c.made)
			}
			if got := git("log", "-p", "--summary", "--no-renames"); strings.Contains(got, "EVIL") || strings.Contains(got, "120000") || strings.Contains(got, "100755") {
				t.Errorf("the branch has\n%s", got)
			}
			if got := git("status", "--porcelain"); got != c.left {
				t.Errorf("git status: %s", got)
			}
		})
	}
}
