package git

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// layer is a workspace.Layer: nil is a file that is hidden.
type layer map[string][]byte

func (l layer) Lookup(name string) (data []byte, deleted, ok bool) {
	data, ok = l[name]
	return data, ok && data == nil, ok
}

func (l layer) Names() []string { return slices.Sorted(maps.Keys(l)) }

// TestPendingBelow: the workspace is a part of the repository, or has it as one
// of several roots.
func TestPendingBelow(t *testing.T) {
	r, other := sample(t), sample(t)
	over := layer{"b.txt": []byte("B\n"), "c.txt": nil, "n/new.txt": []byte("new\n")}
	below := workspace.NewOverlay(view(t, r.Path("d")), over)
	check(t, below, "git_status", `{}`, "on branch main\nnothing to commit, the working tree is clean\n")
	check(t, below, "git_status", `{"pending":true}`, "on branch main\nNot staged (2):\n  M b.txt\n  D c.txt\nUntracked (1):\n  n/\n")
	if text := mustCall(t, below, "git_diff", `{"pending":true,"path":"b.txt"}`).Text; !strings.Contains(text, "1 file differs, +1 -1 lines") || !strings.Contains(text, "--- a/d/b.txt") {
		t.Error(text)
	}
	name := func(dir string) string { return filepath.Base(dir) }
	two := t.TempDir()
	roots := map[string][]byte{}
	for file, text := range over {
		roots[name(r.Dir)+"/d/"+file] = text
	}
	roots["plain/x"] = []byte("x")
	files := workspace.NewOverlay(viewNamed(t, map[string]string{name(r.Dir): r.Dir, "plain": two, "other": other.Dir}), layer(roots))
	if text := mustCall(t, files, "git_diff", `{"pending":true,"path":"other"}`).Text; !strings.Contains(text, "no differences") {
		t.Error(text)
	}
	if text := mustCall(t, files, "git_diff", `{"pending":true,"path":"`+name(r.Dir)+`"}`).Text; !strings.Contains(text, "3 files differ") || strings.Contains(text, "plain") {
		t.Error(text)
	}
}

func viewNamed(t *testing.T, dirs map[string]string) workspace.Files {
	t.Helper()
	var folders []workspace.Folder
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		folders = append(folders, workspace.Folder{Name: name, Dir: dirs[name]})
	}
	disk, err := workspace.OpenDisk(folders, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return disk
}

// gate has the commits that a call makes.
type gate struct {
	tools.Gate
	made []workspace.Commit
}

func (g *gate) WroteOutput(int)               {}
func (g *gate) MadeCommit(c workspace.Commit) { g.made = append(g.made, c) }

// Where edits wait for review, git_commit makes a commit of them that waits with them. What
// is staged is committed as everywhere, and where nothing waits there is nothing to commit.
func TestCommitHeld(t *testing.T) {
	run := func(files workspace.Files, held bool, name, args string) (tools.Result, *gate, error) {
		t.Helper()
		list := Tools(deps(gitrepo.Options{}))
		i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == name })
		b, err := list[i].Bind(json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Plan(t.Context(), files); err != nil {
			t.Fatal(err)
		}
		g := &gate{}
		r, _, err := b.Run(t.Context(), &tools.Call{ID: "1", Session: "s", Files: files, Held: held, Gate: g})
		return r, g, err
	}
	r := sample(t)
	over := workspace.NewOverlay(view(t, r.Path("d")), layer{"b.txt": []byte("B\n"), "c.txt": nil, "n/new.txt": []byte("new\n")})
	head := r.Git("rev-parse", "HEAD")
	if res, _, err := run(over, true, "git_stage", `{}`); err != nil || !strings.Contains(res.Text, "git_commit makes a commit of b.txt, c.txt, n/new.txt, which waits with them") {
		t.Errorf("git_stage: %q, %v", res.Text, err)
	}
	r.Write("d/b.txt", "the user's own\n")
	for _, held := range []bool{true, false} { // without review it is what the disk has
		_, _, err := run(over, held, "git_stage", `{"files":["b.txt"]}`)
		if staged := r.Git("diff", "--cached", "--name-only"); err != nil || (staged == "") != held {
			t.Errorf("held %v: staged %q, %v", held, staged, err)
		}
	}
	r.Git("reset", "-q", "--hard")
	res, g, err := run(over, true, "git_commit", `{"message":"Change b"}`)
	if err != nil || len(g.made) != 1 || g.made[0].Message != "Change b" || res.Text != "Files (3):\n  modified b.txt\n  deleted c.txt\n  added n/new.txt\n" {
		t.Fatalf("%q, %+v, %v", res.Text, g.made, err)
	}
	if f := g.made[0].Files; string(f[0].After) != "B\n" || f[1].After != nil || f[2].Path != "n/new.txt" || f[2].Mode != 0o644 {
		t.Errorf("%+v", f)
	}
	if now := r.Git("rev-parse", "HEAD"); now != head {
		t.Error("the user's repository has a commit")
	}
	for name, one := range map[string]struct {
		files workspace.Files
		held  bool
	}{"nothing waits": {view(t, r.Path("d")), true}, "edits don't wait": {over, false}} {
		if _, g, err := run(one.files, one.held, "git_commit", `{"message":"x"}`); err == nil || len(g.made) > 0 || !strings.Contains(err.Error(), "nothing is staged") {
			t.Errorf("%s: %v, %+v", name, err, g.made)
		}
	}
}
