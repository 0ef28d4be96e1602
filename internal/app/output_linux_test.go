package app_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

type outputReply struct {
	Entries  []workspace.Held `json:"entries"`
	Accepted int              `json:"accepted"`
	Left     []string         `json:"left"`
}

func (r *rig) output(arg object) outputReply {
	r.t.Helper()
	var reply outputReply
	if err := r.ExecuteCommand(r.t.Context(), "sidecar.review.output", arg, &reply); err != nil {
		r.t.Fatal(err)
	}
	return reply
}

// gone reports whether the disk has nothing at a name.
func (r *rig) gone(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, name))
	return errors.Is(err, fs.ErrNotExist)
}

// TestReviewOutput: in the modes that hold edits a command's output is held, a person
// decides about it, and tests over pending edits leave none; in the others it goes to the
// disk, and what programs obey in it is asked about.
func TestReviewOutput(t *testing.T) { eachWorld(t, testReviewOutput) }

func testReviewOutput(t *testing.T, kind string) {
	files := map[string]string{".gitignore": "build/\ndata/\n", "a.txt": "a\n", "data/d": "d\n"}
	const line = "mkdir -p build/.vscode node_modules/.bin; echo made > build/x; echo evil > build/.vscode/tasks.json; echo evil > node_modules/.bin/eslint; chmod +x node_modules/.bin/eslint; rm -rf data"
	for _, mode := range []string{"review", "audit"} {
		r := worldRig(t, kind, files)
		r.mode(mode)
		r.ran(line, "Output held for review: ")
		if !r.gone("build") || !r.gone("node_modules") || r.file("data/d") != "d\n" {
			t.Errorf("%s: output is on the disk", mode)
		}
		r.ran("cat build/x; ls data 2>&1 || true", "made\n")
	}

	r := worldRig(t, kind, files)
	r.mode("review")
	if res := r.call("write_file", object{"path": "a.txt", "content": "b\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	var v verified
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.verify", object{"command": line + "; exit 0"}, &v); err != nil {
		t.Fatal(err)
	}
	if got := r.output(object{"action": "list"}); len(got.Entries) != 0 || !r.gone("node_modules") || r.file("data/d") != "d\n" {
		t.Errorf("a test of pending edits left %+v", got.Entries)
	}
	for _, bad := range []object{{}, {"action": "Accept"}, {"action": "list", "x": 1}} {
		if err := r.ExecuteCommand(t.Context(), "sidecar.review.output", bad, nil); err == nil || !strings.Contains(err.Error(), "action") && !strings.Contains(err.Error(), "x") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	r.ran(line)
	var other struct {
		Session string `json:"session"`
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.session.open", object{"mode": "review"}, &other); err != nil {
		t.Fatal(err)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.session.close", object{"session": other.Session}, nil); err != nil {
		t.Fatal(err)
	}
	if kind == "overlay" { // a copy has it until the session ends
		list := r.output(object{"action": "list"}).Entries
		if len(list) != 1 || list[0].Session != "default" || !slices.Contains(list[0].Protected, "build/.vscode/tasks.json") || !slices.Contains(list[0].Programs, "node_modules/.bin/eslint") || !slices.Contains(list[0].Deleted, "data") {
			t.Errorf("held are %+v", list)
		}
		if got := r.output(object{"action": "drop", "session": "nobody"}); len(got.Entries) != 1 {
			t.Errorf("dropping nobody's left %+v", got.Entries)
		}
		got := r.output(object{"action": "accept", "session": "default"})
		if got.Accepted < 3 || len(got.Entries)+len(got.Left) != 0 || r.file("build/x") != "made\n" || r.file("node_modules/.bin/eslint") != "evil\n" || !r.gone("data") {
			t.Errorf("accepted: %+v", got)
		}
		r.ran("echo more > build/y")
		if got := r.output(object{"action": "drop"}); len(got.Entries) != 0 || !r.gone("build/y") {
			t.Errorf("dropped: %+v", got)
		}
	}

	r = worldRig(t, kind, files)
	r.mode("autonomous")
	r.ran(line)
	if r.file("build/x") != "made\n" || !r.gone("build/.vscode") {
		t.Errorf("where edits are applied, the disk has build/.vscode: %v", !r.gone("build/.vscode"))
	}
}
