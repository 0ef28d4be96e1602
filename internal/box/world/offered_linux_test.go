package world

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// offers are the references and commits of a harvest, in words.
func offers(list []workspace.Commit) string {
	var words []string
	for _, c := range list {
		switch {
		case c.Ref.Kind != "":
			own := ""
			if c.Ref.Own {
				own = " own"
			}
			if c.Ref.New {
				own += " new"
			}
			if len(c.Files) > 0 {
				own += fmt.Sprintf(" %d files", len(c.Files))
			}
			words = append(words, fmt.Sprintf("%s %s%s", c.Ref.Kind, c.Ref.Name, own))
		case c.Ref.Name != "":
			words = append(words, "not "+c.Ref.Name)
		case c.Message == "":
			words = append(words, "gone")
		case c.Forward:
			words = append(words, "forward")
		default:
			title := strings.TrimSpace(c.Message)
			if c.Branch != "" {
				title += " on " + c.Branch
			}
			if len(c.Merges) > 0 {
				title += " merges"
			}
			words = append(words, "commit "+title)
		}
	}
	return strings.Join(words, ", ")
}

// TestOffered: new branches and tags of commands, and the branch that they are on, are offered
// once, on a commit that the repository has or that waits, and are taken back.
func TestOffered(t *testing.T) {
	for _, c := range []struct {
		name        string
		lines, want []string
	}{
		{"a branch", []string{"git branch side", "git branch -D side"}, []string{"branch side", "not branch side"}},
		{"a tag", []string{"git tag v1", "git tag -d v1"}, []string{"tag v1", "not tag v1"}},
		{"a tag that moves", []string{"git tag v1", "git tag -f v1 HEAD~1"}, []string{"tag v1", "tag v1"}},
		{"an annotated tag", []string{"git tag -am 'the first' v1"}, []string{"tag v1"}},
		{"a tag with its commit", []string{"echo x >> a.txt; git commit -qam x; git tag v1"}, []string{"commit x, tag v1 own"}},
		{"a tag after its commit", []string{"echo x >> a.txt; git commit -qam x", "git tag v1"}, []string{"commit x", "tag v1 own"}},
		{"a tag of a tag", []string{"git tag -am a one; git tag -am b two one"}, []string{"tag one"}},
		{"a name that is an option", []string{"git update-ref refs/tags/-d HEAD"}, []string{""}},
		{"names that are not made", []string{"git update-ref refs/heads/refs/heads/x HEAD; git update-ref refs/tags/@ HEAD; mkdir .git/refs/tags/.a; cp .git/refs/heads/main .git/refs/tags/.a/b; cp .git/refs/heads/main .git/refs/tags/v.; git tag $(printf '%0201d' 0)"}, []string{""}},
		{"names that are", []string{"git tag a/b; git tag v1.0; git tag a@b; git branch reffs/x"}, []string{"branch reffs/x, tag a/b, tag a@b, tag v1.0"}},
		{"a switch", []string{"git switch -q other", "git switch -q main"}, []string{"switch other 1 files", "not the switch to branch other"}},
		{"a switch to a new branch", []string{"git switch -qc side", "echo x >> a.txt; git commit -qam x"}, []string{"switch side new", "commit x on side"}},
		{"a new branch with a commit", []string{"git switch -qc side; echo x >> a.txt; git commit -qam x"}, []string{"commit x on side"}},
		{"a new branch elsewhere", []string{"git switch -qc side other; echo x >> a.txt; git commit -qam x"}, []string{"switch side new 1 files, commit x on side"}},
		{"a commit on another branch", []string{"git switch -q other; echo x >> a.txt; git commit -qam x"}, []string{"switch other 1 files, commit x on other"}},
		{"a branch that is begun later", []string{"git branch side", "git switch -q side; echo x >> a.txt; git commit -qam x"}, []string{"branch side", "not branch side, commit x on side"}},
		{"a merge", []string{"git merge -q --no-ff --no-edit theirs"}, []string{"commit Merge branch 'theirs' merges"}},
		{"a moved branch", []string{"git branch -f other main"}, []string{""}},
		{"what is lost", []string{"git tag v1 $LOST"}, []string{""}},
		{"an amend after a tag", []string{"echo x >> a.txt; git commit -qam x; git tag v1", "git commit -q --amend -m y"}, []string{"commit x, tag v1 own", "commit y, not tag v1"}},
		{"a rebase after a tag", []string{"echo x > x.txt; git add .; git commit -qm x; git tag v1; git branch keep", "git rebase -q theirs"}, []string{"commit x, branch keep own, tag v1 own", "forward, commit x, not branch keep, not tag v1"}},
		{"a tag that moves with its commit", []string{"echo x >> a.txt; git commit -qam x; git tag v1", "git commit -q --amend -m y; git tag -f v1"}, []string{"commit x, tag v1 own", "commit y, tag v1 own"}},
		{"a tag that moves to what is lost", []string{"git tag v1", "git tag -f v1 $LOST"}, []string{"tag v1", "not tag v1"}},
		{"a tag below other commits", []string{"echo x >> a.txt; git commit -qam x; git tag v1", "echo y >> a.txt; git commit -qam y"}, []string{"commit x, tag v1 own", "commit y"}},
		{"a branch that is merged", []string{"git switch -qc t; echo x >> a.txt; git commit -qam x", "git switch -q main; git merge -q t"}, []string{"commit x on t", "commit x, branch t own"}},
		{"a branch that is left", []string{"git switch -qc t; echo x >> a.txt; git commit -qam x", "git switch -q main", "git switch -q t"}, []string{"commit x on t", "gone", "commit x on t"}},
		{"a rebase that stops", []string{"echo x >> a.txt; git commit -qam x", "git rebase -q other~1 -i --exec false 2>&1; git status | head -1", "git rebase --abort"}, []string{"commit x", "", ""}},
		{"a stash", []string{"git tag v1 $STASH; git branch side $STASH", "git merge -q --no-ff -m m $STASH"}, []string{"", "commit m"}},
		{"a fast-forward to a stash", []string{"git merge -q $STASH"}, []string{""}},
		{"a branch of a remote", []string{"git merge -q --no-ff -m m up/there"}, []string{"commit m merges"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gitRig(t)
			r.write("a.txt", "lost\n")
			r.git("commit", "-qam", "lost")
			lost := strings.TrimSpace(r.git("rev-parse", "HEAD"))
			r.git("reset", "-q", "--hard", "HEAD~1")
			r.write("a.txt", "second\n")
			r.git("branch", "other")
			r.git("commit", "-qam", "second")
			r.git("switch", "-qc", "theirs")
			r.write("t.txt", "t\n")
			r.git("add", "t.txt")
			r.git("commit", "-qm", "theirs")
			r.git("update-ref", "refs/remotes/up/there", "HEAD")
			r.git("switch", "-q", "main")
			r.write("a.txt", "staged\n")
			r.git("add", "a.txt")
			r.write("a.txt", "stashed\n")
			r.git("stash", "-q")
			stash := strings.TrimSpace(r.git("rev-parse", "stash@{0}"))
			for i, line := range c.lines {
				_, h := r.run(strings.NewReplacer("$LOST", lost, "$STASH", stash).Replace(line))
				if got := offers(h.Commits); got != c.want[i] {
					t.Errorf("%s: offers %q, want %q; said %q", line, got, c.want[i], h.Said)
				}
				if _, h := r.run("git status"); len(h.Commits) != 0 {
					t.Errorf("%s: offers again %q", line, offers(h.Commits))
				}
			}
		})
	}
}
