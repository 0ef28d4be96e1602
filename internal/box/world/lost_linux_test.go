package world

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLostGit: branches, stashes and the like that only the commands' repository had are
// reported once when the user's repository changes and they go.
func TestLostGit(t *testing.T) {
	for _, c := range []struct{ name, line, lost string }{
		{"a stash", "echo st >> a.txt; git stash -q", "a stash."},
		{"two stashes", "for n in 1 2; do echo $n >> a.txt; git stash -q; done", "2 stashes."},
		{"a branch and a tag, which wait", "git branch side; git tag v1", ""},
		{"a branch that was moved", "git branch -f other main", "branch other."},
		{"a branch with commits", "git switch -qc side; git commit -q --allow-empty -m x; git switch -q main", "branch side."},
		{"a rebase that stops", "git switch -q other; echo o > a.txt; git commit -qam o; git rebase -q main", "a rebase in progress."},
		{"a commit, which waits", "echo more >> a.txt; git commit -qam more", ""},
		{"nothing", "git status", ""},
		{"a stash that was taken out", "echo st >> a.txt; git stash -q; git stash pop -q", ""},
	} {
		for _, kind := range []string{"plain", "linked"} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				r := gitRig(t)
				r.write("a.txt", "second\n")
				r.git("branch", "other")
				r.git("commit", "-qam", "second")
				change := func() { r.git("commit", "-q", "--allow-empty", "-m", "of the user") }
				if kind == "linked" {
					tree := filepath.Join(t.TempDir(), "tree")
					r.git("worktree", "add", "-q", "-b", "tree", tree)
					r.into(tree)
					r.linked = linkedAt(r.root)
				}
				r.run(c.line)
				if _, h := r.run("git status"); len(h.Said) != 0 {
					t.Errorf("before it goes: %q", h.Said)
				}
				change()
				_, h := r.run("git log -1 --format=%s")
				said := strings.Join(h.Said, "\n")
				if c.lost == "" && said != "" || !strings.HasSuffix(said, c.lost) || c.lost != "" && !strings.Contains(said, "are gone: ") {
					t.Errorf("said %q", said)
				}
				change()
				if _, h := r.run("git status"); len(h.Said) != 0 {
					t.Errorf("said again: %q", h.Said)
				}
			})
		}
	}
}

// Where commands change the repository itself from now on, what their copy had is said, too.
func TestLostGitOfALinkedTree(t *testing.T) {
	for line, lost := range map[string]string{"git tag v1 HEAD:a.txt; echo st >> a.txt; git stash -q": "a stash, tag v1.", "git status": ""} {
		r := gitRig(t)
		tree := filepath.Join(t.TempDir(), "tree")
		r.git("worktree", "add", "-q", "-b", "tree", tree)
		r.into(tree)
		r.linked = linkedAt(r.root)
		r.run(line)
		r.linked = nil
		if _, h := r.run("true"); !strings.HasSuffix(strings.Join(h.Said, "\n"), lost) || (lost == "") != (len(h.Said) == 0) {
			t.Errorf("%s: said %q", line, h.Said)
		}
		if _, h := r.run("true"); len(h.Said) != 0 {
			t.Errorf("%s: said again: %q", line, h.Said)
		}
	}
}

// A text that a command writes and puts away at once is in no file, and that is said.
func TestOnlyStashed(t *testing.T) {
	r := gitRig(t)
	_, h := r.run("echo st >> a.txt; git stash -q")
	if said := strings.Join(h.Said, "\n"); len(h.Changes) != 0 || !strings.Contains(said, "Only git stash has what it put away of a.txt") {
		t.Errorf("changed %s, said %q", kinds(h.Changes), said)
	}
	if _, h := r.run("git status"); len(h.Said) != 0 {
		t.Errorf("said again: %q", h.Said)
	}
	if _, h := r.run("git stash pop -q"); len(h.Said) != 0 || kinds(h.Changes) != "modify a.txt" {
		t.Errorf("taken out again: changed %s, said %q", kinds(h.Changes), h.Said)
	}
	r.reject()
	// The control: what the file had is kept for it.
	r.write("a.txt", "a\nmine\n")
	if _, h := r.run("git stash -q"); strings.Contains(strings.Join(h.Said, "\n"), "Only") {
		t.Errorf("of the user's own text: %q", h.Said)
	}
}

// References in tables are not read. What commands did to them is said, and where they have
// no repository for themselves, why.
func TestTables(t *testing.T) {
	for _, c := range []struct{ name, kind, line, says string }{
		{"changed", "tables", "echo x >> .git/reftable/tables.list", "references in tables (reftable), so what this session's commands committed"},
		{"as they were", "tables", "cat .git/reftable/tables.list; git status", ""},
		{"a control", "files", "echo x >> a.txt; git commit -qam x", ""},
		{"a linked tree", "tables, linked", "cat .git", "can't commit or change branches"},
		{"a linked tree, a control", "files, linked", "echo x >> a.txt; git commit -qam x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gitRig(t)
			if strings.HasPrefix(c.kind, "tables") {
				r.write(".git/reftable/tables.list", "one\n")
			}
			if strings.HasSuffix(c.kind, "linked") {
				tree := filepath.Join(t.TempDir(), "tree")
				r.git("worktree", "add", "-q", "-b", "tree", tree)
				r.into(tree)
				r.linked = linkedAt(r.root)
			}
			out, h := r.run(c.line)
			if said := strings.Join(h.Said, "\n"); !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("said %q", said)
			}
			if want := strings.HasPrefix(c.kind, "files"); want != (len(h.Commits) == 1) {
				t.Errorf("commits: %+v", h.Commits)
			}
			if c.line == "cat .git" && !strings.HasPrefix(out, "gitdir: ") {
				t.Errorf("commands have %q", out)
			}
			if _, h := r.run("git status"); len(h.Said) != 0 {
				t.Errorf("said again: %q", h.Said)
			}
		})
	}
}
