package gitrepo

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// TestPast: a file that may hold secrets is found wherever git still has a name for what was
// in it.
func TestPast(t *testing.T) {
	for line, want := range map[string]string{
		"echo more >> a.txt; git commit -qam second":                                                                                           "",
		"echo K=1 > .env.example; git add -f .env.example; git commit -qm x":                                                                   "",
		"echo K=1 > .env; git add -f .env; git commit -qm x":                                                                                   ".env",
		"mkdir -p deep/er; echo k > deep/er/id_rsa; git add -f .; git commit -qm x; git rm -q deep/er/id_rsa; git commit -qm y":                "deep/er/id_rsa",
		"git checkout -qb other; echo K=1 > .env; git add -f .env; git commit -qm x; git checkout -q -":                                        ".env",
		"echo K=1 > .env; git add -f .env; git commit -qm x; git reset -q --hard HEAD^":                                                        ".env", // the log has it
		"echo K=1 > .env; git add -f .env; git stash -q":                                                                                       ".env",
		"echo K=1 > .env; git add -f .env; git commit -qm x; git tag -am t t; git reset -q --hard HEAD^; git reflog expire --expire=now --all": ".env",
		"echo K=1 > .env; git add -f .env; git tag t $(git write-tree); git rm -qf --cached .env":                                              ".env",
		"echo K=1 > .env; git add -f .env; git commit -qm x; git gc -q":                                                                        ".env",
		"echo K=1 > .env; git add -f .env":                                                                                                     ".env", // no commit has it
		"git worktree add -q tree -b tree; echo K=1 > tree/.env; git -C tree add -f .env":                                                      ".env",
		"git worktree add -q tree -b tree; cd tree; echo K=1 > .env; git add -f .env; git commit -qm x; git update-ref refs/worktree/kept HEAD; git reset -q --hard HEAD^; git reflog expire --expire=now --all; rm -f \"$(git rev-parse --git-dir)/ORIG_HEAD\"": ".env",
		"echo K=1 > .env; git add -f .env; git update-ref AUTO_MERGE $(git write-tree); git rm -qf --cached .env":                                                                                                                                                ".env",
		"echo K=1 > .env; git add -f .env; git commit -qm x; mkdir .git/rebase-merge; git rev-parse HEAD > .git/rebase-merge/orig-head; git reset -q --hard HEAD^; git reflog expire --expire=now --all; rm -f .git/ORIG_HEAD":                                   ".env",
		"git tag t $(echo K=1 | git hash-object -w --stdin)": "an object without a file name, 79e16ff238",
		"git checkout -qb one; echo a > 1; git add 1; git commit -qm 1; git checkout -q -; git checkout -qb two; echo K > .env; git add -f .env; git commit -qm 2; git merge -q -m m one; git rm -q .env; git commit -qm gone": ".env",
	} {
		t.Run(line, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh("{ " + line + "\n} >/dev/null 2>&1")
			var p Past
			if err := p.Search(t.Context(), w.Repo, workspace.Sensitive); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Names(), " "); got != want {
				t.Errorf("it found %q, not %q", got, want)
			}
		})
	}
}

// TestPastGoesOn: a later search looks at what is new.
func TestPastGoesOn(t *testing.T) {
	w := newWorld(t, Options{})
	var p Past
	search := func() string {
		t.Helper()
		if err := p.Search(t.Context(), w.Repo, workspace.Sensitive); err != nil {
			t.Fatal(err)
		}
		return strings.Join(p.Names(), " ")
	}
	if got := search(); got != "" {
		t.Fatalf("the control found %q", got)
	}
	w.sh("echo K=1 > .env; git add -f .env; git commit -qm x; git rm -q .env; git commit -qm y")
	if got := search(); got != ".env" {
		t.Errorf("it found %q", got)
	}
}
