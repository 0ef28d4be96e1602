package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// gitStatus is what git says, without writing the index again.
func gitStatus(r *gittest.Repo, untracked string) string {
	return r.Git("--no-optional-locks", "status", "--porcelain=v1", "-z", "--branch", "--untracked-files="+untracked)
}

// checkStatus compares a status, worked out in this process, with git's.
func checkStatus(t *testing.T, r *gittest.Repo) {
	t.Helper()
	repo := open(t, r)
	for _, c := range []struct {
		mode Untracked
		word string
	}{{UntrackedNormal, "normal"}, {UntrackedAll, "all"}, {UntrackedNone, "no"}} {
		got, err := repo.status(t.Context(), StatusOptions{Untracked: c.mode})
		if err != nil {
			t.Errorf("%s: %v", c.word, err)
			continue
		}
		if d := cmp.Diff(strings.Split(gitStatus(r, c.word), "\x00"), strings.Split(got.Porcelain(), "\x00")); d != "" {
			t.Errorf("status with untracked files %s -git +ours:\n%s", c.word, d)
		}
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := ownfile.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, r *gittest.Repo, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := ownfile.RemoveAll(r.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
}

func mkdir(t *testing.T, r *gittest.Repo, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := ownfile.MkdirAll(r.Path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func lines(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s line %d of the file\n", prefix, i)
	}
	return b.String()
}

var statusCases = []struct {
	name string
	make func(t *testing.T, r *gittest.Repo)
}{
	{"clean", func(t *testing.T, r *gittest.Repo) {}},
	{"changed, same size", func(t *testing.T, r *gittest.Repo) { r.Write("a.txt", strings.Repeat("b", 5)+"\n") }},
	{"changed, other size", func(t *testing.T, r *gittest.Repo) { r.Write("a.txt", "longer than before\n") }},
	{"touched", func(t *testing.T, r *gittest.Repo) {
		if err := ownfile.Chtimes(r.Path("a.txt"), time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}},
	{"deleted", func(t *testing.T, r *gittest.Repo) { remove(t, r, "a.txt", "d") }},
	{"staged", func(t *testing.T, r *gittest.Repo) {
		r.Write("a.txt", "staged\n", "new.txt", "n\n", "d/new", "m\n")
		r.Git("rm", "-q", "--cached", "d/b.txt")
		r.Git("add", "a.txt", "new.txt", "d/new")
		r.Write("a.txt", "and changed\n")
	}},
	{"renamed", func(t *testing.T, r *gittest.Repo) {
		r.Git("mv", "d/big.txt", "d/larger.txt")
		r.Git("mv", "a.txt", "e/a.txt")
	}},
	{"renamed and changed", func(t *testing.T, r *gittest.Repo) {
		r.Git("mv", "d/big.txt", "moved.txt")
		r.Write("moved.txt", lines("x", 5)+lines("big", 40))
		r.Git("add", "-A")
	}},
	{"renamed after a base name", func(t *testing.T, r *gittest.Repo) {
		r.Commit("more", "p/one.go", lines("one", 30), "q/two.go", lines("one", 30)+"x\n")
		remove(t, r, "p", "q")
		r.Write("r/two.go", lines("one", 28), "s/one.go", lines("one", 29)+"x\n", "s/three.go", lines("one", 30))
		r.Git("add", "-A")
	}},
	{"too different for a rename", func(t *testing.T, r *gittest.Repo) {
		r.Git("mv", "d/big.txt", "moved.txt")
		r.Write("moved.txt", lines("other", 60)+lines("big", 5))
		r.Git("add", "-A")
	}},
	{"renames are off", func(t *testing.T, r *gittest.Repo) {
		r.Git("config", "status.renames", "false")
		r.Git("mv", "a.txt", "e/a.txt")
	}},
	{"mode", func(t *testing.T, r *gittest.Repo) {
		if err := ownfile.Chmod(r.Path("a.txt"), 0o755); err != nil {
			t.Fatal(err)
		}
	}},
	{"mode without meaning", func(t *testing.T, r *gittest.Repo) {
		r.Git("config", "core.fileMode", "false")
		if err := ownfile.Chmod(r.Path("a.txt"), 0o755); err != nil {
			t.Fatal(err)
		}
	}},
	{"staged mode", func(t *testing.T, r *gittest.Repo) { r.Git("update-index", "--chmod=+x", "a.txt") }},
	{"links", func(t *testing.T, r *gittest.Repo) {
		symlink(t, "a.txt", r.Path("link"))
		symlink(t, "nowhere", r.Path("broken"))
		symlink(t, "d", r.Path("todir"))
		r.Git("add", "-A")
		r.Git("commit", "-qm", "links")
		remove(t, r, "link", "a.txt", "todir")
		symlink(t, "d/b.txt", r.Path("link"))
		symlink(t, "x", r.Path("a.txt"))
		r.Write("todir", "a file now\n")
		symlink(t, "d", r.Path("untracked-link"))
	}},
	{"a directory became a link", func(t *testing.T, r *gittest.Repo) {
		if err := ownfile.Rename(r.Path("d"), r.Path("dd")); err != nil {
			t.Fatal(err)
		}
		symlink(t, "dd", r.Path("d"))
	}},
	{"a file became a directory", func(t *testing.T, r *gittest.Repo) {
		remove(t, r, "a.txt")
		r.Write("a.txt/x", "1\n", "a.txt/y", "2\n")
	}},
	{"a directory became a file", func(t *testing.T, r *gittest.Repo) {
		remove(t, r, "d")
		r.Write("d", "1\n")
	}},
	{"an empty directory instead of a file", func(t *testing.T, r *gittest.Repo) {
		remove(t, r, "a.txt")
		mkdir(t, r, "a.txt")
	}},
	{"untracked", func(t *testing.T, r *gittest.Repo) {
		r.Write("z", "1\n", "new/a", "1\n", "new/deep/b", "1\n", "d/c", "1\n", "e/f/g/h", "1\n")
		mkdir(t, r, "empty/empty", "d/empty")
	}},
	{"unusual names", func(t *testing.T, r *gittest.Repo) {
		r.Write("-dash", "1\n", "sp ace/\"quote\"", "2\n", "new\nline", "3\n", "tab\t", "4\n", "日本/語", "5\n", "not\xffutf8", "6\n", `back\slash`, "7\n", " lead", "8\n")
		r.Git("add", "-A", "--", "sp ace", "-dash")
	}},
	{"names around a slash", func(t *testing.T, r *gittest.Repo) {
		r.Commit("more", "n-a", "1\n", "n/a", "2\n", "n0", "3\n", "n.x/y", "4\n")
		r.Write("n-a", "x\n", "n/a", "x\n", "n0", "x\n", "n.x/y", "x\n", "n/b", "1\n", "n-b/c", "2\n")
		r.Git("add", "n-a", "n/a")
	}},
	{"ignored", func(t *testing.T, r *gittest.Repo) {
		r.Write(".gitignore", "*.o\n/build/\n!keep.o\nsub/**/x\n", "a.o", "1", "keep.o", "2", "build/x", "3", "d/build/x", "4",
			"d/.gitignore", "!a.o\nb*\n", "d/a.o", "5", "d/bb", "6", "sub/1/2/x", "7", "sub/1/2/y", "8", "only/a.o", "9",
			".ignore", "hidden\n", ".sidecarignore", "hidden\n", "hidden", "not for git\n")
	}},
	{"ignored although tracked", func(t *testing.T, r *gittest.Repo) {
		r.Write(".gitignore", "d/\na.txt\n", "d/b.txt", "changed\n", "d/new", "new\n", "d/sub/new", "new\n")
	}},
	{"excluded", func(t *testing.T, r *gittest.Repo) {
		r.Write(".git/info/exclude", "*.log\n!b.log\n", "a.log", "1", "b.log", "2", "c.tmp", "3", "d.tmp", "4")
		r.At(os.Getenv("HOME")).Write("my-ignore", "*.tmp\n*.log\n")
		r.Git("config", "--global", "core.excludesFile", "~/my-ignore")
		r.Write(".gitignore", "!d.tmp\n")
	}},
	{"the user's ignore file", func(t *testing.T, r *gittest.Repo) {
		r.At(os.Getenv("HOME")).Write(".config/git/ignore", "*.tmp\n")
		r.Write("c.tmp", "3")
	}},
	{"an ignore file that is a link", func(t *testing.T, r *gittest.Repo) {
		r.Write("rules", "*.x\n", "a.x", "1")
		symlink(t, "rules", r.Path(".gitignore"))
	}},
	{"repositories inside", func(t *testing.T, r *gittest.Repo) {
		r.Git("init", "-q", "nested")
		r.Write("nested/file", "1\n")
		r.Git("init", "-q", "d/inner")
		r.Git("init", "-q", "new/deep/repo")
		mkdir(t, r, "fake/.git")
		r.Write("fake/x", "1\n", "fake2/.git/y", "1\n")
	}},
	{"only meant to be added", func(t *testing.T, r *gittest.Repo) {
		r.Write("meant", "1\n", "n/meant", "2\n")
		r.Git("add", "-N", "meant", "n/meant")
	}},
	{"assumed and skipped", func(t *testing.T, r *gittest.Repo) {
		r.Git("update-index", "--assume-unchanged", "a.txt")
		r.Git("update-index", "--skip-worktree", "d/b.txt")
		r.Write("a.txt", "changed\n", "d/b.txt", "changed\n", "d/other", "new\n")
	}},
	{"assumed and gone", func(t *testing.T, r *gittest.Repo) {
		r.Git("update-index", "--assume-unchanged", "a.txt")
		r.Git("update-index", "--skip-worktree", "d/b.txt")
		remove(t, r, "a.txt", "d")
	}},
	{"sparse", func(t *testing.T, r *gittest.Repo) {
		r.Git("sparse-checkout", "set", "--no-cone", "/*", "!/d/")
		r.Write("d/b.txt", "there after all\n", "d/new", "1\n", "a.txt", "x\n")
	}},
	{"no commit", func(t *testing.T, r *gittest.Repo) {
		r.Git("checkout", "-q", "--orphan", "fresh")
		r.Git("rm", "-rq", "--cached", "d")
	}},
	{"nothing at all", func(t *testing.T, r *gittest.Repo) { remove(t, r, ".git"); r.Git("init", "-q", "-b", "x") }},
	{"detached", func(t *testing.T, r *gittest.Repo) { r.Git("checkout", "-q", "--detach") }},
	{"no index", func(t *testing.T, r *gittest.Repo) { remove(t, r, ".git/index") }},
	{"packed", func(t *testing.T, r *gittest.Repo) {
		r.Write("a.txt", "x\n")
		r.Git("add", "-A")
		r.Git("pack-refs", "--all")
		r.Git("gc", "-q")
	}},
	{"index of version 4", func(t *testing.T, r *gittest.Repo) {
		r.Git("update-index", "--index-version", "4")
		r.Write("a.txt", "x\n", "d/z", "1\n")
		remove(t, r, "d/b.txt")
	}},
	{"conflicts", func(t *testing.T, r *gittest.Repo) {
		r.Commit("base", "both", "0\n", "we-delete", "0\n", "they-delete", "0\n", "both-delete", "0\n", "d/f", "0\n")
		r.Git("checkout", "-qb", "side")
		r.Git("rm", "-q", "they-delete")
		r.Git("mv", "both-delete", "side-name")
		r.Commit("side", "both", "1\n", "we-delete", "1\n", "new", "1\n", "d/f", "1\n", "clean", "1\n")
		r.Git("checkout", "-q", "main")
		r.Git("rm", "-q", "we-delete")
		r.Git("mv", "both-delete", "main-name")
		r.Commit("main", "both", "2\n", "they-delete", "2\n", "new", "2\n", "d/f", "2\n")
		if r.Try("merge", "-q", "side") {
			t.Fatal("no conflict")
		}
		r.Write("d/f", "resolved\n", "untracked", "1\n")
		remove(t, r, "new")
	}},
	{"upstream", func(t *testing.T, r *gittest.Repo) {
		clone := filepath.Join(filepath.Dir(r.Dir), "upstream")
		r.Git("clone", "-q", "--bare", ".", clone)
		r.Git("remote", "add", "origin", clone)
		r.Git("fetch", "-q")
		r.Git("branch", "-q", "-u", "origin/main")
		r.Commit("ahead 1", "x", "1")
		r.Git("push", "-q", "origin", "HEAD")
		r.Git("reset", "-q", "--hard", "HEAD~1")
		r.Commit("aside 1", "y", "1")
		r.Commit("aside 2", "y", "2")
	}},
	{"upstream is gone", func(t *testing.T, r *gittest.Repo) {
		r.Git("config", "branch.main.remote", "origin")
		r.Git("config", "branch.main.merge", "refs/heads/main")
		r.Git("config", "remote.origin.url", "x")
		r.Git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	}},
	{"upstream is a branch", func(t *testing.T, r *gittest.Repo) {
		r.Git("checkout", "-q", "-b", "topic", "--track", "main")
		r.Commit("on topic", "x", "1")
	}},
	{"line ends, without a carriage return", func(t *testing.T, r *gittest.Repo) {
		r.Commit("attributes", ".gitattributes", "* text=auto\n", "t", "12345\n")
		r.Write("t", "54321\n", "a.txt", "x\n")
	}},
	{"worktree settings", func(t *testing.T, r *gittest.Repo) {
		r.Git("config", "extensions.worktreeConfig", "true")
		r.Git("config", "--worktree", "core.fileMode", "false")
		if err := ownfile.Chmod(r.Path("a.txt"), 0o755); err != nil {
			t.Fatal(err)
		}
	}},
}

func sample(t testing.TB) *gittest.Repo {
	r := gittest.New(t)
	r.Commit("first", "a.txt", "aaaaa\n", "d/b.txt", "b\n", "d/big.txt", lines("big", 40), "e/f/g.txt", "g\n")
	return r
}

func TestStatus(t *testing.T) {
	for _, c := range statusCases {
		t.Run(c.name, func(t *testing.T) {
			r := sample(t)
			c.make(t, r)
			checkStatus(t, r)
		})
	}
}

func TestStatusLinked(t *testing.T) {
	r := sample(t)
	tree := r.At(filepath.Join(filepath.Dir(r.Dir), "tree"))
	r.Git("worktree", "add", "-q", "-b", "side", tree.Dir)
	tree.Write("a.txt", "x\n", "new", "1\n")
	tree.Git("rm", "-q", "--cached", "d/b.txt")
	checkStatus(t, tree)
	checkStatus(t, r)
}

func TestStatusSubmodule(t *testing.T) {
	other, r := sample(t), sample(t)
	r.Git("submodule", "--quiet", "add", other.Dir, "lib/sub")
	r.Git("submodule", "--quiet", "add", other.Dir, "unfetched")
	r.Git("commit", "-qm", "submodules")
	checkStatus(t, r)
	sub := r.At("lib/sub")
	for _, step := range []func(){
		func() { sub.Write("untracked", "1\n") },
		func() { remove(t, sub, "untracked"); sub.Write("a.txt", "changed\n") },
		func() { sub.Git("commit", "-qam", "in the submodule") },
		func() { r.Git("add", "lib/sub") },
		func() { r.Git("submodule", "--quiet", "deinit", "-f", "unfetched") },
		func() { remove(t, r, "unfetched") },
		func() { r.Write("unfetched", "a file\n") },
	} {
		step()
		checkStatus(t, r)
	}
}

// Files that are checked out and staged in one go have stat data that say
// nothing; a change of the same size right afterwards must be seen.
func TestStatusRacy(t *testing.T) {
	r := sample(t)
	for i := range 20 {
		r.Commit("again", "racy", fmt.Sprintf("%06d\n", i))
		r.Write("racy", fmt.Sprintf("%06d\n", i+100000))
		checkStatus(t, r)
	}
}

// TestStatusRandom takes random steps in a repository, and compares after each.
func TestStatusRandom(t *testing.T) {
	slow.Test(t)
	steps := 300
	if testing.Short() {
		steps = 60
	}
	seed := seedOf(t)
	r := gittest.New(t)
	randomSteps(t, r, seed, steps, func() { checkStatus(t, r) })
}

// TestStatusOpen takes random steps in a repository that stays open.
func TestStatusOpen(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a/d", "1\n")
	repo := open(t, r)
	r.Write(".ignore", "b/c\n", "b/c/there", "1\n") // for searches
	seed := seedOf(t)
	randomSteps(t, r, seed, 200, func() {
		got, err := repo.status(t.Context(), StatusOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.Split(gitStatus(r, "normal"), "\x00"), strings.Split(got.Porcelain(), "\x00")); d != "" {
			t.Errorf("-git +ours:\n%s", d)
		}
	})
}

// A file that comes in the same look in which a directory of the index goes
// leaves as many entries as there were.
func TestStatusExchange(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "d/file", "1\n", "e", "1\n")
	repo := open(t, r)
	check := func() {
		t.Helper()
		got, err := repo.status(t.Context(), StatusOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := gitStatus(r, "normal"); got.Porcelain() != want {
			t.Errorf("%q, want %q", got.Porcelain(), want)
		}
	}
	check()
	remove(t, r, "d/file")
	remove(t, r, "d")
	check()
	r.Write("new", "1\n")
	check()
	remove(t, r, "new")
	r.Write("d", "a file in its place\n")
	check()
}

// What is written through another name of a file is seen.
func TestStatusHardLink(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "d/file", "1\n", "e", "1\n")
	repo := open(t, r)
	for i, step := range []func() error{
		func() error { return nil },
		func() error { return ownfile.Link(r.Path("d/file"), r.Path("other")) },
		func() error { return ownfile.WriteFile(r.Path("other"), []byte("2\n"), 0o644) },
		func() error { return ownfile.WriteFile(r.Path("other"), []byte("1\n"), 0o644) },
		func() error { return ownfile.Remove(r.Path("other")) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		got, err := repo.status(t.Context(), StatusOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := gitStatus(r, "normal"); got.Porcelain() != want {
			t.Errorf("step %d: %q, want %q", i, got.Porcelain(), want)
		}
	}
}

func randomSteps(t *testing.T, r *gittest.Repo, seed uint64, steps int, check func()) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	r.Commit("start", "a/b/c", lines("c", 20), "a/d", lines("d", 30), "e", "e\n")
	name := func() string {
		parts := []string{"a", "b", "c", "a-b", "a.b", "é", "x y", "Makefile", "n.go", "z"}
		var p []string
		for range 1 + rnd.IntN(3) {
			p = append(p, parts[rnd.IntN(len(parts))])
		}
		return strings.Join(p, "/")
	}
	text := func() string { return lines(fmt.Sprint(rnd.IntN(4)), rnd.IntN(30)) + lines("end", rnd.IntN(8)) }
	write := func(name, data string) {
		file := r.Path(name)
		if ownfile.MkdirAll(filepath.Dir(file), 0o755) == nil {
			_ = ownfile.WriteFile(file, []byte(data), 0o644) // it may be a directory
		}
	}
	ops := []struct {
		name string
		do   func()
	}{
		{"write", func() { write(name(), text()) }},
		{"write", func() { write(name(), text()) }},
		{"remove", func() { _ = ownfile.RemoveAll(r.Path(name())) }},
		{"rename", func() { _ = ownfile.Rename(r.Path(name()), r.Path(name())) }},
		{"append", func() {
			n := name()
			if data, err := os.ReadFile(r.Path(n)); err == nil {
				write(n, string(data)+"more\n")
			}
		}},
		{"chmod", func() {
			if n := r.Path(name()); rnd.IntN(2) == 0 {
				if info, err := os.Lstat(n); err == nil && info.Mode().IsRegular() {
					_ = ownfile.Chmod(n, info.Mode().Perm()^0o111)
				}
			}
		}},
		{"link", func() { _ = ownfile.Symlink(name(), r.Path(name())) }},
		{"mkdir", func() { _ = ownfile.MkdirAll(r.Path(name()), 0o755) }},
		{"ignore", func() {
			rules := []string{"b\n", "/a/\n", "*.go\n!n.go\n", "a/**/c\n", "c/\n!c/z\n", "x y\n", ""}
			dir := []string{"", "a/", "b/"}[rnd.IntN(3)]
			write(dir+".gitignore", rules[rnd.IntN(len(rules))])
		}},
		{"add", func() { r.Try("add", "-f", "--", name()) }},
		{"add all", func() { r.Try("add", "-A") }},
		{"commit", func() { r.Try("commit", "-q", "-m", "step") }},
		{"mv", func() { r.Try("mv", "-k", name(), name()) }},
		{"rm", func() { r.Try("rm", "-rq", "--cached", "--", name()) }},
		{"reset", func() { r.Try("reset", "-q", "--", name()) }},
		{"refresh", func() { r.Try("update-index", "-q", "--refresh") }},
	}
	for i := range steps {
		op := ops[rnd.IntN(len(ops))]
		op.do()
		removeLinkLoops(t, r.Dir)
		if rnd.IntN(3) == 0 {
			continue
		}
		check()
		if t.Failed() {
			t.Fatalf("after step %d, %s", i, op.name)
		}
	}
}

// seedOf is where a random test starts: always the same, so that a change that
// breaks nothing stays green, and another each time with -everything.
func seedOf(t *testing.T) uint64 {
	seed := uint64(1)
	if *everything {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return seed
}

// removeLinkLoops removes the links that lead to themselves. Git can't look
// below one (ELOOP), complains, and calls the files that it replaced unchanged;
// here they are missing, so there is nothing to compare.
func removeLinkLoops(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type() != fs.ModeSymlink {
			return err
		}
		if _, err := os.Stat(name); errors.Is(err, syscall.ELOOP) {
			return ownfile.Remove(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
