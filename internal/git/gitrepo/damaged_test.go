package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// renameInIndex changes a name in the index file and nothing else, as a bad
// disk would: what git doesn't notice.
func (w *world) renameInIndex(from, to string) {
	w.t.Helper()
	w.write(".git/index", strings.Replace(w.read(".git/index"), from, to, 1))
}

// writing are the operations that go by the index.
var writing = []struct {
	name string
	do   func(context.Context, *Repo) error
}{
	{"stage", func(ctx context.Context, r *Repo) error { _, err := r.Stage(ctx, StageRequest{}); return err }},
	{"stage a file", func(ctx context.Context, r *Repo) error {
		_, err := r.Stage(ctx, StageRequest{Paths: []string{"a.txt"}})
		return err
	}},
	{"commit", func(ctx context.Context, r *Repo) error { _, err := r.Commit(ctx, "m", nil, "", nil); return err }},
	{"commit paths", func(ctx context.Context, r *Repo) error {
		_, err := r.CommitPaths(ctx, CommitRequest{Message: "m", Paths: []PathState{{Path: "a.txt", Current: true}}})
		return err
	}},
	{"write a tree", func(ctx context.Context, r *Repo) error { _, err := r.StagedTree(ctx); return err }},
	{"switch", func(ctx context.Context, r *Repo) error { _, err := r.SwitchBranch(ctx, "other"); return err }},
	{"stash push", func(ctx context.Context, r *Repo) error { _, err := r.StashPush(ctx, "", ""); return err }},
	{"stash apply", func(ctx context.Context, r *Repo) error { _, err := r.StashApply(ctx, 0, false); return err }},
	{"stash pop", func(ctx context.Context, r *Repo) error { _, err := r.StashApply(ctx, 0, true); return err }},
	{"pull", func(ctx context.Context, r *Repo) error { _, err := r.Pull(ctx, nil, nil, nil); return err }},
}

// TestDamagedIndex: nothing is made of an index that is damaged, also where git
// itself would.
func TestDamagedIndex(t *testing.T) {
	const setup = `git branch other; echo s >> b.txt; git stash -q
git clone -q --bare . ../remote; git remote add origin ../remote; git fetch -q; git branch -q -u origin/master
echo x >> a.txt; git add a.txt; echo y >> a.txt`
	for _, format := range []string{"sha1", "sha256"} {
		for _, op := range writing {
			if format == "sha256" && op.name != "commit" {
				continue // of the checksum one is enough
			}
			t.Run(format+" "+op.name, func(t *testing.T) {
				w := newWorld(t, Options{})
				w.sh("rm -rf .git; git init -q --object-format=" + format + "; git add .; git commit -qm first\n" + setup)
				w.Repo, _ = Open(w.path(""), Options{})
				state := func() string {
					return w.sh("git for-each-ref; git rev-parse HEAD; git symbolic-ref HEAD; cat .git/index a.txt b.txt | git hash-object --stdin --no-filters; ls")
				}
				whole := w.read(".git/index")
				w.renameInIndex("b.txt", "c.txt")
				before := state()
				err := op.do(t.Context(), w.Repo)
				var f *gitcmd.Failure
				if !errors.As(err, &f) || !strings.Contains(f.Text, "index of the repository is damaged, so nothing was done") || !strings.Contains(f.Text, "run git reset") {
					t.Errorf("got %v", err)
				}
				if after := state(); after != before {
					t.Errorf("something was done:\n%s\nwas\n%s", after, before)
				}
				// What helps is what the error says.
				w.sh("mv .git/index .git/damaged; git reset -q; git checkout -q b.txt")
				if got := w.read("a.txt"); got != "one\nx\ny\n" {
					t.Errorf("a.txt is %q", got)
				}
				// And the index as it was does.
				w.write(".git/index", whole)
				if err := op.do(t.Context(), w.Repo); errors.As(err, &f) && strings.Contains(f.Text, "damaged") {
					t.Errorf("the whole index: %v", err)
				}
			})
		}
	}
	// The control: git makes a commit of it.
	w := newWorld(t, Options{})
	w.sh("echo x >> a.txt; git add a.txt")
	w.renameInIndex("b.txt", "c.txt")
	w.sh("git commit -qm damaged")
	if got := w.sh("git ls-tree --name-only HEAD"); got != "a.txt\nc.txt" {
		t.Errorf("git's commit has %q, so the cases show nothing", got)
	}
}

// TestDamagedIndexIsRead: what only reads says so too.
func TestDamagedIndexIsRead(t *testing.T) {
	w := newWorld(t, Options{})
	w.sh("echo x >> a.txt; git add a.txt")
	whole := []byte(w.read(".git/index"))
	for at := 0; at < len(whole); at += 7 {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x10
		if err := ownfile.WriteFile(w.path(".git/index"), bad, 0o644); err != nil {
			t.Fatal(err)
		}
		w.Repo, _ = Open(w.path(""), Options{}) // a stamp doesn't tell what is done to it here
		if _, err := w.Status(t.Context(), StatusOptions{}); err == nil {
			t.Fatalf("byte %d: a status was given", at)
		}
		if _, err := w.Diff(t.Context(), DiffOptions{Staged: true}); err == nil {
			t.Fatalf("byte %d: a diff was given", at)
		}
		if _, err := w.Commit(t.Context(), "m", nil, "", nil); err == nil {
			t.Fatalf("byte %d: a commit was made", at)
		}
	}
	if err := ownfile.WriteFile(w.path(".git/index"), whole, 0o644); err != nil {
		t.Fatal(err)
	}
	w.Repo, _ = Open(w.path(""), Options{})
	if _, err := w.Commit(t.Context(), "m", nil, "", nil); err != nil {
		t.Error(err)
	}
}
