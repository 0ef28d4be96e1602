package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func open(t testing.TB, r *gittest.Repo) *Repo {
	t.Helper()
	repo, err := Open(r.Dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// checkObjects compares every object of a repository with what git gives.
func checkObjects(t *testing.T, r *gittest.Repo, repo *Repo) {
	t.Helper()
	n := 0
	for line := range strings.Lines(r.Git("cat-file", "--batch-check", "--batch-all-objects")) {
		f := strings.Fields(line)
		hash, ok := object.ParseHash(f[0])
		if !ok {
			t.Fatal(line)
		}
		kind, data, err := repo.Objects.Read(hash)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if kind.String() != f[1] || fmt.Sprint(len(data)) != f[2] {
			t.Errorf("%s: got a %s of %d bytes", strings.TrimSpace(line), kind, len(data))
		}
		if got := strings.TrimSpace(r.GitIn(string(data), "hash-object", "-t", f[1], "--stdin")); got != f[0] {
			t.Errorf("%s has the hash %s", f[0], got)
		}
		n++
	}
	if n < 10 {
		t.Errorf("only %d objects were compared", n)
	}
}

func history(t testing.TB) *gittest.Repo {
	r := gittest.New(t)
	text := strings.Repeat("a line of the file\n", 300)
	for i := range 8 {
		r.Commit(fmt.Sprint("commit ", i), "a.txt", text+fmt.Sprint(i), fmt.Sprintf("d/%d", i), fmt.Sprint(i))
		text = strings.Replace(text, "a line", fmt.Sprint("line ", i), i+1)
	}
	r.Git("tag", "-a", "-m", "a tag", "v1")
	return r
}

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		name string
		args [][]string
	}{
		{"loose", nil},
		{"packed", [][]string{{"gc", "-q", "--aggressive"}}},
		{"packed by name of the base", [][]string{{"config", "repack.useDeltaBaseOffset", "false"}, {"repack", "-q", "-a", "-d", "-f"}}},
		{"an index of version 2", [][]string{{"config", "pack.indexVersion", "2"}, {"repack", "-q", "-a", "-d"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := history(t)
			repo := open(t, r)
			checkObjects(t, r, repo) // so that they are also found after they have moved
			for _, args := range c.args {
				r.Git(args...)
			}
			checkObjects(t, r, repo)
			checkObjects(t, r, open(t, r))
		})
	}
}

func TestObjectsBorrowed(t *testing.T) {
	r := history(t)
	r.Git("gc", "-q")
	clone := r.At(filepath.Join(filepath.Dir(r.Dir), "clone"))
	r.Git("clone", "-q", "--shared", r.Dir, clone.Dir)
	checkObjects(t, clone, open(t, clone))
}

func TestObjectsDamaged(t *testing.T) {
	r := history(t)
	repo := open(t, r)
	head := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	hash, _ := object.ParseHash(head)
	if _, err := repo.Objects.Commit(hash); err != nil {
		t.Fatal(err)
	}
	file := r.Path(".git/objects/" + head[:2] + "/" + head[2:])
	if err := ownfile.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"", "nonsense", "\x78\x9c\x03\x00"} {
		if err := ownfile.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := repo.Objects.Commit(hash); !errors.Is(err, gitfile.ErrCorrupt) || !strings.Contains(err.Error(), head) {
			t.Errorf("%q: %v", data, err)
		}
	}
	if _, _, err := repo.Objects.Read(plumbing.Hash{1}); !errors.Is(err, object.ErrMissing) {
		t.Errorf("an object that isn't there: %v", err)
	}

	r = history(t)
	r.Git("gc", "-q")
	packs, err := filepath.Glob(r.Path(".git/objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	good, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Chmod(packs[0], 0o600); err != nil {
		t.Fatal(err)
	}
	var oids []plumbing.Hash
	for line := range strings.Lines(r.Git("cat-file", "--batch-check", "--batch-all-objects")) {
		hash, _ := object.ParseHash(line[:40])
		oids = append(oids, hash)
	}
	for at := 12; at < len(good)-20; at += 7 {
		bad := append([]byte(nil), good...)
		bad[at] ^= 0x55
		if err := ownfile.WriteFile(packs[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		repo, wrong := open(t, r), 0
		for _, hash := range oids {
			if _, _, err := repo.Objects.Read(hash); err != nil {
				wrong++
			}
		}
		if wrong == 0 {
			t.Errorf("damage at %d is not noticed", at)
		}
	}
}

func TestResolve(t *testing.T) {
	r := history(t)
	r.Git("checkout", "-q", "-b", "side/way", "HEAD~3")
	r.Commit("aside", "x", "1")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "-m", "merge", "side/way")
	r.Git("tag", "light", "HEAD~2")
	r.Git("tag", "tag-of-tag", "v1")
	r.Git("branch", "beef")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD~1")
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	for _, packed := range []bool{false, true} {
		if packed {
			r.Git("gc", "-q")
		}
		repo := open(t, r)
		full := strings.TrimSpace(r.Git("rev-parse", "HEAD~4"))
		for _, rev := range []string{
			"HEAD", "@", "main", "refs/heads/main", "heads/main", "side/way", "v1", "light", "tag-of-tag", "origin", "origin/main",
			"HEAD~", "HEAD~1", "HEAD^", "HEAD^2", "HEAD^2~2", "HEAD^^", "HEAD~0", "HEAD^0", "v1~2", "@~3", "beef", "HEAD~3^1~1",
			full, full[:7], full[:8], full[:11], strings.ToUpper(full[:9]), full[:7] + "~1",
		} {
			want := strings.TrimSpace(r.Git("rev-parse", "--verify", rev+"^{commit}"))
			if got, err := repo.Resolve(rev); err != nil || got.String() != want {
				t.Errorf("%s: got %s, %v, want %s", rev, got, err, want)
			}
		}
		for _, rev := range []string{"nope", "HEAD~99", "HEAD^3", "main~1^2", full[:3], "0000000", strings.Repeat("0", 40), "HEAD~9999999999"} {
			if got, err := repo.Resolve(rev); !errors.Is(err, ErrNoSuchRev) {
				t.Errorf("%s: got %s, %v", rev, got, err)
			}
		}
		for _, rev := range []string{
			"", "-x", "--output=x", "a..b", "a...b", "HEAD@{1}", "@{-1}", "@{u}", ":/text", "HEAD:a.txt", "HEAD^{tree}", "a b", "a\nb", "a\x00b",
			"a\x1b[0m", "x?", "x*", "x[", `x\y`, "/etc/passwd", "../x", "a/../b", ".git", "a.lock", "a//b", "HEAD~x", "HEAD^-1", "HEAD~1x", strings.Repeat("a", 300), "^HEAD",
		} {
			if got, err := repo.Resolve(rev); !errors.Is(err, ErrRevision) {
				t.Errorf("%q: got %s, %v", rev, got, err)
			}
		}
	}
}
