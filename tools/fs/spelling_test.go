package fs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestOtherSpellings names files otherwise than they are called, where that is the
// same and where it is not.
func TestOtherSpellings(t *testing.T) {
	files := map[string]string{"Dir/a.txt": "one\n", "b.txt": "two\n"}
	fold := func(f workspace.Folding) *tools.Call {
		return projectIn(t, t.TempDir(), workspace.DiskOptions{Folding: func(string) workspace.Folding { return f }}, files)
	}
	change := func(path, from, before, after string) []workspace.Change {
		c := workspace.Change{Path: path, From: from}
		if before != "" {
			c.Before = []byte(before)
		}
		if after != "" {
			c.After = []byte(after)
		}
		return []workspace.Change{c}
	}
	both := strings.Join([]string{
		"--- a/dir/A.TXT", "+++ b/dir/A.TXT", "@@ -1 +1 @@", "-one", "+1",
		"--- /dev/null", "+++ b/n.txt", "@@ -0,0 +1 @@", "+n",
		"--- a/N.txt", "+++ b/N.txt", "@@ -1 +1 @@", "-n", "+N", "",
	}, "\n")
	rename := "diff --git a/b.txt b/B.txt\nsimilarity index 100%\nrename from b.txt\nrename to B.txt\n"
	for _, c := range []struct {
		name, tool string
		args       map[string]any
		says       string
		want       []workspace.Change
	}{
		{"edit", "edit_file", map[string]any{"path": "dir/A.TXT", "search": "one", "replace": "1"}, "Dir/a.txt", change("Dir/a.txt", "", "one\n", "1\n")},
		{"write", "write_file", map[string]any{"path": "B.TXT", "content": "2\n"}, "b.txt", change("b.txt", "", "two\n", "2\n")},
		{"create", "write_file", map[string]any{"path": "DIR/c.txt", "content": "3\n"}, "Dir/c.txt", change("Dir/c.txt", "", "", "3\n")},
		{"delete", "delete_file", map[string]any{"path": "B.TXT"}, "b.txt", change("b.txt", "", "two\n", "")},
		{"move", "move_file", map[string]any{"from": "B.TXT", "to": "dir/b.txt"}, "Dir/b.txt", change("Dir/b.txt", "b.txt", "two\n", "two\n")},
		{"respell", "move_file", map[string]any{"from": "b.txt", "to": "B.txt"}, "B.txt", change("B.txt", "b.txt", "two\n", "two\n")},
		{"respell in a patch", "apply_patch", map[string]any{"patch": rename}, "B.txt", change("B.txt", "b.txt", "two\n", "two\n")},
		{"patch", "apply_patch", map[string]any{"patch": both}, "Dir/a.txt", append(change("Dir/a.txt", "", "one\n", "1\n"), change("n.txt", "", "", "N\n")...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, changes, err := run(t, fold(workspace.Folding{Case: true}), c.tool, encoded(t, c.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, changes); diff != "" || !strings.Contains(r.Text, c.says) {
				t.Errorf("it says %s (-want +got)\n%s", r.Text, diff)
			}
			if c.name == "respell" || folded.Is(t, t.TempDir()) {
				return
			}
			if _, changes, _ := run(t, fold(workspace.Folding{}), c.tool, encoded(t, c.args)); cmp.Equal(c.want, changes) && c.name != "respell in a patch" {
				t.Errorf("control: where these are two files, the changes are %v", changes)
			}
		})
	}
	_, _, err := run(t, fold(workspace.Folding{Case: true}), "move_file", `{"from":"b.txt","to":"DIR/a.txt"}`)
	wantError(t, err, tools.AlreadyExists, "Dir/a.txt")
	_, _, err = run(t, fold(workspace.Folding{Case: true}), "move_file", `{"from":"Dir/a.txt","to":"dir/a.txt"}`)
	wantError(t, err, tools.InvalidArguments, "same file")
}

// TestExecutable makes a program where files have a mode, and where they have none.
func TestExecutable(t *testing.T) {
	changes := []workspace.Change{{Path: "a"}, {Path: "run.sh", Mode: 0o755}, {Path: "b", Mode: 0o644}}
	if notes := withoutExec(changes, true); len(notes) > 0 {
		t.Errorf("control: %q", notes)
	}
	if notes := withoutExec(changes, false); len(notes) != 1 || !strings.HasPrefix(notes[0], "run.sh is not made executable") {
		t.Errorf("it says %q", notes)
	}
	wantError(t, modesKept("a", false), tools.InvalidArguments, "no modes on this system")
	wantError(t, modesKept("a", true), tools.InvalidArguments, "chmod")
	added := "diff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1 @@\n+true\n"
	r, _, err := run(t, project(t, nil), "apply_patch", encoded(t, map[string]any{"patch": added}))
	if err != nil || strings.Contains(r.Text, "not made executable") == workspace.KeepsExec {
		t.Errorf("it says %s, %v", r.Text, err)
	}
}
