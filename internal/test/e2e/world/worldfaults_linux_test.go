package world_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestWorldOnFullDisk: where what commands change finds no room, the command hears of
// it or is not started, nothing that waits is lost, and with room again all goes on.
func TestWorldOnFullDisk(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}})
	self := program.ServerAnywhere(t)
	e2e.Mount(t, os.Getenv("XDG_CACHE_HOME"), "tmpfs", 0, "size=1m")
	r := e2e.ServeBy(t, e2e.Project(t, map[string]string{"a.txt": "a\n", ".gitignore": "*.bin\n"}), fakeeditor.Options{}, self)
	r.Mode("review")
	if res := r.Tool("run_command", e2e.Object{"command": "true"}); strings.Contains(res.Content, "it saw the disk") {
		needs.Skip(t, needs.Overlay, "there is no overlay here: ", res.Content)
	}
	if res := r.Tool("run_command", e2e.Object{"command": "echo more >> a.txt; head -c 8000000 /dev/zero > big.bin"}); res.OK || !strings.Contains(res.Content, "No space left on device") || !strings.Contains(res.Content, "a.txt +1 −0") {
		t.Errorf("a command that fills the disk: %s", res.Content)
	}
	r.IsQueued("a.txt")
	if res := r.Tool("write_file", e2e.Object{"path": "b.txt", "content": strings.Repeat("pending\n", 1<<18)}); !res.OK {
		t.Fatal(res.Content)
	}
	if res := r.Tool("run_command", e2e.Object{"command": "touch ran"}); res.OK || !strings.Contains(res.Content, "no space left on device") {
		t.Errorf("a command that can't see what is pending: %s", res.Content)
	}
	r.IsQueued("a.txt", "b.txt")
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.reject", e2e.Object{"uris": []string{workspace.FileURI(filepath.Join(r.Dir, "b.txt"))}}, nil); err != nil {
		t.Fatal(err)
	}
	r.Ran("rm big.bin") // what is built waits there as well
	r.Ran("cat a.txt; echo fits > c.txt", "a\nmore\n", "c.txt new +1")
	r.IsQueued("a.txt", "c.txt")
	if got := r.File("a.txt"); got != "a\n" {
		t.Errorf("the disk has %q", got)
	}
}

// TestCheckoutUnderCommand: the user switches branches while a command runs. What the
// command changed comes back where the switch left the file alone or removed it, and
// is left out where it brought another text.
func TestCheckoutUnderCommand(t *testing.T) {
	r := e2e.WorldRig(t, "overlay", map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	git := func(args ...string) { e2e.GitIn(t, r.Dir, args...) }
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "first")
	git("checkout", "-qb", "other")
	e2e.Write(t, filepath.Join(r.Dir, "a.txt"), "a of other\n")
	if err := ownfile.Remove(filepath.Join(r.Dir, "c.txt")); err != nil {
		t.Fatal(err)
	}
	git("commit", "-qam", "second")
	git("checkout", "-q", "-")
	var res e2e.Result
	running, err := r.Start(t.Context(), "workspace/executeCommand", e2e.Object{"command": "sidecar.tools.call", "arguments": []any{e2e.Object{"name": "run_command", "arguments": e2e.Object{
		"command": "echo mine >> a.txt; echo mine >> b.txt; echo mine >> c.txt; echo mine > new.txt; touch written; until [ -e go ]; do sleep 0.05; done"}}}})
	if err != nil {
		t.Fatal(err)
	}
	e2e.Until(t, "the command never wrote", func() bool {
		list, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "worlds", "*", "upper", "written"))
		return len(list) == 1
	})
	git("checkout", "-q", "other")
	e2e.Write(t, filepath.Join(r.Dir, "go"), "")
	if err := running.Wait(t.Context(), &res); err != nil || !res.OK {
		t.Fatalf("%v\n%s", err, res.Content)
	}
	r.IsQueued("b.txt", "c.txt", "new.txt", "written")
	if !strings.Contains(res.Content, "Not taken over: a.txt: the user changed it while the command ran") {
		t.Errorf("a.txt is not spoken of: %s", res.Content)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "c.txt")); err == nil || r.File("a.txt") != "a of other\n" || r.File("b.txt") != "b\n" {
		t.Errorf("the tree of the other branch was changed: a is %q, b %q, c is there (%v)", r.File("a.txt"), r.File("b.txt"), err)
	}
}
