package gitrepo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
)

// checkHistory compares a history with git's log.
func checkHistory(t *testing.T, r *gittest.Repo, o HistoryOptions) []Step {
	t.Helper()
	got, err := open(t, r).History(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(r.Git("rev-parse", "HEAD")); got.Head.String() != want {
		t.Errorf("HEAD is %s, want %s", got.Head, want)
	}
	if got.Until == o.Until.IsZero() {
		t.Errorf("it says %v about having come to where it should stop", got.Until)
	}
	args := []string{"log", "--min-parents=1", "--max-parents=1", "--no-renames", "--raw", "--abbrev=40", fmt.Sprint("-", o.Count), "--format=%x01%H%x02%ct%x02%B%x02"}
	if !o.Until.IsZero() {
		args = append(args, o.Until.String()+"..HEAD")
	}
	var want []Step
	for _, text := range strings.Split(r.Git(args...), "\x01")[1:] {
		f := strings.Split(text, "\x02")
		s := Step{Message: f[2], Files: []Edit{}}
		for line := range strings.Lines(strings.TrimSpace(f[3])) {
			meta, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			e := Edit{Path: name}
			e.Old, _ = object.ParseHash(strings.Fields(meta)[2])
			e.New, _ = object.ParseHash(strings.Fields(meta)[3])
			s.Files = append(s.Files, e)
		}
		s.Hash, _ = object.ParseHash(f[0])
		if _, err := fmt.Sscan(f[1], &s.Date); err != nil {
			t.Fatal(err)
		}
		if len(s.Files) <= o.Files {
			want = append(want, s)
		}
	}
	for i := range want {
		want[i].Message = strings.TrimSpace(want[i].Message)
	}
	steps := slices.Clone(got.Steps)
	for i := range steps {
		steps[i].Message = strings.TrimSpace(steps[i].Message)
		if len(steps[i].Files) == 0 {
			steps[i].Files = []Edit{}
		}
	}
	if d := cmp.Diff(want, steps); d != "" {
		t.Errorf("%+v -git +ours:\n%s", o, d)
	}
	return steps
}

func TestHistory(t *testing.T) {
	r := gittest.New(t)
	if _, err := open(t, r).History(t.Context(), HistoryOptions{Count: 1, Files: 9}); !errors.Is(err, ErrNoSuchRev) {
		t.Errorf("without a commit: %v", err)
	}
	clock := 1700000000
	commit := func(message string, args ...string) {
		clock++
		date := fmt.Sprintf("%d +0000", clock)
		t.Setenv("GIT_AUTHOR_DATE", date)
		t.Setenv("GIT_COMMITTER_DATE", date)
		r.Git("add", "-A")
		r.Git(append([]string{"commit", "-q", "--allow-empty", "-m", message}, args...)...)
	}
	r.Write("a", "1\n", "d/b", "1\n", "d/e/c", "1\n", "x", "1\n")
	commit("root")
	r.Write("a", "2\n", "d/e/c", "2\n", "d/e/new", "1\n")
	commit("two changed, one new\n\nand a body")
	r.Git("mv", "d/b", "d/moved")
	commit("renamed")
	r.Git("rm", "-q", "x")
	r.Write("x/y", "1\n")
	commit("a file that becomes a directory")
	side := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	r.Write("a", "3\n")
	commit("main line")
	main := strings.TrimSpace(r.Git("rev-parse", "--abbrev-ref", "HEAD"))
	r.Git("checkout", "-q", "-b", "side", side)
	r.Write("d/e/c", "3\n")
	commit("side line")
	r.Git("checkout", "-q", main)
	clock++
	r.Git("merge", "-q", "-m", "both", "side")
	commit("nothing")

	all := checkHistory(t, r, HistoryOptions{Count: 100, Files: 100})
	if len(all) != 6 {
		t.Fatalf("%d steps", len(all))
	}
	if got := checkHistory(t, r, HistoryOptions{Count: 100, Files: 2}); len(got) != len(all)-1 {
		t.Errorf("%d of %d steps change at most 2 files", len(got), len(all))
	}
	checkHistory(t, r, HistoryOptions{Count: 3, Files: 100})
	until, _ := object.ParseHash(side)
	if got := checkHistory(t, r, HistoryOptions{Count: 100, Files: 100, Until: until}); len(got) != 3 {
		t.Errorf("%d steps since the side line began", len(got))
	}

	// What was merged is older than where it should stop, which didn't have it.
	r.Git("checkout", "-q", "-b", "old", side)
	r.Write("old", "1\n")
	commit("older")
	r.Git("checkout", "-q", main)
	r.Write("a", "4\n")
	commit("younger")
	last, _ := object.ParseHash(strings.TrimSpace(r.Git("rev-parse", "HEAD")))
	clock++
	r.Git("merge", "-q", "-m", "old things", "old")
	got, err := open(t, r).History(t.Context(), HistoryOptions{Count: 100, Files: 100, Until: last})
	if err != nil || got.Until || len(got.Steps) != len(all)+2 {
		t.Errorf("%d steps, stopped %v, %v; want all %d", len(got.Steps), got.Until, err, len(all)+2)
	}
}
