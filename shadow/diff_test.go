package shadow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

func lines(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", prefix, i)
	}
	return b.String()
}

// work is what an agent does in a shadow: all kinds of changes, committed and
// not.
func work(t *testing.T, w interface {
	Write(...string)
	Git(...string) string
	Path(string) string
}) {
	t.Helper()
	w.Write("committed", "2\n")
	w.Git("add", "committed")
	w.Git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "inside")
	w.Git("mv", "renamed", "new name")
	w.Write("dir/other", "o\n")
	w.Git("mv", "edited and renamed", "dir/moved")
	w.Write("dir/moved", strings.Replace(lines("moved", 20), "moved 3\n", "changed\n", 1),
		"modified", "1\nx\n3\n", "no end", "without an end", "created", "c\n", "deep/er/created", "c\n", "empty", "", "binary", "\x00\x02",
		"a \"quoted\"\tname", "q\n", "crlf", "one\r\ntwo\r\n3\r\n", "ignored.log", "no\n", "forced.log", "yes\n")
	w.Git("add", "-f", "forced.log")
	for _, err := range []error{ownfile.Remove(w.Path("deleted")), ownfile.Chmod(w.Path("run"), 0o755), ownfile.Symlink("modified", w.Path("link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func workHouse(t *testing.T) *house {
	return newHouse(t, "committed", "1\n", "renamed", lines("renamed", 5), "edited and renamed", lines("moved", 20), "modified", "1\n2\n3\n", "no end", "with\n",
		"binary", "\x00\x01", "deleted", "d\n", "run", "r\n", "crlf", "one\r\ntwo\r\n", "same", "s\n", ".gitignore", "*.log\n")
}

// headings are what git puts behind the line numbers of a hunk, for people.
var headings = regexp.MustCompile(`(?m)^(@@ -\S+ \+\S+ @@).*$`)

// TestDiff compares the diff with git's own, of a tree that has everything.
func TestDiff(t *testing.T) {
	h := workHouse(t)
	s, w := h.create(shadow.CreateRequest{ID: "x"})
	work(t, w)
	d, err := h.Diff(context.Background(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gitDiff(h.At(s.Path), s.Base), d.Text); diff != "" {
		t.Errorf("-git +ours\n%s", diff)
	}
	kinds := map[string]string{}
	for _, f := range d.Files {
		kinds[f.Path] = fmt.Sprintf("%s %s +%d -%d", f.Kind, f.From, f.Added, f.Removed)
	}
	for path, want := range map[string]string{
		"committed": "modify  +1 -1", "new name": "rename renamed +0 -0", "dir/moved": "rename edited and renamed +1 -1", "modified": "modify  +1 -1",
		"created": "create  +1 -0", "empty": "create  +0 -0", "binary": "modify  +0 -0", "deleted": "delete  +0 -1", "run": "modify  +0 -0",
		"link": "create  +1 -0", "forced.log": "create  +1 -0", "crlf": "modify  +1 -0",
	} {
		if kinds[path] != want {
			t.Errorf("%s: %q, want %q", path, kinds[path], want)
		}
	}
	if list, err := h.List(context.Background()); err != nil || list[0].Changed == 0 {
		t.Errorf("%+v %v", list, err)
	}
}

// gitDiff stages everything and returns git's diff to the base.
func gitDiff(r *gittest.Repo, base string) string {
	r.Git("add", "-A")
	text := r.Git("-c", "core.quotePath=false", "diff", "--cached", "-M", "--full-index", base)
	text = regexp.MustCompile(`(?m)^index ([0-9a-f]{10})[0-9a-f]*\.\.([0-9a-f]{10})[0-9a-f]*`).ReplaceAllString(text, "index $1..$2")
	return headings.ReplaceAllString(text, "$1")
}

// TestDiffRandom does things at random in shadows, new ones and used ones, and
// compares the diff with git's.
func TestDiffRandom(t *testing.T) {
	slow.Test(t)
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
		name := func() string {
			return pick("", "a/", "a/b/", "c/", "c d/") + pick("f", "g", "x.go", "y.go", "ä", "n", ".hidden")
		}
		text := func() string {
			// git before 2.44 leaves a last line without an end out of its likeness.
			return lines(pick("one", "two", "three"), rnd.IntN(12)) + pick("", "end\n", "\x00\n", "crlf\r\n")
		}
		var files []string
		for range 25 {
			files = append(files, name(), text())
		}
		h := newHouse(t, append(files, ".gitignore", pick("*.go\n", "b/\n/c\n", "*\n!a\n!f\n", ""))...)
		for round := range 3 {
			s, w := h.create(shadow.CreateRequest{})
			for range 12 {
				at := name()
				switch rnd.IntN(9) {
				case 0:
					ownfile.RemoveAll(w.Path(at))
				case 1:
					ownfile.RemoveAll(w.Path(pick("a", "c", "a/b")))
				case 2:
					ownfile.Rename(w.Path(at), w.Path(name()))
				case 3:
					ownfile.Chmod(w.Path(at), 0o755)
				case 4:
					ownfile.Symlink(pick("f", "nowhere", "a"), w.Path(at))
				case 5:
					w.Git("add", "-A")
					w.Git("commit", "-q", "--allow-empty", "-m", "inside")
				case 6:
					w.Try("add", "-f", at)
				default:
					if ownfile.MkdirAll(filepath.Dir(w.Path(at)), 0o755) == nil {
						ownfile.WriteFile(w.Path(at), []byte(text()), 0o644)
					}
				}
			}
			d, err := h.Diff(context.Background(), s.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(gitDiff(h.At(s.Path), s.Base), d.Text); diff != "" {
				t.Fatalf("seed %d, round %d: -git +ours\n%s", seed, round, diff)
			}
			if _, err := h.Discard(context.Background(), s.ID); err != nil {
				t.Fatal(err)
			}
			h.Close()
		}
		h.sound()
	}
}

// TestDiffApplies: git apply makes of the base what the shadow has.
func TestDiffApplies(t *testing.T) {
	h := newHouse(t, "renamed", lines("renamed", 5), "modified", "1\n2\n3\n", "no end", "with\n", "deleted", "d\n", "run", "r\n", "crlf", "one\r\ntwo\r\n")
	s, w := h.create(shadow.CreateRequest{ID: "x"})
	w.Git("mv", "renamed", "new name")
	w.Write("modified", "1\nx\n3\n", "no end", "without", "deep/created", "c\n", "a \"q\"\tname", "q\n", "crlf", "one\r\n2\r\n")
	ownfile.Remove(w.Path("deleted"))
	ownfile.Chmod(w.Path("run"), 0o755)
	d, err := h.Diff(context.Background(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	h.GitIn(d.Text, "apply", "--index")
	w.Git("add", "-A")
	if got, want := h.Git("write-tree"), w.Git("write-tree"); got != want {
		t.Errorf("other trees after\n%s", d.Text)
	}
}

func TestDiffHides(t *testing.T) {
	h := newHouse(t, ".env", "KEY=old-secret\n", "plain", "1\n")
	s, w := h.create(shadow.CreateRequest{ID: "x"})
	w.Write(".env", "KEY=new-secret\n", "id_rsa", "private-secret\n", "plain", "shown\n")
	d, err := h.Diff(context.Background(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(d.Text, "-secret") || len(d.Files) != 3 || !strings.Contains(d.Text, "may hold secrets") {
		t.Errorf("got %s", d.Text)
	}
	if !strings.Contains(d.Text, "+shown") {
		t.Error("what is not secret is hidden too")
	}
	// A secret under another name is what a rename could show.
	w.Git("mv", "-f", ".env", "plain2")
	if d, err = h.Diff(context.Background(), s.ID); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(d.Text, "old-secret") {
		t.Errorf("got %s", d.Text)
	}
}

// TestUnknown: what is no shadow of this manager's is not touched.
func TestUnknown(t *testing.T) {
	h := newHouse(t, "a", "1\n")
	s, _ := h.create(shadow.CreateRequest{ID: "good"})
	h.Git("worktree", "add", "-q", "--detach", "../theirs")
	h.Git("worktree", "add", "-q", "--detach", ".sidecar/shadows/byhand")
	linked, _ := h.create(shadow.CreateRequest{ID: "linked"})
	ownfile.Rename(linked.Path, linked.Path+"-away")
	ownfile.Symlink(linked.Path+"-away", linked.Path)
	replaced, _ := h.create(shadow.CreateRequest{ID: "replaced"})
	ownfile.RemoveAll(replaced.Path)
	h.Write(".sidecar/shadows/replaced/mine", "1\n")
	stolen, _ := h.create(shadow.CreateRequest{ID: "stolen"})
	ownfile.WriteFile(stolen.Path+"/.git", []byte("gitdir: "+h.Path(".git/worktrees/good")+"\n"), 0o644)
	before := h.everything()
	ctx := context.Background()
	for _, id := range []string{"nothing", "theirs", "byhand", "linked", "replaced", "stolen", "../good", "", "."} {
		if _, err := h.Diff(ctx, id); err == nil {
			t.Errorf("diff of %q", id)
		}
		if _, err := h.Merge(ctx, id, h.main); err == nil {
			t.Errorf("merge of %q", id)
		}
		if _, err := h.Discard(ctx, id); err == nil {
			t.Errorf("discard of %q", id)
		}
		if _, err := h.Get(ctx, id); err == nil {
			t.Errorf("get of %q", id)
		}
	}
	if h.everything() != before {
		t.Error("something was changed")
	}
	list, err := h.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	usable := ""
	for _, s := range list {
		usable += fmt.Sprintln(s.ID, s.Damage == nil)
	}
	if usable != "good true\nlinked false\nreplaced false\nstolen false\n" {
		t.Errorf("list: %s", usable)
	}
	if _, err := h.Discard(ctx, s.ID); err != nil {
		t.Error(err)
	}
}

// TestDiscardSaysWhatIsLost names the commits that only the shadow has.
func TestDiscardSaysWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w func(args ...string) string)
		want int
	}{
		{"two commits", func(func(...string) string) {}, 2},
		{"on a branch", func(git func(...string) string) { git("branch", "kept") }, 0},
		{"one on a branch", func(git func(...string) string) { git("branch", "kept", "HEAD~1") }, 1},
		{"on a branch that is checked out", func(git func(...string) string) { git("switch", "-qc", "kept") }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, "a", "1\n")
			s, w := h.create(shadow.CreateRequest{})
			w.Commit("inside one", "a", "2\n")
			w.Commit("inside two", "a", "3\n")
			c.do(w.Git)
			d, err := h.Discard(context.Background(), s.ID)
			if err != nil || len(d.Commits) != c.want {
				t.Fatalf("%+v %v", d, err)
			}
			if c.want > 0 && !strings.HasSuffix(d.Commits[0], " inside two") {
				t.Errorf("%q", d.Commits)
			}
			h.sound()
		})
	}
}
