//go:build unix

package review_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/batchcommit"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/repos"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// stateFiles are names that the server reads in its own directory.
var stateFiles = []string{
	"state", "state/pending", "state/pending/pending.log", "state/pending/pending.log.new", "state/pending/lock",
	"state/apply", "state/apply/apply-0123456789abcdef.journal", "state/apply/apply-0123456789abcdef.note", "state/commands", "state/commands/1.json",
	"state/runs", "state/runs/.lock", "state/runs/r1.jsonl", "state/runs/r1.ended.jsonl", "state/runs/r1.before.jsonl", "state/show", "state/shadows", "state/shadows/x.lock",
	"logs", "logs/audit-000001.jsonl", "logs/lock", "cache", "cache/knowledge", "shadows",
}

// plants are what may be there instead.
var plants = map[string]func(t *testing.T, at, decoy string) error{
	"garbage": func(_ *testing.T, at, _ string) error {
		return ownfile.WriteFile(at, []byte("\x00\xffgarbage\n{]\n"), 0o600)
	},
	"a cut line": func(_ *testing.T, at, _ string) error {
		return ownfile.WriteFile(at, []byte(`{"seq":1,"kind":"st`), 0o600)
	},
	"a cut header": func(_ *testing.T, at, _ string) error { return ownfile.WriteFile(at, []byte("SPE1\x10"), 0o600) },
	"null":         func(_ *testing.T, at, _ string) error { return ownfile.WriteFile(at, []byte("null\n"), 0o600) },
	"nothing":      func(_ *testing.T, at, _ string) error { return ownfile.WriteFile(at, nil, 0o600) },
	"16 GB": func(_ *testing.T, at, _ string) error {
		return errors.Join(ownfile.WriteFile(at, nil, 0o600), ownfile.Truncate(at, 16<<30))
	},
	"a directory":   func(_ *testing.T, at, _ string) error { return ownfile.MkdirAll(filepath.Join(at, "x/y"), 0o700) },
	"a pipe":        func(_ *testing.T, at, _ string) error { return syscall.Mkfifo(at, 0o600) },
	"a link":        func(_ *testing.T, at, decoy string) error { return ownfile.Symlink(decoy, at) },
	"a broken link": func(_ *testing.T, at, decoy string) error { return ownfile.Symlink(decoy+".gone", at) },
	"tracked": func(t *testing.T, at, _ string) error {
		root, _, _ := strings.Cut(at, "/.sidecar/")
		gittest.Isolate(t)
		r := gittest.New(t).At(root)
		if r.Git("init", "-q"); filepath.Ext(at) == "" {
			at += "/x"
		}
		rel, err := filepath.Rel(root, at)
		if err == nil {
			r.Write(filepath.ToSlash(rel), "evil\n")
			r.Git("add", "-f", filepath.ToSlash(rel))
		}
		return err
	},
	"another user's": func(t *testing.T, at, _ string) error {
		if os.Geteuid() != 0 {
			needs.Skip(t, needs.OtherUser, "files of another user can't be made")
		}
		return errors.Join(ownfile.WriteFile(at, []byte("evil\n"), 0o644), ownfile.Chown(at, 12345, 12345))
	},
}

// TestAnyState: the server and the command line start whatever is in their directory, review goes on, and nothing is
// written by a link. What keeps the queue closed says so: links in the place of directories.
func TestAnyState(t *testing.T) {
	slow.Test(t)
	tried, closed := 0, 0
	try := func(t *testing.T, name string, plant func(t *testing.T, at, decoy string) error) {
		e2e.Home(t)
		dir := e2e.Project(t, map[string]string{"a.txt": "a\n"})
		decoys := t.TempDir()
		decoy := filepath.Join(decoys, "decoy")
		if err := ownfile.WriteFile(decoy, []byte("decoy\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		isLink := false
		if plant != nil {
			at := filepath.Join(dir, ".sidecar", name)
			if err := errors.Join(ownfile.MkdirAll(filepath.Dir(at), 0o700), plant(t, at, decoy)); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(at)
			isLink = err == nil && info.Mode()&fs.ModeSymlink != 0
		}
		tried++
		r := e2e.Connect(t, dir, fakeeditor.Options{})
		r.Mode("review")
		if res := r.Tool("read_file", e2e.Object{"path": "a.txt"}); !res.OK {
			t.Errorf("a file can't be read: %s", res.Content)
		}
		res := r.Tool("write_file", e2e.Object{"path": "b.txt", "content": "b\n"})
		if refused := !res.OK && strings.Contains(res.Content, "is a link"); refused && isLink {
			closed++
		} else if !res.OK {
			t.Errorf("an edit does not wait: %s", res.Content)
		} else if list := r.Pending(); len(list.Edits) != 1 {
			t.Errorf("an edit does not wait: %s %+v", res.Content, list)
		}
		for _, command := range []string{"sidecar.agent.runs", "sidecar.shadow.list", "sidecar.review.history"} {
			var any any
			_ = r.ExecuteCommand(t.Context(), command, nil, &any) // an answer or an error: it does not hang
		}
		if out, stderr, code := e2e.RunCLI(t, "", "review", "list", "--root", dir); code > 1 {
			t.Errorf("review list ended with %d: %s%s", code, out, stderr)
		}
		if data, err := os.ReadFile(decoy); err != nil || string(data) != "decoy\n" {
			t.Errorf("the decoy has %q, %v", data, err)
		}
		if list, err := os.ReadDir(decoys); err != nil || len(list) != 1 {
			t.Errorf("beside the decoy there is %v, %v", list, err)
		}
	}
	t.Run("control", func(t *testing.T) { try(t, "", nil) })
	for _, name := range stateFiles {
		for what, plant := range plants {
			t.Run(name+" is "+what, func(t *testing.T) { try(t, name, plant) })
		}
	}
	t.Logf("%d directories, with %d of them the queue was closed with words", tried, closed)
}

// TestStartsInTheMiddleOfACommit: the server and the command line start where a process died while an accepted commit was
// made, and all that is pending is there. Such a journal that came with a clone is set aside, and said.
func TestStartsInTheMiddleOfACommit(t *testing.T) {
	e2e.Home(t)
	r := gittest.New(t)
	r.Commit("first", "a.txt", "a\n", "b.txt", "b\n")
	state := filepath.Join(t.TempDir(), "pending")
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: r.Dir}}, workspace.DiskOptions{StateDir: filepath.Join(t.TempDir(), "apply")})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	log := ""
	store, err := pendingedits.Open(state, disk, pendingedits.Options{
		Commits: batchcommit.New(r.Dir, &repos.Repos{Options: gitrepo.Options{Trusted: func() bool { return false }}, Shadow: func(string) string { return "" }}, disk, nil),
		Fail: func(point string) error {
			if point != "commit.run" {
				return nil
			}
			data, err := os.ReadFile(filepath.Join(state, "pending.log"))
			log = string(data)
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	batch := pendingedits.Proposer{Session: "agent", Tool: "edit", Batch: true}
	if err := store.For(batch).Apply(t.Context(), workspace.Change{Path: "a.txt", Before: []byte("a\n"), After: []byte("A\n")}); err != nil {
		t.Fatal(err)
	}
	if err := store.For(pendingedits.Proposer{Session: "other"}).Apply(t.Context(), workspace.Change{Path: "b.txt", Before: []byte("b\n"), After: []byte("B\n")}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.QueueCommit(t.Context(), batch, "of the batch", nil, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Accept(t.Context(), pendingedits.Selection{Session: "agent"}); err != nil || log == "" {
		t.Fatal(err, len(log))
	}
	for _, tracked := range []bool{false, true} {
		w := gittest.New(t)
		w.Commit("first", "a.txt", "A\n", "b.txt", "b\n", ".sidecar/.gitignore", "*\n")
		w.Write(".sidecar/state/pending/pending.log", log)
		if tracked {
			w.Git("add", "-f", ".sidecar/state")
		}
		want := 1
		if tracked {
			want = 0
		}
		out, stderr, code := e2e.RunCLI(t, "", "review", "list", "--root", w.Dir)
		if code != 0 || strings.Contains(out, "b.txt") == tracked || strings.Contains(stderr, "git tracks it") != tracked {
			t.Errorf("tracked %v: review list ended with %d: %s%s", tracked, code, out, stderr)
		}
		s := e2e.Connect(t, w.Dir, fakeeditor.Options{})
		if list := s.Pending(); len(list.Edits) != want {
			t.Errorf("tracked %v: %+v", tracked, list)
		}
		aside, err := os.ReadFile(w.Path(".sidecar/set-aside-1/state/pending/pending.log"))
		if (err == nil) != tracked || tracked && string(aside) != log {
			t.Errorf("tracked %v: set aside %d bytes, %v", tracked, len(aside), err)
		}
	}
}
