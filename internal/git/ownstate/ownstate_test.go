package ownstate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

const journal = ".sidecar/state/pending/pending.log"

// TestTracked: what git tracks in the server's directory is set aside with its text, in a folder below the top, too, by any
// spelling and in any kind of index; and what it does not track stays.
func TestTracked(t *testing.T) {
	for name, track := range map[string]func(r *gittest.Repo){
		"added":             func(r *gittest.Repo) { r.Git("add", "-f", "sub/"+journal) },
		"committed":         func(r *gittest.Repo) { r.Git("add", "-f", "sub/"+journal); r.Git("commit", "-qm", "x") },
		"meant to be added": func(r *gittest.Repo) { r.Git("add", "-N", "-f", "sub/"+journal) },
		"split index": func(r *gittest.Repo) {
			r.Git("add", "-f", "sub/"+journal)
			r.Git("commit", "-qm", "x")
			r.Git("update-index", "--split-index")
		},
		"version 4": func(r *gittest.Repo) { r.Git("add", "-f", "sub/"+journal); r.Git("update-index", "--index-version=4") },
		"in letters of another case": func(r *gittest.Repo) {
			r.Git("update-index", "--add", "--cacheinfo", "100644,"+strings.TrimSpace(r.Git("hash-object", "-w", "sub/"+journal))+",Sub/.Sidecar/STATE/pending/pending.log")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("sub/"+journal, "evil", "sub/.sidecar/state/runs/mine.jsonl", "mine", "sub/a", "a")
			r.Git("add", "sub/a")
			track(r)
			said, err := SetAside(statedir.Dir(r.Path("sub")), gitrepo.Options{})
			if err != nil || len(said) != 1 || !strings.Contains(said[0], "git tracks it") {
				t.Fatalf("%q %v", said, err)
			}
			has(t, r.Path("sub"), journal, "", ".sidecar/set-aside-1/state/pending/pending.log", "evil", ".sidecar/state/runs/mine.jsonl", "mine")
			if said, err := SetAside(statedir.Dir(r.Path("sub")), gitrepo.Options{}); err != nil || said != nil {
				t.Errorf("again: %q %v", said, err)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		r := gittest.New(t)
		r.Write(journal, "mine", ".sidecar/settings.json", "{}", ".sidecar/statement", "s")
		r.Git("add", "-f", ".sidecar/settings.json", ".sidecar/statement")
		if said, err := SetAside(statedir.Dir(r.Dir), gitrepo.Options{}); err != nil || said != nil {
			t.Errorf("%q %v", said, err)
		}
		has(t, r.Dir, journal, "mine", ".sidecar/settings.json", "{}", ".sidecar/statement", "s")
	})
	t.Run("a submodule", func(t *testing.T) {
		r := gittest.New(t)
		r.Commit("x", "a", "a")
		r.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(r.Git("rev-parse", "HEAD"))+",.sidecar")
		r.Write(journal, "evil")
		if said, err := SetAside(statedir.Dir(r.Dir), gitrepo.Options{}); err != nil || len(said) != 1 {
			t.Errorf("%q %v", said, err)
		}
		has(t, r.Dir, journal, "", ".sidecar/set-aside-1/state/pending/pending.log", "evil")
	})
	t.Run("no repository", func(t *testing.T) {
		dir := t.TempDir()
		if said, err := SetAside(statedir.Dir(dir), gitrepo.Options{}); err != nil || said != nil {
			t.Errorf("%q %v", said, err)
		}
	})
}

// TestAnotherOwner: what another user wrote is set aside, a directory with all that is in it. Only root can make that.
func TestAnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Skip(t, needs.OtherUser, "files of another user can't be made")
	}
	dir := t.TempDir()
	write(t, dir, journal, "evil", ".sidecar/state/runs/a.jsonl", "evil", ".sidecar/state/runs/b.jsonl", "mine", ".sidecar/logs/audit.jsonl", "evil", ".sidecar/state/x", "mine")
	for _, name := range []string{journal, ".sidecar/state/runs", ".sidecar/logs/audit.jsonl"} {
		if err := ownfile.Chown(filepath.Join(dir, name), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	said, err := SetAside(statedir.Dir(dir), gitrepo.Options{})
	if err != nil || len(said) != 3 || !strings.Contains(strings.Join(said, "\n"), "another user wrote it") {
		t.Fatalf("%q %v", said, err)
	}
	to := ".sidecar/set-aside-1/"
	has(t, dir, journal, "", to+"state/pending/pending.log", "evil", to+"state/runs/a.jsonl", "evil", to+"state/runs/b.jsonl", "mine", to+"logs/audit.jsonl", "evil", ".sidecar/state/x", "mine")
}

// TestKinds: links and what is no file are set aside as they are, and a place that is no directory.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	decoy := filepath.Join(t.TempDir(), "decoy")
	if err := ownfile.WriteFile(decoy, []byte("decoy"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".sidecar/state/pending/lock", "1", ".sidecar/logs", "a file", ".sidecar/set-aside-1", "in the way")
	if err := ownfile.Symlink(decoy, filepath.Join(dir, journal)); err != nil {
		needs.Skip(t, needs.Links, "there are no links: ", err)
	}
	said, err := SetAside(statedir.Dir(dir), gitrepo.Options{})
	if err != nil || len(said) != 2 {
		t.Fatalf("%q %v", said, err)
	}
	has(t, dir, journal, "", ".sidecar/logs", "", ".sidecar/set-aside-2/state/pending/pending.log", "decoy", ".sidecar/set-aside-2/logs", "a file", ".sidecar/state/pending/lock", "1")
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// has compares files with texts; "": there is none.
func has(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		data, err := os.ReadFile(filepath.Join(dir, files[i]))
		if string(data) != files[i+1] || (err == nil) != (files[i+1] != "") {
			t.Errorf("%s has %q, %v; want %q", files[i], data, err, files[i+1])
		}
	}
}

// TestAsksTheGitItIsGiven: an index that only git can read is listed by the git of the
// caller, from where the caller takes programs.
func TestAsksTheGitItIsGiven(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "sub/"+journal, "x\n")
	r.Git("update-index", "--split-index")
	dir := statedir.Dir(r.Path("sub"))
	if said, err := SetAside(dir, gitrepo.Options{Git: filepath.Join(r.Dir, "no-such-git")}); err == nil {
		t.Errorf("another git was asked: %q", said)
	}
	if said, err := SetAside(dir, gitrepo.Options{}); err != nil || len(said) != 1 {
		t.Errorf("%q, %v", said, err)
	}
}
