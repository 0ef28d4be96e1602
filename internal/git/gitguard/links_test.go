package gitguard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinks: a link that a command leaves where git writes is set aside; one that the user
// had there stays, as long as it leads where it did.
func TestLinks(t *testing.T) {
	for _, c := range []struct{ name, line, aside string }{
		{"control", "git -C p commit -q --allow-empty -m y; git -C wt commit -q --allow-empty -m y; ln -s x wt/link", ""},
		{"a log", "ln -sf ../out p/.git/logs/HEAD", "p/.git/set-aside/logs-HEAD"},
		{"a log of a branch", "mkdir p/.git/logs/refs/heads/a; ln -s /out p/.git/logs/refs/heads/a/b", "p/.git/set-aside/logs-refs-heads-a-b"},
		{"all logs", "mv p/.git/logs l; ln -s ../../l p/.git/logs", "p/.git/set-aside/logs"},
		{"a message of a rebase", "mkdir p/.git/rebase-merge; ln -s /out p/.git/rebase-merge/message", "p/.git/set-aside/rebase-merge-message"},
		{"a name that is taken", "mkdir p/.git/set-aside; touch p/.git/set-aside/index; ln -sf /out p/.git/index", "p/.git/set-aside/index-2"},
		{"the user's, led elsewhere", "ln -sf /out p/.git/FETCH_HEAD", "p/.git/set-aside/FETCH_HEAD"},
		{"what a linked tree shares", "ln -sf /out hub/logs/refs/heads/wt", "hub/set-aside/logs-refs-heads-wt"},
		{"its own", "ln -sf /out hub/worktrees/wt/logs/HEAD", "hub/worktrees/wt/set-aside/logs-HEAD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			sh(t, dir, `export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a
git init -q p; cd p; git commit -q --allow-empty -m x; ln -s ../user .git/FETCH_HEAD; git clone -q --bare . ../hub; git -C ../hub config core.logAllRefUpdates true; git -C ../hub worktree add -q ../wt 2>&1
git -C ../wt config user.name A; git -C ../wt config user.email a; git config user.name A; git config user.email a`)
			// As internal/exec/confine has them for the folders p and wt.
			areas := []Area{{Dir: at("p")}, {Dir: at("wt")}, {Dir: at("hub/worktrees/wt")}, {Dir: at("hub/objects")}, {Dir: at("hub/refs")}, {Dir: at("hub/logs")}}
			known := []string{at("p/.git"), at("wt/.git"), at("hub/worktrees/wt")}
			s := &state{Areas: areas, Known: knownOf(known), Links: linksOf(known, areas)}
			sh(t, dir, c.line)
			said := strings.Join(s.check(t.Context(), look, nil), "\n")
			if c.aside == "" {
				if said != "" {
					t.Errorf("set aside: %s", said)
				}
				return
			}
			if _, err := os.Readlink(at(c.aside)); err != nil || !strings.Contains(said, "git would write to") {
				t.Errorf("%v, %q", err, said)
			}
			if again := s.check(t.Context(), look, nil); len(again) > 0 {
				t.Errorf("set aside again: %q", again)
			}
			to, err := os.Readlink(at("p/.git/FETCH_HEAD"))
			if kept := err == nil && to == "../user"; kept == strings.HasSuffix(c.aside, "FETCH_HEAD") {
				t.Errorf("the user's own leads to %q, %v", to, err)
			}
		})
	}
}
