package gitrepo

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// TestBranchNames compares with git check-ref-format.
func TestBranchNames(t *testing.T) {
	w := newWorld(t, Options{})
	good := 0
	for _, name := range []string{
		"a", "feature/x", "ä", "a.b", "a@b", "a{b", "x-y_z", "1", "日本", "a/b/c", "lock", "a.lockx",
		"", "-", "-D", "--orphan=x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a.lock", "a.lock/b",
		"@", "@{u}", "a@{1}", "HEAD", "a\x00b", "a\nb", "a\x7f", "\x1b[31m", "..", ".", "a\tb", "$(evil)x y",
	} {
		_, err := w.try("git check-ref-format --branch \"$(printf '%b' '" + strings.ReplaceAll(strings.NewReplacer("\x00", `\0000`, "\\", `\\`).Replace(name), "'", `'\''`) + "')\"")
		if strings.ContainsAny(name, "\x00") {
			err = errForTest // no argument of a program can hold it
		}
		if name == "@" {
			err = errForTest // which git takes for HEAD
		}
		if got := CheckBranchName(name); (got == nil) != (err == nil) {
			t.Errorf("%q: we say %v, git says %v", name, got, err)
		} else if got == nil {
			good++
		}
	}
	if good < 10 {
		t.Errorf("only %d names are good", good)
	}
	if CheckBranchName(strings.Repeat("x", maxName+1)) == nil || CheckBranchName(strings.Repeat("x", maxName)) != nil {
		t.Error("the limit of a name's length")
	}
}

var errForTest = gitcmd.Failf(gitcmd.Invalid, "not possible")

func TestBranches(t *testing.T) {
	w := newWorld(t, Options{})
	ctx := t.Context()
	if err := w.CreateBranch(ctx, "new"); err != nil {
		t.Fatal(err)
	}
	w.same("git branch --format='%(refname:short)'", "master\nnew")
	for _, c := range []struct {
		name string
		do   func() error
		kind gitcmd.Kind
	}{
		{"create again", func() error { return w.CreateBranch(ctx, "new") }, gitcmd.Exists},
		{"create an option", func() error { return w.CreateBranch(ctx, "-D other") }, gitcmd.Invalid},
		{"switch to none", func() error { _, err := w.SwitchBranch(ctx, "nope"); return err }, gitcmd.NotFound},
		{"switch to a commit", func() error { _, err := w.SwitchBranch(ctx, w.sh("git rev-parse HEAD")); return err }, gitcmd.NotFound},
		{"switch to an option", func() error { _, err := w.SwitchBranch(ctx, "--orphan=x"); return err }, gitcmd.Invalid},
		{"delete none", func() error { return w.DeleteBranch(ctx, "nope") }, gitcmd.NotFound},
		{"delete the current one", func() error { return w.DeleteBranch(ctx, "master") }, gitcmd.Conflicted},
	} {
		if err := c.do(); failureKind(err) != c.kind {
			t.Errorf("%s: got %v (kind %d), want kind %d", c.name, err, failureKind(err), c.kind)
		}
	}
	w.write("a.txt", "not committed\n")
	if _, err := w.SwitchBranch(ctx, "new"); err != nil {
		t.Error(err)
	}
	w.same("git symbolic-ref HEAD; git status --porcelain", "refs/heads/new\n M a.txt")
	w.sh("git commit -qam 'on new'")
	if _, err := w.SwitchBranch(ctx, "master"); err != nil {
		t.Error(err)
	}
	if err := w.DeleteBranch(ctx, "new"); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "nowhere else") {
		t.Errorf("deleted with commits: %v", err)
	}
	w.write("a.txt", "in the way\n")
	if _, err := w.SwitchBranch(ctx, "new"); failureKind(err) != gitcmd.Conflicted {
		t.Errorf("changes in the way: %v", err)
	}
	if got := w.read("a.txt"); got != "in the way\n" {
		t.Errorf("the change is lost: %q", got)
	}
	w.sh("git checkout -q a.txt; git merge -q new; git clone -q . ../other; git -C ../other switch -qc far; git -C ../other commit -q --allow-empty -m far; git remote add o ../other; git fetch -q o")
	local, remote, err := w.Branches(ctx)
	if err != nil || len(local) != 2 || strings.Join(remote, " ") != "o/far o/master o/new" && strings.Join(remote, " ") != "o/far o/master" {
		t.Errorf("%+v, %q, %v", local, remote, err)
	}
	if err := w.DeleteBranch(ctx, "new"); err != nil {
		t.Error(err)
	}
	if _, err := w.SwitchBranch(ctx, "far"); err != nil {
		t.Error(err)
	}
	w.same("git rev-parse --abbrev-ref far@{u}", "o/far")
	w.sh("git worktree add -q ../linked master")
	if _, err := w.SwitchBranch(ctx, "master"); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "working tree") {
		t.Errorf("checked out elsewhere: %v", err)
	}
	w.sound()

	w.sh("git switch -q --orphan empty")
	if err := w.CreateBranch(ctx, "x"); failureKind(err) != gitcmd.Conflicted {
		t.Errorf("without a commit: %v", err)
	}
}

func TestStashes(t *testing.T) {
	w := newWorld(t, Options{})
	ctx := t.Context()
	if list, err := w.Stashes(ctx); err != nil || len(list) != 0 {
		t.Errorf("none: %v, %v", list, err)
	}
	if _, err := w.StashPush(ctx, "", ""); failureKind(err) != gitcmd.Conflicted {
		t.Errorf("nothing to put away: %v", err)
	}
	w.write("a.txt", "first\n")
	w.write(".git/index.lock", "") // git says nothing at all
	if _, err := w.StashPush(ctx, "", ""); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "index.lock") {
		t.Errorf("the index is locked: %v", err)
	}
	w.sh("rm .git/index.lock")
	w.same("cat a.txt; git stash list", "first")
	if _, err := w.StashPush(ctx, "--pathspec-from-file=../home/.gitconfig", ""); err != nil {
		t.Fatal(err)
	}
	w.write("a.txt", "second\n")
	w.write("d/b.txt", "x\n")
	w.sh("git add d")
	if _, err := w.StashPush(ctx, "only d", "d"); err != nil {
		t.Fatal(err)
	}
	if got := w.read("a.txt"); got != "second\n" {
		t.Errorf("what lies outside was put away: %q", got)
	}
	list, err := w.Stashes(ctx)
	if err != nil || len(list) != 2 || list[0].Message != "On master: only d" || list[1].Message != "On master: --pathspec-from-file=../home/.gitconfig" || list[1].Time.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := w.StashApply(ctx, 1, true); failureKind(err) != gitcmd.Conflicted {
		t.Errorf("changes in the way: %v", err)
	}
	w.sh("git commit -qam second")
	if _, err := w.StashApply(ctx, 1, true); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "is kept") || !strings.Contains(err.Error(), "a.txt") {
		t.Errorf("a conflict: %v", err)
	}
	if _, err := w.StashApply(ctx, 1, false); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "in conflict") {
		t.Errorf("during a conflict: %v", err)
	}
	w.same("git stash list | wc -l", "2")
	w.sh("git reset -q --hard")
	if _, err := w.StashApply(ctx, 0, false); err != nil {
		t.Error(err)
	}
	w.same("git stash list | wc -l; cat d/b.txt", "2\nx")
	if err := w.StashDrop(ctx, 7); failureKind(err) != gitcmd.NotFound {
		t.Errorf("drop none: %v", err)
	}
	if _, err := w.StashApply(ctx, 7, true); failureKind(err) != gitcmd.NotFound {
		t.Errorf("pop none: %v", err)
	}
	if err := w.StashDrop(ctx, 0); err != nil {
		t.Error(err)
	}
	w.same("git stash list --format=%gs", "On master: --pathspec-from-file=../home/.gitconfig")
	if _, err := w.StashPush(ctx, "a\nb", ""); failureKind(err) != gitcmd.Invalid {
		t.Errorf("two lines: %v", err)
	}
	w.sh("git reset -q --hard; git switch -q --orphan empty; echo n > n; git add n")
	if _, err := w.StashPush(ctx, "", ""); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "no commit yet") {
		t.Errorf("without a commit: %v", err)
	}
	w.same("git status --porcelain", "A  n")
	w.sound()
}
