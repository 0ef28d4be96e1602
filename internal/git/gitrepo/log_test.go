package gitrepo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// checkLog compares a log with git's.
func checkLog(t *testing.T, r *gittest.Repo, path string, count int) {
	t.Helper()
	args := []string{"log", "--decorate=short", "--decorate-refs=HEAD", "--decorate-refs=refs/heads", "--decorate-refs=refs/tags", "--decorate-refs=refs/remotes", fmt.Sprint("-", count), "--format=%H%x00%P%x00%an%x00%ae%x00%aI%x00%s%x00%D"}
	if path != "" {
		args = append(args, "--", path)
	}
	var want []string
	for line := range strings.Lines(r.Git(args...)) {
		want = append(want, strings.TrimSuffix(line, "\n"))
	}
	list, err := open(t, r).Log(t.Context(), LogOptions{Count: count, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		var parents []string
		for _, p := range c.Parents {
			parents = append(parents, p.String())
		}
		got = append(got, strings.Join([]string{c.Hash.String(), strings.Join(parents, " "), c.Author.Name, c.Author.Email,
			c.Author.When.Format("2006-01-02T15:04:05-07:00"), c.Subject, strings.Join(c.Refs, ", ")}, "\x00"))
	}
	for i := range want { // git orders the names of a commit as it likes
		want[i] = sortRefs(want[i])
	}
	for i := range got {
		got[i] = sortRefs(got[i])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("log of %q -git +ours:\n%s", path, d)
	}
}

func sortRefs(line string) string {
	at := strings.LastIndexByte(line, 0) + 1
	refs := strings.Split(line[at:], ", ")
	seen := map[string]bool{}
	for _, r := range refs {
		seen[r] = true
	}
	delete(seen, "")
	delete(seen, "grafted")     // which is no ref
	delete(seen, "origin/HEAD") // which says nothing that origin/main doesn't
	return fmt.Sprint(line[:at], seen)
}

func TestLog(t *testing.T) {
	r := history(t)
	r.Git("commit", "-q", "--allow-empty", "-m", "Ünïcode\nin two lines\n\nand a body")
	r.Git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	r.Git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "latin \xe9")
	t.Setenv("GIT_AUTHOR_DATE", "2026-05-06T07:08:09-0330")
	r.Git("commit", "-q", "--allow-empty", "--author", "Jörg 'X' <j@x.org>", "-m", "another author")
	r.Git("branch", "side/way")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD~2")
	for _, count := range []int{1, 5, 50} {
		checkLog(t, r, "", count)
	}
	for _, path := range []string{"a.txt", "d", "d/3", "nope", "d/nope/x", "a.txt/x"} {
		checkLog(t, r, path, 50)
	}
	r.Git("checkout", "-q", "--detach", "HEAD~3")
	checkLog(t, r, "", 5)
}

func TestLogWithoutCommit(t *testing.T) {
	if _, err := open(t, gittest.New(t)).Log(t.Context(), LogOptions{}); !errors.Is(err, ErrNoSuchRev) {
		t.Error(err)
	}
}

func TestLogShallow(t *testing.T) {
	r := history(t)
	clone := r.At(r.Dir + "-shallow")
	r.Git("clone", "-q", "--depth", "3", "file://"+r.Dir, clone.Dir)
	checkLog(t, clone, "", 50)
	checkLog(t, clone, "a.txt", 50)
}

// TestLogRandom compares logs of random histories with merges.
func TestLogRandom(t *testing.T) {
	seed := seedOf(t)
	rnd := rand.New(rand.NewPCG(seed, 2))
	r := gittest.New(t)
	names := []string{"a", "b", "d/a", "d/b", "d/e/a"}
	clock := 1700000000
	tick := func() {
		clock += rnd.IntN(3) // sometimes the same second
		date := fmt.Sprintf("%d +0000", clock)
		t.Setenv("GIT_AUTHOR_DATE", date)
		t.Setenv("GIT_COMMITTER_DATE", date)
	}
	tick()
	r.Commit("root", "a", "0\n")
	for i := range 60 {
		tick()
		switch rnd.IntN(5) {
		case 0:
			r.Try("branch", fmt.Sprint("b", i))
		case 1:
			if i > 0 {
				r.Try("checkout", "-q", fmt.Sprint("b", rnd.IntN(i)))
			}
		case 2:
			if i > 0 && !r.Try("merge", "-q", "-m", fmt.Sprint("merge ", i), "-X", []string{"ours", "theirs"}[rnd.IntN(2)], fmt.Sprint("b", rnd.IntN(i))) {
				r.Try("merge", "--abort")
			}
		default:
			name := names[rnd.IntN(len(names))]
			if rnd.IntN(6) == 0 {
				_ = ownfile.RemoveAll(r.Path(name))
			} else {
				r.Write(name, fmt.Sprintln(rnd.IntN(3)))
			}
			r.Git("add", "-A")
			r.Try("commit", "-q", "-m", fmt.Sprint("step ", i))
		}
		if i%10 == 9 {
			for _, path := range append([]string{"", "d", "d/e"}, names...) {
				checkLog(t, r, path, 50)
			}
		}
	}
}
