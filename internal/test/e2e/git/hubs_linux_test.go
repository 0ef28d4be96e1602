package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// hub makes a bare repository with two linked working trees, of which it returns the first.
// In its directory setup is run, $TOP is the one around it.
func hub(t *testing.T, setup string, more ...e2e.Object) (tree, top string) {
	t.Helper()
	e2e.WorldProject(t, "overlay", nil, more...)
	top = t.TempDir()
	inHub(t, top, top, `
git init -q -b main src; cd src; mkdir lib docs; for f in a.txt lib/b.txt docs/c.txt; do echo $f > $f; done; git add .; git commit -qm base
git clone -q --bare . ../hub; cd ../hub; git config user.name A; git config user.email a@example.org
`+setup+`
git worktree add -q -b side ../tree main; git worktree add -q -b other ../tree2 main`)
	return filepath.Join(top, "tree"), top
}

// inHub is a script of the user's.
func inHub(t *testing.T, top, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TOP="+top, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// TestSubmodulesOfAHub: a command in a linked working tree leaves the repositories of its
// submodules alone, in the modes that change the repository itself too.
func TestSubmodulesOfAHub(t *testing.T) {
	tree, top := hub(t, `git init -q $TOP/sub; git -C $TOP/sub commit -q --allow-empty -m sub
		git -C ../src submodule --quiet add $TOP/sub lib/sub; git -C ../src commit -qm sub; git fetch -q ../src main:main`)
	inHub(t, top, tree, "git submodule --quiet update --init")
	r := e2e.WorldIn(t, tree)
	for _, mode := range []string{"review", "audit", "autonomous"} {
		r.Mode(mode)
		if said := r.Ran("git status --porcelain && git -C lib/sub log --format=%s && echo more >> a.txt && git commit -qam more && git log -1 --format=%s", "sub\n", "more\n"); strings.Contains(said, "taken away") {
			t.Errorf("%s: %s", mode, said)
		}
		r.Accept(e2e.Object{})
		if got := inHub(t, top, tree, "git status --porcelain && git -C lib/sub log --format=%s"); got != "sub\n" {
			t.Errorf("%s: then the user's git says %q", mode, got)
		}
	}
	// What a command makes there is set aside all the same.
	r.Ran(`git init -q "$(git rev-parse --git-dir)/x" && git -C "$(git rev-parse --git-dir)/x" config core.fsmonitor evil`, "taken away again")
}

// TestReflogsOfAHub: a bare repository has no logs before the first tree has some. A command
// that commits in a mode that applies changes finds a place for them.
func TestReflogsOfAHub(t *testing.T) {
	for name, c := range map[string]struct{ setup, more, want string }{
		"without logs": {"", "", "commit: two\n"},
		"with logs":    {"git config core.logAllRefUpdates true", "", "commit: two\nbranch: Created from main\n"},
		"of all":       {"git config core.logAllRefUpdates always", "git tag t; git reflog --format=%gs refs/tags/t", "commit: two\nbranch: Created from main\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, top := hub(t, c.setup)
			r := e2e.WorldIn(t, tree) // in review, where nothing of it is touched
			if _, err := os.Lstat(filepath.Join(top, "hub", "logs")); (err != nil) != (c.setup == "") {
				t.Errorf("logs before a command that changes the repository: %v", err)
			}
			r.Mode("autonomous")
			r.Ran("echo more >> a.txt && git commit -qam two && git reflog --format=%gs side", c.want)
			if got := inHub(t, top, tree, "git reflog --format=%gs side; git log -1 --format=%s"); got != c.want+"two\n" {
				t.Errorf("the user has %q", got)
			}
			if c.more != "" {
				r.Ran(c.more, "tag: tagging ")
			}
		})
	}
}

// TestSettingsOfAHub: git has the same settings in a command as outside, also those that the
// hub's settings include by a path of their own, or for one tree alone.
func TestSettingsOfAHub(t *testing.T) {
	tree, top := hub(t, `
		git config include.path inc; printf '[alias]\n\thi = log -1 --format=hi-%%s\n[x]\n\tinc = yes\n[include]\n\tpath = sub/inc2\n' > inc
		mkdir sub; git config -f sub/inc2 x.inc2 yes; git config -f mine x.mine yes; git config -f others x.others yes; git config -f branch x.branch yes; git config -f all x.all yes
		git config includeIf.gitdir:$TOP/hub/worktrees/tree.path mine; git config includeIf.gitdir:tree2.path others; git config includeIf.onbranch:side.path branch
		git config includeIf.gitdir:./.path all; git config http.extraHeader "Authorization: secret"
		git config extensions.worktreeConfig true; git config --worktree core.bare true; git config --unset core.bare`)
	inHub(t, top, tree, "git config --worktree include.path ../../inc3; git config -f ../hub/inc3 x.inc3 yes; git config --worktree user.name InTree")
	want := inHub(t, top, tree, "git config --get-regexp '^x\\.|^user\\.name' | sort")
	if strings.Count(want, "yes") != 6 || strings.Contains(want, "others") {
		t.Fatalf("outside there are\n%s", want)
	}
	r := e2e.WorldIn(t, tree)
	for _, mode := range []string{"review", "audit", "autonomous"} {
		r.Mode(mode)
		said := r.Ran(`git config --get-regexp '^x\.|^user\.name' | sort; git config --get-regexp '^http\.'; git hi; git config core.bare || git rev-parse --is-bare-repository`, want, "hi-base\n", "false\n")
		if strings.Contains(said, "secret") {
			t.Errorf("%s: commands read %s", mode, said)
		}
	}
}

// TestBorrowedObjects: where a repository borrows objects that commands can't read, the
// result says what to do, once. With that git works in all modes, and commits come back.
func TestBorrowedObjects(t *testing.T) {
	for name, make := range map[string]string{
		"shared":             "git clone -q --shared from tree",
		"a hub that borrows": "git clone -q --bare --shared from hub; echo ../../from/.git/objects > hub/objects/info/alternates; git -C hub worktree add -q -b side ../tree main",
		"twice":              "git clone -q --bare --shared from hub; git clone -q --shared hub tree",
	} {
		t.Run(name, func(t *testing.T) {
			e2e.WorldProject(t, "overlay", nil)
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			tree := filepath.Join(top, "tree")
			inHub(t, top, top, "git init -q -b main from; echo a > from/a.txt; git -C from add .; git -C from commit -qm base; "+make+"; cd tree; git config user.name A; git config user.email a@example.org")
			r := e2e.WorldIn(t, tree)
			e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "another", "mode": "review"})
			said := r.In("another", "run_command", e2e.Object{"command": "git log --format=%s"}).Content
			for _, want := range []string{"borrows objects from " + top, "/objects (objects/info/alternates)", "sidecar.sandbox.readOnly"} {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
			if said := r.In("another", "run_command", e2e.Object{"command": "true"}).Content; strings.Contains(said, "borrows") {
				t.Errorf("said again: %s", said)
			}
			e2e.UserSettings(t, e2e.Object{"commands.world": "overlay", "toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox.readOnly": []string{filepath.Join(top, "from", ".git", "objects"), filepath.Join(top, "hub", "objects")}})
			r = e2e.WorldIn(t, tree)
			want := ""
			for _, mode := range []string{"review", "audit", "autonomous"} {
				r.Mode(mode)
				want = mode + "\n" + want
				if said := r.Ran("git status --porcelain && echo more >> a.txt && git commit -qam "+mode+" && git log --format=%s", want+"base\n"); strings.Contains(said, "borrows") {
					t.Errorf("%s: %s", mode, said)
				}
				r.Accept(e2e.Object{})
				if got := inHub(t, top, tree, "git status --porcelain; git log --format=%s; git fsck"); got != want+"base\n" {
					t.Errorf("%s: the repository has %q", mode, got)
				}
			}
		})
	}
}

// TestSparseHub: in a sparse checkout of a hub git says the same in a command as outside, no
// file outside of the set is deleted, and what a commit changes there is said.
func TestSparseHub(t *testing.T) {
	for name, set := range map[string]string{"cone": "--cone lib", "no cone": "--no-cone /lib/ /a.txt", "sparse index": "--cone --sparse-index lib"} {
		t.Run(name, func(t *testing.T) {
			tree, top := hub(t, `git -C ../src switch -qc more; for f in lib/b.txt docs/c.txt docs/new.txt; do echo more >> ../src/$f; done; git -C ../src add .; git -C ../src commit -qm more; git fetch -q ../src more:more`)
			inHub(t, top, tree, "git sparse-checkout set "+set)
			r := e2e.WorldIn(t, tree)
			state := "git status; git ls-files; ls; git sparse-checkout list"
			outside := inHub(t, top, tree, state)
			for _, mode := range []string{"review", "audit", "autonomous"} {
				r.Mode(mode)
				r.Ran(state, outside)
			}
			r.Mode("audit")
			r.Ran("git cherry-pick more", "Queued as commit 1 of this batch: more.", "made without a part: what it changes of docs/c.txt, docs/new.txt is in no file")
			r.IsQueued("lib/b.txt")
			r.Accept(e2e.Object{})
			if got := inHub(t, top, tree, "git status --porcelain; git show --format=%s --name-status HEAD; git ls-files docs"); got != "more\n\nM\tlib/b.txt\ndocs/c.txt\n" {
				t.Errorf("the repository has\n%s", got)
			}
			r.Ran("git rm -rq --sparse docs; git commit -qm 'without docs'", `The commit "without docs" is not queued: what it changes of docs/c.txt is in no file of the working tree`)
			r.IsQueued()
			r.Ran("git rm -q --cached lib/b.txt; git commit -qm untracked", `The commit "untracked" is not queued`)
			if said := r.Ran("git add -f lib/b.txt; git rm -q a.txt; echo new > lib/new.txt; git add lib/new.txt; git commit -qm seen", "Queued as commit 1 of this batch: seen."); strings.Contains(said, "without a part: what it changes of a.txt") || strings.Contains(said, "new.txt is in no") {
				t.Errorf("of what is seen: %s", said)
			}
			r.Accept(e2e.Object{})
			r.Mode("review")
			r.Ran("echo x >> lib/b.txt; git commit -qam x; git rm -q lib/b.txt; git commit -qm gone", `The commit "x" waits`, `The commit "gone" waits`)
			r.IsQueued("lib/b.txt")
		})
	}
}

// TestSafeDirectory: a repository of another user, which the user's settings allow, is
// allowed in commands, and no other is.
func TestSafeDirectory(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		tree, top := hub(t, "")
		settings := filepath.Join(t.TempDir(), "gitconfig")
		t.Setenv("GIT_CONFIG_GLOBAL", settings)
		inHub(t, top, tree, "git config --global --add safe.directory /other")
		want := ""
		if allowed {
			inHub(t, top, tree, "git config --global --add safe.directory $TOP/tree")
			want = tree + "\n"
		}
		r := e2e.WorldIn(t, tree)
		for _, mode := range []string{"review", "autonomous"} {
			r.Mode(mode)
			if said := r.Ran("git config --get-all safe.directory || echo none", want); strings.Contains(said, "/other") || allowed == strings.Contains(said, "none") {
				t.Errorf("%s: %s", mode, said)
			}
		}
		if os.Geteuid() != 0 || !allowed {
			continue
		}
		inHub(t, top, top, "chown -R 12345:12345 hub tree/.git") // which only root can do
		r.Ran("git log -1 --format=%s", "base\n")
	}
}

// TestSeparateGitDir: why a repository elsewhere is not used is said with what to do, and
// with that it is used in all modes.
func TestSeparateGitDir(t *testing.T) {
	e2e.WorldProject(t, "overlay", nil)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(top, "tree")
	inHub(t, top, top, "git init -q -b main --separate-git-dir git tree; cd tree; git config user.name A; git config user.email a@example.org; echo a > a.txt; git add .; git commit -qm base")
	r := e2e.WorldIn(t, tree)
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "another", "mode": "review"})
	said := r.In("another", "run_command", e2e.Object{"command": "git status"}).Content
	_, do, ok := strings.Cut(said, "if it is the repository of this directory, ")
	do, _, _ = strings.Cut(do, " has it do so")
	if !ok || !strings.Contains(said, "git may find no repository in commands") {
		t.Fatalf("it says %s", said)
	}
	inHub(t, top, tree, do)
	want := "base\n"
	for _, mode := range []string{"review", "audit", "autonomous"} {
		r.Mode(mode)
		want = mode + "\n" + want
		r.Ran("git status --porcelain && echo more >> a.txt && git commit -qam "+mode+" && git log --format=%s", want)
		r.Accept(e2e.Object{})
		if got := inHub(t, top, tree, "git status --porcelain; git log --format=%s"); got != want {
			t.Errorf("%s: the repository has %q", mode, got)
		}
	}
}

// TestOtherTreesOfAHub: a command makes no working tree, in no mode, and what it does to the
// branch, the state or the record of another one reaches none of them unsaid.
func TestOtherTreesOfAHub(t *testing.T) {
	tree, top := hub(t, "")
	inHub(t, top, filepath.Join(top, "tree2"), "echo other > o.txt; git add o.txt; git commit -qm other; echo staged > s.txt; git add s.txt")
	state := "git -C $TOP/hub for-each-ref; git worktree list; git -C ../tree2 status --porcelain; git -C ../tree2 log --format=%s; git -C ../tree2 fsck; find $TOP -name .git | sort"
	before := inHub(t, top, tree, state)
	r := e2e.WorldIn(t, tree)
	e2e.Write(t, filepath.Join(tree, "x.sh"), "git update-ref -d refs/heads/other; git worktree prune; git gc -q --prune=now; true\n")
	for _, mode := range []string{"review", "audit"} {
		r.Mode(mode)
		r.Ran("sh x.sh", "which only they see: branch other (deleted)")
		r.Ran("git worktree add -q ../new; git worktree add -q inner; git rebase -q main; true", "New branch inner on ", "New branch new on ", "Read-only file system")
		e2e.Command[any](r, "sidecar.review.reject", e2e.Object{})
		if after := inHub(t, top, tree, state); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", mode, before, after)
		}
		inHub(t, top, tree, "git commit -q --allow-empty -m of-the-user; git reset -q --soft HEAD~1")
		r.Ran("git branch", "* side")
	}
	r.Mode("autonomous")
	r.Ran("sh x.sh", "Read-only file system")
	if after := inHub(t, top, tree, state); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	r.Ran("git worktree add -q inner || echo refused", "refused", "Read-only file system")
	if got := inHub(t, top, tree, "git worktree list | wc -l; ls -d inner 2>/dev/null || echo none"); got != "3\nnone\n" {
		t.Errorf("then there are %q", got)
	}
}
