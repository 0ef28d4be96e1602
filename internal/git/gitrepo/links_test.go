package gitrepo

import (
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// TestLinksInTheRepository: git writes through no link in .git, but through those that
// its own programs make.
func TestLinksInTheRepository(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"COMMIT_EDITMSG", "FETCH_HEAD", "logs", "logs/HEAD", "logs/refs/heads/new", "refs/heads/dir", "config.worktree", "lfs", "hooks", "refs/remotes/o/HEAD", "HEAD"} {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh("mkdir ../out; echo kept > ../out/file; git branch other; echo x > a.txt; git add a.txt; mkdir -p .git/refs/remotes/o")
			fine := false
			switch name {
			case "logs", "refs/heads/dir":
				w.sh("rm -rf .git/" + name + "; ln -s ../../../../out .git/" + name)
			case "refs/remotes/o/HEAD", "HEAD":
				w.sh("rm -f .git/" + name + "; ln -s refs/heads/master .git/" + name)
				fine = true
			case "lfs", "hooks":
				w.sh("rm -rf .git/" + name + "; ln -s ../../out .git/" + name)
				fine = true
			default:
				w.sh("rm -f .git/" + name + "; ln -s $PWD/../out/file .git/" + name)
			}
			_, err := w.Commit(ctx, "m", nil, "", nil)
			_, switched := w.SwitchBranch(ctx, "other")
			if fine && (err != nil || switched != nil) {
				t.Errorf("%v, %v", err, switched)
			}
			if !fine {
				for _, err := range []error{err, switched, w.CreateBranch(ctx, "new")} {
					if failureKind(err) != gitcmd.Unavailable || !strings.Contains(err.Error(), "is a link") {
						t.Errorf("%v", err)
					}
				}
				w.same("git symbolic-ref HEAD", "refs/heads/master")
			}
			if data, _ := os.ReadFile(w.path("../out/file")); string(data) != "kept\n" {
				t.Errorf("written: %q", data)
			}
			if entries, _ := os.ReadDir(w.path("../out")); len(entries) != 1 {
				t.Errorf("written: %v", entries)
			}
		})
	}
	t.Run("git-new-workdir", func(t *testing.T) {
		w := newWorld(t, Options{})
		w.sh("cd ..; mv work orig; mkdir -p work/.git/logs; for x in config refs logs/refs objects info hooks packed-refs remotes rr-cache svn; do ln -s $PWD/orig/.git/$x work/.git/$x; done; cp orig/.git/HEAD work/.git; cd work; git reset -q --hard; echo x > a.txt; git add a.txt")
		w.open(Options{})
		if _, err := w.Commit(ctx, "m", nil, "", nil); err != nil {
			t.Error(err)
		}
		w.sh("rm .git/refs; cp -r ../orig/.git/refs .git/refs; rm .git/packed-refs; mkdir -p ../x/objects ../x/refs; touch ../x/HEAD; ln -s $PWD/../out ../x/packed-refs; ln -s ../../x/packed-refs .git/packed-refs")
		if err := w.CreateBranch(ctx, "new"); failureKind(err) != gitcmd.Unavailable {
			t.Errorf("a link to a link: %v", err)
		}
	})
}
