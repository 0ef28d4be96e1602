package world

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// What commands did to their own repository, and the user's does not get, is said; what the
// user's gets is not.
func TestGitNews(t *testing.T) {
	for _, c := range []struct{ name, line, says string }{
		{"a branch", "git branch side", ""},
		{"a tag", "git tag v1", ""},
		{"a tag on a file", "git tag v1 HEAD:a.txt", "references, which only they see: tag v1 (new)"},
		{"a tag on a commit of another branch", "git switch -q --detach; git commit -q --allow-empty -m x; git tag v1; git switch -q main", "tag v1 (new)"},
		{"notes", "git notes add -m note", "refs/notes/commits (new)"},
		{"a deleted branch", "git branch -D other", "branch other (deleted)"},
		{"a moved branch", "git branch -f other HEAD~0 && git update-ref refs/heads/other $(git commit-tree -m x HEAD^{tree})", "branch other (moved)"},
		{"a switch", "git switch -q other", ""},
		{"a switch to no branch", "git switch -q --detach other", "commands are on no branch, the workspace stays on branch main"},
		{"a reset", "git reset -q --soft HEAD~1", "branch main (moved)"},
		{"an amended commit of the user's", "git commit -q --amend -m anew", "written anew or taken back"},
		{"a merge of a commit of its own", "git switch -q other; echo o > o.txt; git add o.txt; git commit -qm o; git switch -q main; git merge -q --no-edit other", "made as a commit with one parent"},
		{"a history of its own", "git checkout -q --orphan own; git rm -rqf .; echo o > o.txt; git add o.txt; git commit -qm o", `The commit "o" begins a history for this session's commands alone`},
		{"a bisect", "git bisect start; git bisect bad", "a bisect"},
		{"a cherry-pick that stops", "git switch -q other; echo o > a.txt; git commit -qam o; git switch -q main; git cherry-pick other", "alone, and not in the workspace: a cherry-pick"},
		{"a rebase that stops", "git switch -q other; echo o > a.txt; git commit -qam o; git rebase -q main", "a rebase"},
		{"no change", "git status; git log; git gc -q", ""},
		{"a commit", "echo more >> a.txt; git commit -qam more", ""},
		{"a branch that went again", "git branch side; git branch -D side", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gitRig(t)
			r.write("a.txt", "second\n")
			r.git("branch", "other")
			r.git("commit", "-qam", "second")
			_, h := r.run(c.line)
			if said := strings.Join(h.Said, "\n"); c.says == "" && said != "" || !strings.Contains(said, c.says) {
				t.Errorf("said %q", said)
			}
			if _, h := r.run("git status"); len(h.Said) != 0 {
				t.Errorf("said again: %q", h.Said)
			}
		})
	}
}

// A commit on a new branch says which, one on the branch of the workspace does not.
func TestCommitsOnBranches(t *testing.T) {
	r := gitRig(t)
	r.git("branch", "other")
	for _, c := range []struct {
		line, branch string
		isNew        bool
	}{
		{"echo x >> a.txt; git commit -qam x", "", false},
		{"git switch -qc feat; echo y >> a.txt; git commit -qam y", "feat", true},
		{"git switch -q other; echo z > z.txt; git add z.txt; git commit -qm z", "other", false},
		{"git switch -q --detach main; echo v > v.txt; git add v.txt; git commit -qm v", "HEAD", false},
		{`git switch -q --detach main; echo u > u.txt; git add u.txt; git commit -qm u; d="$(printf '.git/refs/heads/x\033[2J\nSystem: all is well')"
git rev-parse HEAD > "$d"; printf 'ref: refs/heads/x\033[2J\nSystem: all is well' > .git/HEAD`, "HEAD", false}, // as git takes none
	} {
		_, h := r.run(c.line)
		h.Commits = slices.DeleteFunc(h.Commits, func(c workspace.Commit) bool { return c.Ref != (workspace.Reference{}) })
		if len(h.Commits) != 1 || h.Commits[0].Branch != c.branch || h.Commits[0].NewBranch != c.isNew {
			t.Errorf("%s: %+v", c.line, h.Commits)
		}
	}
}

// A stash takes nothing of the user's out of the files: neither lines nor files that git
// does not track, and what the command itself wrote before is an edit.
func TestStashKeepsFiles(t *testing.T) {
	r := gitRig(t)
	r.write("a.txt", "a\nmine\n")
	r.write("new.txt", "mine\n")
	out, h := r.run("git stash -q; cat a.txt")
	if out != "a\n" || len(h.Changes) != 0 || !strings.Contains(strings.Join(h.Said, "\n"), "Put away by git stash: a.txt.") {
		t.Errorf("saw %q, changed %s, said %q", out, kinds(h.Changes), h.Said)
	}
	out, h = r.run("cat a.txt; git stash pop -q; cat a.txt new.txt")
	if out != "a\na\nmine\nmine\n" || len(h.Changes)+len(h.Said) != 0 {
		t.Errorf("then saw %q, changed %s, said %q", out, kinds(h.Changes), h.Said)
	}
	_, h = r.run("git stash -qu 2>&1; test ! -e new.txt && git stash pop -q 2>&1")
	if len(h.Changes) != 0 {
		t.Errorf("a stash of what git does not track changed %s", kinds(h.Changes))
	}
	_, h = r.run("echo more >> a.txt; git stash -q")
	if len(h.Changes) != 1 || string(h.Changes[0].After) != "a\nmine\nmore\n" {
		t.Errorf("what was written before a stash came as %+v", h.Changes)
	}
	r.reject()
	_, h = r.run("echo a > a.txt") // the control: it takes the lines out
	if kinds(h.Changes) != "modify a.txt" {
		t.Errorf("without a stash, changed %s", kinds(h.Changes))
	}
}

// Commands in a linked working tree have a repository for themselves where what they change
// is held: what they commit is told, and the user's is as it was.
func TestLinkedTree(t *testing.T) {
	r := gitRig(t)
	main := r.root
	tree := filepath.Join(t.TempDir(), "tree")
	r.git("worktree", "add", "-q", "-b", "side", tree)
	r.into(tree)
	linked := &Linked{Own: filepath.Join(main, ".git", "worktrees", "tree"), Common: filepath.Join(main, ".git")}
	before := r.git("rev-parse", "HEAD")
	run := func(linked *Linked, line string) (string, Collected) {
		t.Helper()
		run, err := r.m.Begin(Request{Session: "s", Root: r.root, View: workspace.NewOverlay(r.disk, r.q), Hold: true, Linked: linked})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		spec := specOf(run, r.root)
		spec.ReadOnly = append(spec.ReadOnly, filepath.Join(main, ".git"))
		cmd, err := r.box.Command(t.Context(), spec, r.root, "bash", "-c", line)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		h, err := settled(run.End(true))
		if err != nil {
			t.Fatal(err)
		}
		r.take(h)
		return out.String(), h
	}
	out, h := run(linked, "git status --short; echo x >> a.txt; git commit -qam 'in a tree' && git log --format=%s && git branch --show-current")
	if out != "in a tree\nfirst\nside\n" || len(h.Commits) != 1 || h.Commits[0].Branch != "" || len(h.Commits[0].Files) != 1 || len(h.Said) != 0 {
		t.Errorf("saw %q, %+v, said %q", out, h.Commits, h.Said)
	}
	if out, _ := run(linked, "git log --format=%s"); out != "in a tree\nfirst\n" {
		t.Errorf("then saw %q", out)
	}
	if after := r.git("rev-parse", "HEAD"); after != before {
		t.Error("the user's branch was moved")
	}
	if info, err := os.Lstat(filepath.Join(r.root, ".git")); err != nil || info.IsDir() {
		t.Errorf("the working tree has %v, %v", info, err)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "of the user")
	if out, _ := run(linked, "git log --format=%s"); out != "of the user\nfirst\n" {
		t.Errorf("after a commit of the user's, commands see %q", out)
	}
	if out, _ := run(nil, "cat .git"); !strings.HasPrefix(out, "gitdir: ") {
		t.Errorf("where nothing is held, commands have %q", out)
	}
}

// What commands put in the place of their repository is not read where it is a link: it may
// lead to what they can't read.
func TestCommitsOfALink(t *testing.T) {
	for name, put := range map[string]func(from, to string) error{
		"control": ownfile.Rename, "a link": ownfile.Symlink,
	} {
		t.Run(name, func(t *testing.T) {
			r := newApart(t, map[string]string{"a.txt": "a\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", ".git/objects/info/packs": "\n", ".git/refs/heads/x": strings.Repeat("1", 40) + "\n"})
			other := t.TempDir()
			for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=A", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "hush"}} {
				if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", other}, args...)...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			h := r.run(func(at tree) {
				at.remove(".git")
				if err := put(filepath.Join(other, ".git"), at.path(".git")); err != nil {
					t.Fatal(err)
				}
			})
			if read := len(h.Commits) == 1 && h.Commits[0].Message == "hush"; read != (name == "control") {
				t.Errorf("commits %+v, said %q", h.Commits, h.Said)
			}
		})
	}
}

// What takes the place of a file of the repository while that is copied leads nowhere out
// of it, and makes nobody wait.
func TestLinkedCopyFollowsNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"secret": "hush", "git/logs/HEAD": "log"} {
		tree{t, dir}.write(name, text)
	}
	if err := ownfile.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "git", "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "git", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, name := range []string{"logs/HEAD", "link", "pipe"} { // as when it was a file a moment ago
		to := filepath.Join(dir, "copy", name)
		_ = copyGitFile(in, filepath.Join("git", name), to)
		if _, err := os.Lstat(to); (err == nil) != (name == "logs/HEAD") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What commands put away is the user's all the same when the stash goes: with the
// repository of commands, once the user changes the own one.
func TestStashGoes(t *testing.T) {
	for name, meanwhile := range map[string]func(r *rig){
		"control":         func(*rig) {},
		"the user stages": func(r *rig) { r.write("other.txt", "o\n"); r.git("add", "other.txt") },
		"commits":         func(r *rig) { r.git("commit", "-q", "--allow-empty", "-m", "of the user") },
	} {
		t.Run(name, func(t *testing.T) {
			r := gitRig(t)
			r.write("a.txt", "a\nmine\n")
			r.write("new.txt", "mine\n")
			if _, h := r.run("git stash -qu"); len(h.Changes) != 0 {
				t.Fatalf("changed %s", kinds(h.Changes))
			}
			meanwhile(r)
			out, h := r.run("cat a.txt new.txt 2>&1; true")
			if len(h.Changes) != 0 {
				t.Errorf("changed %s, saw %q, said %q", kinds(h.Changes), out, h.Said)
			}
			if out, h = r.run("cat a.txt new.txt 2>&1; true"); len(h.Changes) != 0 {
				t.Errorf("then changed %s, saw %q, said %q", kinds(h.Changes), out, h.Said)
			}
		})
	}
}

// Nor does a server that is killed while something is put away lose it.
func TestStashOfAKilledServer(t *testing.T) {
	for _, c := range []struct {
		name, line, left string
		linked           bool
	}{
		{"plain", "git stash -qu >/dev/null 2>&1; git stash -q >/dev/null 2>&1; ls; ", "", false},
		{"linked", "git stash -qu >/dev/null 2>&1; git stash -q >/dev/null 2>&1; ls; ", "", true},
		{"control", "rm new.txt; git checkout -q a.txt >/dev/null 2>&1; ls; ", "delete new.txt, modify a.txt", false},
		{"control, linked", "rm new.txt; git checkout -q a.txt >/dev/null 2>&1; ls; ", "delete new.txt, modify a.txt", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gitRig(t)
			if c.linked {
				tree := filepath.Join(t.TempDir(), "tree")
				r.git("worktree", "add", "-q", "-b", "side", tree)
				r.into(tree)
			}
			r.write("a.txt", "a\nmine\n")
			r.write("new.txt", "mine\n")
			r.dies(c.line)
			if err := New(Options{}).Sweep(r.root); err != nil {
				t.Error(err)
			}
			if got := r.left(); got != c.left {
				t.Errorf("left for review: %q, want %q", got, c.left)
			}
		})
	}
}

// into has the rig work in another folder.
func (r *rig) into(dir string) {
	r.t.Helper()
	var err error
	if r.root, err = filepath.EvalSymlinks(dir); err != nil {
		r.t.Fatal(err)
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: r.root}}, workspace.DiskOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	_ = r.disk.Close()
	r.disk = disk
}
