package git

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
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
