package gitrepo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// headers are the lines of a patch that say what happens to files, without
// what hunks hold.
func headers(patch string) []string {
	var out []string
	in := false
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			in = true
		case strings.HasPrefix(line, "@@ "):
			in = false
		case strings.HasPrefix(line, "index ") && strings.Contains(line, "..e69de29bb2"), strings.HasPrefix(line, "index e69de29bb2.."):
			continue // of an empty file nothing is said
		}
		if in {
			out = append(out, line)
		}
	}
	return out
}

// numbers are the added and removed lines by path, as git counts them.
func numbers(t *testing.T, out string) map[string][2]int {
	t.Helper()
	counts := map[string][2]int{}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(fields) && fields[i] != ""; i++ {
		f := strings.SplitN(fields[i], "\t", 3)
		added, _ := strconv.Atoi(f[0])
		removed, _ := strconv.Atoi(f[1])
		name := f[2]
		if name == "" { // a rename: the old and the new name follow
			name = fields[i+2]
			i += 2
		}
		counts[name] = [2]int{counts[name][0] + added, counts[name][1] + removed}
	}
	return counts
}

// checkDiff compares a diff with git's, and sees that git can apply it.
func checkDiff(t *testing.T, r *gittest.Repo, o DiffOptions, args ...string) {
	t.Helper()
	got, err := open(t, r).diff(t.Context(), o)
	if err != nil {
		t.Errorf("%+v: %v", o, err)
		return
	}
	patch := ""
	counts := map[string][2]int{}
	for _, f := range got.Files {
		patch += f.Patch
		counts[f.Path] = [2]int{f.Added, f.Removed}
	}
	git := []string{"-c", "core.quotePath=false", "diff", "--no-ext-diff", "--no-textconv", "--abbrev=10"}
	want := r.Git(slices.Concat(git, args)...)
	if d := cmp.Diff(headers(want), headers(patch)); d != "" {
		t.Errorf("%+v: headers -git +ours:\n%s", o, d)
	}
	if strings.Contains(patch, "-dirty") { // which git doesn't count
		return
	}
	if d := cmp.Diff(numbers(t, r.Git(slices.Concat(git, []string{"--numstat", "-z"}, args)...)), counts); d != "" {
		t.Errorf("%+v: counts -git +ours:\n%s", o, d)
	}
	if patch == "" || strings.Contains(patch, "\nBinary files ") || strings.Contains(patch, "Subproject") {
		return
	}
	// Applied to the old side, both patches must give the same.
	var trees []string
	for _, text := range []string{want, patch} {
		index := filepath.Join(t.TempDir(), "index")
		t.Setenv("GIT_INDEX_FILE", index)
		switch {
		case o.From != "":
			r.Git("read-tree", o.From)
		case o.Staged:
			if r.Try("rev-parse", "-q", "--verify", "HEAD") {
				r.Git("read-tree", "HEAD")
			}
		default:
			data, err := os.ReadFile(filepath.Join(open(t, r).GitDir, "index"))
			if err != nil {
				t.Fatal(err)
			}
			if err := ownfile.WriteFile(index, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r.GitIn(text, "apply", "--cached", "--whitespace=nowarn")
		trees = append(trees, r.Git("ls-files", "--stage", "-z"))
		if err := os.Unsetenv("GIT_INDEX_FILE"); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(trees[0], trees[1]); d != "" {
		t.Errorf("%+v: applied -git +ours:\n%s\n%s", o, d, patch)
	}
}

func checkDiffs(t *testing.T, r *gittest.Repo) {
	t.Helper()
	checkDiff(t, r, DiffOptions{})
	checkDiff(t, r, DiffOptions{Staged: true}, "--cached")
	if r.Try("rev-parse", "-q", "--verify", "HEAD") {
		checkDiff(t, r, DiffOptions{From: "HEAD"}, "HEAD")
	}
	if r.Try("rev-parse", "-q", "--verify", "HEAD~1") {
		checkDiff(t, r, DiffOptions{From: "HEAD~1"}, "HEAD~1")
		checkDiff(t, r, DiffOptions{From: "HEAD~1", To: "HEAD"}, "HEAD~1", "HEAD")
		checkDiff(t, r, DiffOptions{From: "HEAD", To: "HEAD~1"}, "HEAD", "HEAD~1")
	}
}

func TestDiff(t *testing.T) {
	slow.Test(t)
	for _, c := range statusCases {
		switch c.name {
		case "conflicts", "only meant to be added": // below
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r := sample(t)
			c.make(t, r)
			checkDiffs(t, r)
		})
	}
}

func TestDiffContents(t *testing.T) {
	r := sample(t)
	r.Commit("two", "no-end", "1\n2", "bin", "a\x00b", "empty", "", "crlf", "a\r\nb\r\n", "latin", "\xe9\n", "sp ace", "1\n", "quo\"te\t", "1\n", "Ä", "1\n")
	r.Write("no-end", "1\n2\n", "bin", "a\x00c", "empty", "no more\n", "crlf", "a\r\nc\r\n", "latin", "\xe8\n", "sp ace", "2\n", "quo\"te\t", "2\n", "Ä", "2\n")
	checkDiffs(t, r)
	r.Git("add", "-A")
	checkDiffs(t, r)
	r.Commit("three", "sp ace", "3\n")
	checkDiffs(t, r)
	checkDiff(t, r, DiffOptions{Path: "d"}, "--", "d")
	checkDiff(t, r, DiffOptions{From: "HEAD~1", To: "HEAD", Path: "sp ace"}, "HEAD~1", "HEAD", "--", "sp ace")
}

func TestDiffSubmodule(t *testing.T) {
	other, r := sample(t), sample(t)
	r.Git("submodule", "--quiet", "add", other.Dir, "sub")
	checkDiffs(t, r)
	r.Git("commit", "-qm", "submodule")
	sub := r.At("sub")
	sub.Write("untracked", "1\n")
	checkDiffs(t, r)
	sub.Write("a.txt", "changed\n")
	checkDiffs(t, r)
	sub.Git("commit", "-qam", "in the submodule")
	checkDiffs(t, r)
	r.Git("add", "sub")
	r.Git("commit", "-qm", "moved on")
	checkDiffs(t, r)
}

func TestDiffConflict(t *testing.T) {
	r := sample(t)
	r.Git("checkout", "-qb", "side")
	r.Commit("side", "a.txt", "side\n", "z", "1\n")
	r.Git("checkout", "-q", "main")
	r.Commit("main", "a.txt", "main\n")
	if r.Try("merge", "-q", "side") {
		t.Fatal("no conflict")
	}
	r.Write("z", "2\n")
	got, err := open(t, r).Diff(t.Context(), DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Conflict, []string{"a.txt"}) || len(got.Files) != 1 || got.Files[0].Path != "z" {
		t.Errorf("got %+v", got)
	}
}

// What is hidden is not shown, under either of its names.
func TestDiffHidden(t *testing.T) {
	const secret = "hunter2"
	r := sample(t)
	r.Commit("two", ".env", strings.Repeat("KEY=x\n", 20), "plain", strings.Repeat("LINE=x\n", 20))
	r.Git("mv", ".env", "harmless")
	r.Git("mv", "plain", "other.env")
	r.Write("harmless", strings.Repeat("KEY=x\n", 20)+secret+"\n", "other.env", strings.Repeat("LINE=x\n", 20)+secret+"\n")
	r.Git("add", "-A")
	r.Git("commit", "-qm", "three")
	repo := open(t, r)
	for _, o := range []DiffOptions{{From: "HEAD~1"}, {From: "HEAD~1", To: "HEAD"}, {From: "HEAD", To: "HEAD~1"}} {
		open, err := repo.Diff(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Hidden = func(path string) bool { return strings.HasSuffix(path, ".env") }
		closed, err := repo.Diff(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for i, f := range closed.Files {
			if !strings.HasPrefix(f.Patch, "diff --git ") || strings.Contains(f.Patch, secret) {
				t.Errorf("%+v: %s", o, f.Patch)
			}
			if f.Hidden && strings.Contains(f.Patch, "content not shown") && strings.Contains(open.Files[i].Patch, secret) {
				shown++
			}
		}
		if shown != 2 {
			t.Errorf("%+v: %d files were hidden that are else shown", o, shown)
		}
	}
}

func TestDiffRefuses(t *testing.T) {
	r := sample(t)
	repo := open(t, r)
	for _, o := range []DiffOptions{{From: "--output=x"}, {From: "HEAD", To: "-O../x"}, {From: "a..b"}, {From: "HEAD", To: "@{1}"}} {
		if _, err := repo.Diff(t.Context(), o); !errors.Is(err, ErrRevision) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestDiffRandom(t *testing.T) {
	slow.Test(t)
	seed := seedOf(t)
	rnd := rand.New(rand.NewPCG(seed, 3))
	r := gittest.New(t)
	r.Commit("start", "a", lines("a", 20), "b/c", lines("b", 30), "b/d", lines("d", 25))
	names := []string{"a", "b/c", "b/d", "c", "b", "e/f", "x y"}
	for i := range 80 {
		name := names[rnd.IntN(len(names))]
		switch rnd.IntN(8) {
		case 0:
			_ = ownfile.RemoveAll(r.Path(name))
		case 1:
			r.Try("mv", "-k", name, names[rnd.IntN(len(names))])
		case 2:
			r.Try("add", "-A")
		case 3:
			r.Try("commit", "-q", "-m", fmt.Sprint("step ", i))
		case 4:
			if info, err := os.Lstat(r.Path(name)); err == nil && info.Mode().IsRegular() {
				_ = ownfile.Chmod(r.Path(name), info.Mode().Perm()^0o111)
			}
		default:
			if info, err := os.Lstat(r.Path(name)); err == nil && info.IsDir() || ownfile.MkdirAll(filepath.Dir(r.Path(name)), 0o755) != nil {
				continue
			}
			data, _ := os.ReadFile(r.Path(name))
			list := strings.SplitAfter(string(data), "\n")
			at := rnd.IntN(len(list))
			list = slices.Insert(list, at, fmt.Sprintf("new line %d\n", rnd.IntN(1000)))
			if n := rnd.IntN(len(list)); rnd.IntN(2) == 0 {
				list = slices.Delete(list, n, min(n+2, len(list)))
			}
			r.Write(name, strings.Join(list, ""))
		}
		if i%4 == 0 {
			checkDiffs(t, r)
			if t.Failed() {
				t.Fatalf("after step %d", i)
			}
		}
	}
}
