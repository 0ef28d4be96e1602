package world_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestWorldApart: where nothing can put a copy in the place of the workspace, a command
// finds it at a path of its own, and nobody else hears of that path.
func TestWorldApart(t *testing.T) {
	dir := e2e.WorldProject(t, "copy", map[string]string{
		".gitignore": "node_modules/\n.venv/\nbuild/\n", "a.txt": "one\n", "sub/b.txt": "b\n", "node_modules/m/index.js": "dep\n", "build/keep": "k\n",
	})
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "A"}, {"config", "user.email", "a@example.org"}, {"add", "."}, {"commit", "-qm", "first"}} {
		e2e.GitIn(t, dir, args...)
	}
	r := e2e.WorldApart(t, dir, fakeeditor.Options{})
	path := func(name string) string { return filepath.Join(r.Dir, name) }
	const elsewhere = "worlds/"

	// What is built waits for a person, and the session has it.
	absent := func(name string) {
		t.Helper()
		if _, err := os.Lstat(path(name)); err == nil {
			t.Errorf("%s is in the workspace", name)
		}
	}
	r.Ran("echo built > build/plain; echo new > node_modules/new.js", "Output held for review: 2 files in build/plain, node_modules/new.js")
	absent("build/plain")
	absent("node_modules/new.js")
	r.Ran("cat build/plain node_modules/new.js", "built\nnew\n")

	if res := r.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "one", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	for _, c := range []struct{ command, want string }{
		{"cat a.txt", "pending\n"},
		{"cd " + r.Dir + " && cat a.txt", "pending\n"}, // as agents like to write
		{"cd '" + r.Dir + "/sub' && cat ../a.txt", "pending\n"},
		{"cat ../a.txt; pwd; cd ..", "pending\n" + r.Dir + "/sub\n"}, // the session stays where a command ended
		{"git status --porcelain", " M a.txt\n"},                     // and no link to what git ignores
		{"cat node_modules/m/index.js", "dep\n"},
		{"cat " + path("a.txt"), "one\n"}, // the disk, as the result says
	} {
		res := r.Tool("run_command", e2e.Object{"command": c.command})
		if !strings.Contains(res.Content, c.want) || strings.Contains(res.Content, elsewhere) {
			t.Errorf("%s: %s", c.command, res.Content)
		}
	}
	if res := r.Tool("run_command", e2e.Object{"command": "echo x > " + path("a.txt")}); res.OK || !strings.Contains(res.Content, "ermission denied") || !strings.Contains(res.Content, "can't write it") {
		t.Errorf("a write past the copy: %s", res.Content)
	}
	if r.File("a.txt") != "one\n" {
		t.Errorf("the disk has %q", r.File("a.txt"))
	}

	r.Ran("mkdir -p out; echo made > out/made.txt", "held for review: out/made.txt new")

	// Where edits are applied, it goes to the workspace, but for text with the copy's path in it.
	r.Mode("autonomous")
	if out := r.Ran("echo plain > build/moved; echo newest > node_modules/newest.js"); strings.Contains(out, "Left in the session") || r.File("build/moved") != "plain\n" || r.File("node_modules/newest.js") != "newest\n" {
		t.Errorf("built: %s", out)
	}
	if out := r.Ran(`echo "HOME_DIRECTORY=$PWD" > build/cache.txt`, "Left in the session: build/cache.txt"); strings.Contains(out, elsewhere) {
		t.Errorf("the copy's path is shown: %s", out)
	}
	absent("build/cache.txt")
	absent("build/plain") // it still waits
	// A package is replaced, and not removed: most that would do that do it on the way.
	r.Ran("rm node_modules/m && mkdir node_modules/m && echo newer > node_modules/m/index.js")
	if r.File("node_modules/m/index.js") != "newer\n" {
		t.Error("the package was not replaced")
	}
	r.Ran("rm node_modules/m", "Not taken over: node_modules/m: a command can replace dependencies, and not remove them")
	r.Ran("cat node_modules/m/index.js", "newer\n")
	if res := r.Tool("run_command", e2e.Object{"command": "echo x > node_modules/m/index.js"}); res.OK || r.File("node_modules/m/index.js") != "newer\n" {
		t.Errorf("a package was changed in its place: %s", res.Content)
	}

	// The repository is the user's own there.
	r.Ran("git checkout -qb by-agent && echo more > more.txt && git add more.txt && git commit -qm second")
	if got := e2e.GitIn(t, r.Dir, "log", "--format=%s", "-1", "by-agent"); strings.TrimSpace(got) != "second" {
		t.Errorf("the branch has %q", got)
	}
	r.Mode("review")
	r.Ran("git log --format=%s -1", "second")
}

// TestRunApart: a whole program works in such a copy, and is not run where nothing keeps
// it there.
func TestRunApart(t *testing.T) {
	dir := e2e.WorldProject(t, "auto", map[string]string{"a.txt": "one\n"})
	hides := e2e.WithoutBubblewrap(t)
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "unshare", slices.Concat(hides, []string{program.ServerAnywhere(t), "run", "--root", dir, "--"}, args)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("sh", "-c", "cat a.txt; echo two > a.txt; echo new > b.txt")
	if err != nil || !strings.Contains(out, "one\n") || !strings.Contains(out, "b.txt") {
		t.Fatal(err, out)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "one\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
	if out, err := run("sh", "-c", "cat a.txt b.txt"); err != nil || !strings.Contains(out, "two\nnew\n") {
		t.Errorf("the next one does not see it: %v, %s", err, out)
	}
	for setting, says := range map[string]string{"auto": "the setting sidecar.sandbox.mode is off", "copy": "there is no sandbox"} {
		e2e.UserSettings(t, e2e.Object{"commands.world": setting, "sandbox.mode": "off"})
		if out, err := run("touch", "ran"); err == nil || !strings.Contains(out, "could not be reviewed") || !strings.Contains(out, says) {
			t.Errorf("%s: %v, %s", setting, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran on the disk")
	}
}

// TestWorldApartByLink: a workspace that is opened by a link has its copy all the same.
func TestWorldApartByLink(t *testing.T) {
	dir := e2e.WorldProject(t, "copy", map[string]string{"a.txt": "one\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	r := e2e.WorldApart(t, link, fakeeditor.Options{})
	if res := r.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "one", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	r.Ran("pwd; cd "+link+" && cat a.txt; cd "+dir+" && cat a.txt; echo b > b.txt", link+"\npending\npending\n", "held for review: b.txt")
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "one\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
}
