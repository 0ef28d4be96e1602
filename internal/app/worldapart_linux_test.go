package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestWorldApart: where nothing can put a copy in the place of the workspace, a command
// finds it at a path of its own, and nobody else hears of that path.
func TestWorldApart(t *testing.T) {
	dir := worldProject(t, "shadow", map[string]string{
		".gitignore": "node_modules/\n.venv/\nbuild/\n", "a.txt": "one\n", "sub/b.txt": "b\n", "node_modules/m/index.js": "dep\n", "build/keep": "k\n",
	})
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "A"}, {"config", "user.email", "a@example.org"}, {"add", "."}, {"commit", "-qm", "first"}} {
		gitIn(t, dir, args...)
	}
	r := worldApart(t, dir, fakeeditor.Options{})
	path := func(name string) string { return filepath.Join(r.dir, name) }
	const elsewhere = "worlds/"

	// What is built waits for a person, and the session has it.
	absent := func(name string) {
		t.Helper()
		if _, err := os.Lstat(path(name)); err == nil {
			t.Errorf("%s is in the workspace", name)
		}
	}
	r.ran("echo built > build/plain; echo new > node_modules/new.js", "Output held for review: 2 files in build/plain, node_modules/new.js")
	absent("build/plain")
	absent("node_modules/new.js")
	r.ran("cat build/plain node_modules/new.js", "built\nnew\n")

	if res := r.call("edit_file", object{"path": "a.txt", "search": "one", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	for _, c := range []struct{ command, want string }{
		{"cat a.txt", "pending\n"},
		{"cd " + r.dir + " && cat a.txt", "pending\n"}, // as agents like to write
		{"cd '" + r.dir + "/sub' && cat ../a.txt", "pending\n"},
		{"cat ../a.txt; pwd; cd ..", "pending\n" + r.dir + "/sub\n"}, // the session stays where a command ended
		{"git status --porcelain", " M a.txt\n"},                     // and no link to what git ignores
		{"cat node_modules/m/index.js", "dep\n"},
		{"cat " + path("a.txt"), "one\n"}, // the disk, as the result says
	} {
		res := r.call("run_command", object{"command": c.command})
		if !strings.Contains(res.Content, c.want) || strings.Contains(res.Content, elsewhere) {
			t.Errorf("%s: %s", c.command, res.Content)
		}
	}
	if res := r.call("run_command", object{"command": "echo x > " + path("a.txt")}); res.OK || !strings.Contains(res.Content, "ermission denied") || !strings.Contains(res.Content, "can't write it") {
		t.Errorf("a write past the copy: %s", res.Content)
	}
	if r.file("a.txt") != "one\n" {
		t.Errorf("the disk has %q", r.file("a.txt"))
	}

	r.ran("mkdir -p out; echo made > out/made.txt", "held for review: out/made.txt new")

	// Where edits are applied, it goes to the workspace, but for text with the copy's path in it.
	r.mode("autonomous")
	if out := r.ran("echo plain > build/moved; echo newest > node_modules/newest.js"); strings.Contains(out, "Left in the session") || r.file("build/moved") != "plain\n" || r.file("node_modules/newest.js") != "newest\n" {
		t.Errorf("built: %s", out)
	}
	if out := r.ran(`echo "HOME_DIRECTORY=$PWD" > build/cache.txt`, "Left in the session: build/cache.txt"); strings.Contains(out, elsewhere) {
		t.Errorf("the copy's path is shown: %s", out)
	}
	absent("build/cache.txt")
	absent("build/plain") // it still waits
	// A package is replaced, and not removed: most that would do that do it on the way.
	r.ran("rm node_modules/m && mkdir node_modules/m && echo newer > node_modules/m/index.js")
	if r.file("node_modules/m/index.js") != "newer\n" {
		t.Error("the package was not replaced")
	}
	r.ran("rm node_modules/m", "Not taken over: node_modules/m: a command can replace dependencies, and not remove them")
	r.ran("cat node_modules/m/index.js", "newer\n")
	if res := r.call("run_command", object{"command": "echo x > node_modules/m/index.js"}); res.OK || r.file("node_modules/m/index.js") != "newer\n" {
		t.Errorf("a package was changed in its place: %s", res.Content)
	}

	// The repository is the user's own there.
	r.ran("git checkout -qb by-agent && echo more > more.txt && git add more.txt && git commit -qm second")
	if got := gitIn(t, r.dir, "log", "--format=%s", "-1", "by-agent"); strings.TrimSpace(got) != "second" {
		t.Errorf("the branch has %q", got)
	}
	r.mode("review")
	r.ran("git log --format=%s -1", "second")
}

// TestRunApart: a whole program works in such a copy, and is not run where nothing keeps
// it there.
func TestRunApart(t *testing.T) {
	dir := worldProject(t, "auto", map[string]string{"a.txt": "one\n"})
	hides := withoutBubblewrap(t)
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "unshare", slices.Concat(hides, []string{buildServer(t), "run", "--root", dir, "--"}, args)...)
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
	for setting, says := range map[string]string{"auto": "the setting sidecar.sandbox.mode is off", "shadow": "there is no sandbox"} {
		userSettings(t, object{"commands.world": setting, "sandbox.mode": "off"})
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
	dir := worldProject(t, "shadow", map[string]string{"a.txt": "one\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	r := worldApart(t, link, fakeeditor.Options{})
	if res := r.call("edit_file", object{"path": "a.txt", "search": "one", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	r.ran("pwd; cd "+link+" && cat a.txt; cd "+dir+" && cat a.txt; echo b > b.txt", link+"\npending\npending\n", "held for review: b.txt")
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "one\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
}
