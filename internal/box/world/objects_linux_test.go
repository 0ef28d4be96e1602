package world

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// gitRig is a folder with a repository that has a pack of some MiB.
func gitRig(t *testing.T) *rig {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		needs.Skip(t, needs.Git, "there is no git command")
	}
	big := make([]byte, 4<<20)
	if _, err := rand.Read(big); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Overlay, map[string]string{"a.txt": "a\n", "dir/b.txt": "b\n", "big": string(big)})
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "A")
	r.git("config", "user.email", "a@example.org")
	r.git("add", ".")
	r.git("commit", "-qm", "first")
	r.git("gc", "-q")
	return r
}

func (r *rig) git(args ...string) string {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.root}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// layer is the upper layer of the one world.
func (r *rig) layer() string {
	r.t.Helper()
	for _, w := range r.m.worlds {
		return w.upper()
	}
	r.t.Fatal("there is no world")
	return ""
}

// messages are those of the commits of a harvest.
func messages(h Collected) (list []string) {
	for _, c := range h.Commits {
		list = append(list, c.Message)
	}
	return list
}

// packs are the packs below a directory, and what they take.
func packs(t *testing.T, dir string) (names []string, size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".pack") {
			info, err := d.Info()
			if err != nil {
				return err
			}
			names, size = append(names, path), size+info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, size
}

// What commands commit lies in a directory of their own, and what the repository
// has is not copied there, although git writes objects that are in its pack.
func TestCommitsBesideAPack(t *testing.T) {
	r := gitRig(t)
	before := r.tree()
	if names, size := packs(t, filepath.Join(r.root, ".git")); len(names) != 1 || size < 4<<20 {
		t.Fatalf("the repository has %v of %d bytes", names, size)
	}
	// The blob of copy, and with it a tree, is in the pack: git would touch that.
	out, h := r.run("cp big copy; cp -r dir other; echo more >> a.txt; git add -A && git commit -qm second && git log --format=%s && git fsck && git cat-file -p HEAD~1:a.txt")
	if !strings.Contains(out, "second\nfirst\n") || !strings.HasSuffix(out, "a\n") || strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Errorf("commands see\n%s", out)
	}
	if !slices.Equal(messages(h), []string{"second"}) {
		t.Errorf("commits %q", messages(h))
	}
	if names, size := packs(t, r.layer()); len(names) != 0 {
		t.Errorf("the layer has %v of %d bytes", names, size)
	}
	if after := r.tree(); after != before {
		t.Error("the folder was changed")
	}
	if out, _ := r.run("touch $(echo /run/sidecar-ls-lent/*/objects)/x; git cat-file -t HEAD:big; git log --format=%s"); !strings.Contains(out, "Read-only file system") || !strings.HasSuffix(out, "blob\nsecond\nfirst\n") {
		t.Errorf("the repository's objects: %s", out)
	}
	// Packed there, a commit is still found, and no more than it is packed.
	r.reject()
	if _, h = r.run("git checkout -q -- . ; echo 3 >> a.txt; git commit -qam third && git gc -q --prune=now && git log --format=%s"); !slices.Equal(messages(h), []string{"third"}) {
		t.Errorf("packed, commits %q", messages(h))
	}
	names, size := packs(t, r.layer())
	if len(names) != 1 || size > 5<<20 { // git packs the blob of copy, which it wrote anew
		t.Errorf("the layer has %v of %d bytes", names, size)
	}
	if loose, err := filepath.Glob(filepath.Join(r.layer(), ".git", "objects", "[0-9a-f][0-9a-f]", "*")); err != nil || len(loose) != 0 {
		t.Errorf("nothing was packed: %v, %v", loose, err)
	}
	// What the user commits counts, and the session's own state goes.
	r.git("commit", "-q", "--allow-empty", "-m", "the user's")
	if out, h := r.run("git log --format=%s; git fsck"); !strings.HasPrefix(out, "the user's\nfirst\n") || len(h.Commits) != 0 {
		t.Errorf("after the user's commit: %s\n%q", out, messages(h))
	}
	if names, _ := packs(t, r.layer()); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

// A message is read of what commands made, not of what they name.
func TestCommitsElsewhere(t *testing.T) {
	other := gitRig(t)
	other.git("commit", "-q", "--allow-empty", "-m", "a secret")
	id := strings.TrimSpace(other.git("rev-parse", "HEAD"))
	loose := filepath.Join(other.root, ".git", "objects", id[:2])
	dir := t.TempDir()
	if err := ownfile.MkdirAll(filepath.Join(dir, "objects", "info"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(loose, filepath.Join(dir, "objects", id[:2])); err != nil {
		t.Fatal(err)
	}
	if c, ok := readCommit(dir, id); ok {
		t.Errorf("through a link: %q", c.message)
	}
	if c, ok := readCommit(filepath.Join(other.root, ".git"), id); !ok || c.message != "a secret" {
		t.Errorf("the control: %q, %v", c.message, ok)
	}
	other.git("gc", "-q")
	if err := ownfile.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(filepath.Join(other.root, ".git", "objects")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Mkdir(filepath.Join(dir, "objects", "pack"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(filepath.Join(dir, "objects", "pack", "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if c, ok := readCommit(dir, id); ok {
		t.Errorf("by an alternate: %q", c.message)
	}
	if err := ownfile.RemoveAll(filepath.Join(dir, "objects", "pack")); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(filepath.Join(other.root, ".git", "objects", "pack"), filepath.Join(dir, "objects", "pack")); err != nil {
		t.Fatal(err)
	}
	if c, ok := readCommit(dir, id); ok {
		t.Errorf("of a pack through a link: %q", c.message)
	}
	if c, ok := readCommit(filepath.Join(other.root, ".git"), id); !ok || c.message != "a secret" {
		t.Errorf("the control of a pack: %q, %v", c.message, ok)
	}
}

// A repository that borrows itself is seen as it is.
func TestBorrowingRepository(t *testing.T) {
	lender := gitRig(t)
	r := newRig(t, Overlay, nil)
	if err := ownfile.Remove(r.root); err != nil {
		t.Fatal(err)
	}
	lender.git("clone", "-q", "--shared", lender.root, r.root)
	r.git("config", "user.name", "A")
	r.git("config", "user.email", "a@example.org")
	run := r.begin()
	if m := specOf(run, r.root).Merged; len(m.Lent) != 0 {
		t.Errorf("commands read %v", m.Lent)
	}
	if _, err := run.End(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(r.layer(), ".git")); err == nil {
		t.Error("the layer has objects of its own")
	}
}

// A commit comes with what it changed, as it has it, whatever came after it.
// What is taken over of a message is what a person can read.
func TestShownMessage(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\nbody\twith ü\n":            "plain\n\nbody\twith ü",
		"\x1b[31mred\x1b[0m\r\u202eevil\x00": "[31mred[0mevil",
		"bad \xff utf":                       "bad \uFFFD utf",
	} {
		if got := shownMessage(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := shownMessage(strings.Repeat("x", 12<<20)); len(got) > maxMessage+100 || !strings.HasSuffix(got, "too long.]") {
		t.Errorf("a long one has %d bytes and ends with %q", len(got), got[len(got)-40:])
	}
}

func TestCommittedFiles(t *testing.T) {
	r := gitRig(t)
	_, h := r.run("echo 1 >> a.txt; git rm -q dir/b.txt; mkdir -p n/e; echo x > n/e/w; chmod +x n/e/w; ln -s a.txt link; git add -A; git commit -qm first; echo 2 >> a.txt; rm link; git commit -qam second; git gc -q; echo 3 >> a.txt")
	var got []string
	for _, c := range h.Commits {
		for _, f := range c.Files {
			got = append(got, fmt.Sprintf("%s %s %q %o %v", c.Message, f.Path, f.After, f.Mode, f.AfterLink))
		}
	}
	slices.Sort(got)
	want := []string{`first a.txt "a\n1\n" 644 false`, `first dir/b.txt "" 0 false`, `first link "a.txt" 0 true`, `first n/e/w "x\n" 755 false`, `second a.txt "a\n1\n2\n" 644 false`, `second link "" 0 false`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Commits that an amend, a rebase or a reset leaves are told, and those on another
// branch are not.
func TestCommitsTakenBack(t *testing.T) {
	r := gitRig(t)
	first, h := r.run("echo 1 >> a.txt; git commit -qam first; git rev-parse HEAD")
	first = strings.TrimSpace(first)
	if len(h.Commits) != 1 || h.Commits[0].ID != first || h.Commits[0].Replaces != nil {
		t.Fatalf("%+v", h.Commits)
	}
	amended, h := r.run("git commit -q --amend -m amended; git rev-parse HEAD")
	amended = strings.TrimSpace(amended)
	if len(h.Commits) != 1 || h.Commits[0].Message != "amended" || !slices.Equal(h.Commits[0].Replaces, []string{first}) {
		t.Errorf("amended: %+v", h.Commits)
	}
	if _, h = r.run("git checkout -qb other HEAD~1; git pack-refs --all"); len(h.Commits) != 1 || h.Commits[0].Ref.Kind != workspace.RefSwitch {
		t.Errorf("on another branch: %+v", h.Commits)
	}
	if _, h = r.run("git checkout -q main"); len(h.Commits) != 2 || h.Commits[0].Message != "" || h.Commits[1].Ref.Kind != workspace.RefBranch {
		t.Errorf("and back: %+v", h.Commits)
	}
	if _, h = r.run("git reset -q --hard HEAD~1"); len(h.Commits) != 1 || h.Commits[0].Message != "" || !slices.Equal(h.Commits[0].Replaces, []string{amended}) {
		t.Errorf("reset: %+v", h.Commits)
	}
}
