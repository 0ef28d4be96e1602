package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStageAlone does without the git command what TestStage does with it: the
// index is the same, or it is refused and stays as it is.
func TestStageAlone(t *testing.T) {
	refused := " line endings, a filter of the repository among all, a filter of the repository by name, a filter of the repository, trusted, a filter of the user, a submodule, a split index, sha256,"
	done := 0
	for _, c := range stageCases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh(c.setup + "\ncp -a ../work ../like")
			if exists(filepath.Join(w.dir, "main")) {
				w.sh("cp -a ../main ../main2; echo \"gitdir: $PWD/../main2/.git/worktrees/work\" > ../like/.git")
			}
			var err error
			if w.Repo, err = Open(w.path(""), Options{Git: NoGit}); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(filepath.Join(w.GitDir, "index"))
			got, err := w.Stage(t.Context(), c.req)
			if strings.Contains(refused, " "+c.name+",") {
				after, _ := os.ReadFile(filepath.Join(w.GitDir, "index"))
				if failureKind(err) != Unavailable || string(before) != string(after) {
					t.Errorf("not refused: %+v, %v", got, err)
				}
				return
			}
			if c.name == "a damaged index" || c.fails != 0 {
				if err == nil || failureKind(err) != c.fails {
					t.Errorf("got %v (kind %d), want kind %d", err, failureKind(err), c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			done++
			w.sh("cd ../like; " + c.like)
			if a, b := w.sh("git ls-files --stage"), w.sh("cd ../like && git ls-files --stage"); a != b {
				t.Errorf("the index is\n%s\nand by git\n%s", a, b)
			}
			if a, b := w.sh("git status --porcelain"), w.sh("cd ../like && git status --porcelain"); a != b {
				t.Errorf("git status says\n%s\nand after git add\n%s", a, b)
			}
			w.sound()
		})
	}
	if done < 15 {
		t.Errorf("only %d cases were staged", done)
	}
}

func TestCommitAlone(t *testing.T) {
	const staged = "echo x >> a.txt; mkdir -p d/e; echo 1 > d/e/1; echo 2 > d.x; ln -s a.txt l; echo '#!' > s; chmod +x s; git add .\n"
	for _, c := range []struct{ name, setup, below, fails string }{
		{"changes", staged, "", ""},
		{"deletions", "git rm -q a.txt", "", ""},
		{"the first one", "rm -rf .git; git init -q; git add .", "", ""},
		{"detached", "git checkout -q --detach; " + staged, "", ""},
		{"a packed branch", "git pack-refs --all; git gc -q; " + staged, "", ""},
		{"a branch with a slash", "git switch -qc topic/one; " + staged, "", ""},
		{"a linked working tree", "mv ../work ../main; git -C ../main worktree add -q ../work; cd ../work; " + staged, "", ""},
		{"intended", "echo i > i; git add -N i; " + strings.ReplaceAll(staged, "git add .", "git add a.txt"), "", ""},
		{"nothing", "true", "", "nothing is staged"},
		{"a hook", staged + hook("pre-commit", "true"), "", "the hook pre-commit"},
		{"signing", staged + "git config --global commit.gpgsign true", "", "are signed"},
		{"a merge", "git switch -q -c o; echo o > o; git add o; git commit -qm o; git switch -q master; git merge -q --no-ff --no-commit o", "", "a merge"},
		{"nobody", staged + "git config --global --unset user.email", "", "user.email"},
		{"another encoding", staged + "git config i18n.commitEncoding latin1", "", "encoding"},
		{"a lock", staged + "touch .git/refs/heads/master.lock", "", "locked"},
		{"a split index", staged + "git update-index --split-index", "", "split"},
		{"outside", staged, "d", "outside of it"},
		{"sha256", "rm -rf .git; git init -q --object-format=sha256; git add .", "", "objectformat"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh(c.setup)
			var err error
			if w.Repo, err = Open(w.path(""), Options{Git: NoGit}); err != nil {
				t.Fatal(err)
			}
			before, _ := w.try("git rev-parse HEAD")
			tree, _ := w.try("git write-tree")
			res, err := w.Commit(t.Context(), "the subject  \n\n\n\nbody", []string{"one"}, c.below)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %v, want %q", err, c.fails)
				}
				if after, _ := w.try("git rev-parse HEAD"); after != before {
					t.Error("a commit was made")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(c.name, "first") {
				w.same("git rev-parse HEAD~1", before)
				w.same("git rev-parse HEAD@{1}", before)
			}
			w.same("git rev-parse HEAD 'HEAD^{tree}'", res.Hash+"\n"+tree)
			w.same("git log -1 --format=%an:%ae:%cn:%B", "A User:user@example.test:A User:the subject\n\nbody\n\nX-AI-Model: one\n")
			want := w.sh("git diff-tree -r --root --no-commit-id --name-only HEAD")
			var names []string
			for _, f := range res.Files {
				names = append(names, f.Path)
			}
			if got := strings.Join(names, "\n"); got != want {
				t.Errorf("files %q, want %q", got, want)
			}
			if c.name != "intended" {
				w.same("git status --porcelain", "")
			}
			if head, err := w.Head(t.Context()); err != nil || head != res.Hash {
				t.Errorf("HEAD is %q, %v", head, err)
			}
			w.sound()
		})
	}
}

func TestBranchesAlone(t *testing.T) {
	w := newWorld(t, Options{Git: NoGit})
	ctx := t.Context()
	if err := w.CreateBranch(ctx, "topic/one"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"topic/one", "topic", "topic/one/more", "master"} {
		if err := w.CreateBranch(ctx, name); failureKind(err) != Exists {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, _, err := w.Branches(ctx)
	if err != nil || len(list) != 2 || !list[0].Current || list[1].Name != "topic/one" {
		t.Errorf("%+v, %v", list, err)
	}
	w.same("git branch --list --format='%(refname:short)'", "master\ntopic/one")
	w.sound()
	for what, err := range map[string]error{
		"push":       func() error { _, err := w.Push(ctx, "", false); return err }(),
		"pull":       func() error { _, err := w.Pull(ctx, nil); return err }(),
		"stash":      func() error { _, err := w.StashPush(ctx, "", ""); return err }(),
		"list stash": func() error { _, err := w.Stashes(ctx); return err }(),
		"switch":     func() error { _, err := w.SwitchBranch(ctx, "topic/one"); return err }(),
		"delete":     w.DeleteBranch(ctx, "topic/one"),
		"some paths": func() error {
			_, err := w.CommitPaths(ctx, CommitRequest{Message: "m", Paths: []PathState{{Path: "a.txt"}}})
			return err
		}(),
	} {
		if !isNoGit(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func isNoGit(err error) bool { return errors.Is(err, ErrNoGit) }
