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
)

// withEvents is an editor that takes events.
func withEvents() fakeeditor.Options {
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Events = true
	return fakeeditor.Options{Capabilities: can}
}

// TestWorldOfReview: an agent edits, tests, edits again and tests, and nothing of it
// is on the disk until it is accepted; then that is what was tested.
func TestWorldOfReview(t *testing.T) { e2e.EachWorld(t, testWorldOfReview) }

func testWorldOfReview(t *testing.T, kind string) {
	files := map[string]string{
		"go.mod": "module example.org/a\n\ngo 1.24\n", "a.go": "package a\n\nfunc Sum(a, b int) int { return a - b }\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Fatal(Sum(1, 2))\n\t}\n}\n",
	}
	r := e2e.WorldRig(t, kind, files)
	edit := func(path, search, replace string) {
		t.Helper()
		if res := r.Tool("edit_file", e2e.Object{"path": path, "search": search, "replace": replace}); !res.OK {
			t.Fatal(res.Content)
		}
	}
	edit("a.go", "a - b", "a * b")
	if res := r.Tool("run_tests", e2e.Object{}); res.OK || !strings.Contains(res.Content, "TestSum") || strings.Contains(res.Content, "not on the disk") {
		t.Errorf("the first run: %s", res.Content)
	}
	edit("a.go", "a * b", "a+b")
	edit("a_test.go", "Sum(1, 2) != 3", "Sum(2, 2) != 4")
	if res := r.Tool("run_tests", e2e.Object{}); !res.OK {
		t.Errorf("the second run: %s", res.Content)
	}
	r.Ran("gofmt -l . ; gofmt -w a.go && cat a.go", "return a + b", "a.go\n", "Changed, and held for review: a.go +1 −1.")
	r.IsQueued("a.go", "a_test.go")
	for name, text := range files {
		if r.File(name) != text {
			t.Errorf("the disk has %s as %q", name, r.File(name))
		}
	}
	saw := strings.Split(r.Ran("cat a.go a_test.go"), "[exit code")[0]
	if res := r.Accept(e2e.Object{}); len(res.Accepted) != 2 || len(res.Failed) != 0 {
		t.Errorf("%+v", res)
	}
	if accepted := r.File("a.go") + r.File("a_test.go"); !strings.Contains(saw, accepted) {
		t.Errorf("accepted is\n%s\nand a command saw\n%s", accepted, saw)
	}
}

// TestWorldOfBuffers: commands see what is not saved, and what they change meets
// what the user typed meanwhile.
func TestWorldOfBuffers(t *testing.T) { e2e.EachWorld(t, testWorldOfBuffers) }

func testWorldOfBuffers(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n", "ready": ""})
	uri, err := r.OpenFile(t.Context(), filepath.Join(r.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "one\ntwo\nthree\nfour\nfive typed\n"); err != nil {
		t.Fatal(err)
	}
	r.Ran("cat a.txt; sed -i s/one/ONE/ a.txt", "five typed", "a.txt +1 −1")
	r.Mode("autonomous")
	r.Ran("sed -i s/two/TWO/ a.txt", "Changed: a.txt +1 −1")
	if text, _ := r.Text(uri); text != "one\nTWO\nthree\nfour\nfive typed\n" {
		t.Errorf("the editor has %q", text)
	}
	if got := r.File("a.txt"); got != "one\ntwo\nthree\nfour\nfive\n" {
		t.Errorf("the disk has %q", got)
	}
}

// TestWorldOfModes: what commands change is applied where edits are, but for files
// that a person is always asked about, and for those that nobody writes.
func TestWorldOfModes(t *testing.T) { e2e.EachWorld(t, testWorldOfModes) }

func testWorldOfModes(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	r.Mode("autonomous")
	out := r.Ran("f=.np; echo x > ${f}mrc; echo x > made.txt; rm b.txt; exit 0", "Changed: b.txt deleted, made.txt new +1.", "Not taken over: .npmrc: ")
	if strings.Contains(out, "held for review") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, ".npmrc")); err == nil {
		t.Error("nobody was asked about .npmrc")
	}
	if r.File("made.txt") != "x\n" {
		t.Errorf("made.txt is %q", r.File("made.txt"))
	}
	// What a command wrote is taken back as any edit that nobody reviewed.
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.undo", e2e.Object{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "made.txt")); err == nil || r.File("b.txt") != "b\n" {
		t.Errorf("after undo, made.txt is there (%v) or b.txt is %q", err, r.File("b.txt"))
	}
	if res := r.Tool("run_command", e2e.Object{"command": "echo y > failed.txt; exit 3"}); res.OK || !strings.Contains(res.Content, "failed.txt new +1") || r.File("failed.txt") != "y\n" {
		t.Errorf("a command that fails: %s", res.Content)
	}
	// A person who allows it has it.
	r.Choose("Allow")
	r.Ran("f=.np; echo y > ${f}mrc", "Changed: .npmrc new +1")
	if r.File(".npmrc") != "y\n" {
		t.Errorf(".npmrc is %q", r.File(".npmrc"))
	}
}

// TestWorldInBackground: what a command in the background changes comes when it is
// asked for, and at its end without that.
func TestWorldInBackground(t *testing.T) { e2e.EachWorld(t, testWorldInBackground) }

func testWorldInBackground(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "a\n"})
	if res := r.Tool("run_command", e2e.Object{"command": "echo one > one.txt; until [ -e go ]; do sleep 0.05; done; cat pending.txt > two.txt", "background": true}); !res.OK {
		t.Fatal(res.Content)
	}
	// A file may be taken over between being made and being written: then it comes twice.
	has := func(path, text string) bool {
		res := r.Tool("read_file", e2e.Object{"path": path})
		return res.OK && strings.Contains(res.Content, text+"\n")
	}
	var said strings.Builder
	e2e.Until(t, "one.txt never came", func() bool {
		said.WriteString(r.Tool("command_output", e2e.Object{"id": "bg1"}).Content)
		return has("one.txt", "one")
	})
	if !strings.Contains(said.String(), "one.txt new") {
		t.Errorf("nobody was told of one.txt:\n%s", &said)
	}
	r.IsQueued("one.txt")
	if res := r.Tool("write_file", e2e.Object{"path": "pending.txt", "content": "pending\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	r.Ran("cat one.txt pending.txt; touch go", "one\npending\n")
	e2e.Until(t, "two.txt never came", func() bool { return slices.Contains(r.Queued(), "two.txt") && has("two.txt", "pending") })
}

// TestWorldFollowsInFront: a command that is waited for sees what the user makes,
// also after it has looked for it in vain.
func TestWorldFollowsInFront(t *testing.T) { e2e.EachWorld(t, testWorldFollowsInFront) }

func testWorldFollowsInFront(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "a\n"})
	var res e2e.Result
	pending, err := r.Start(t.Context(), "workspace/executeCommand", e2e.Object{"command": "sidecar.tools.call", "arguments": []any{e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "echo looked; until [ -s go.txt ]; do sleep 0.05; done; cat go.txt"}}}})
	if err != nil {
		t.Fatal(err)
	}
	e2e.Write(t, filepath.Join(r.Dir, "go.txt"), "made by the user\n")
	if err := pending.Wait(t.Context(), &res); err != nil || !res.OK || !strings.Contains(res.Content, "made by the user") {
		t.Errorf("%v\n%s", err, res.Content)
	}
	r.IsQueued()
}

// TestWorldConflicts: what a command writes over lines that the user changes
// meanwhile waits as a conflict, and neither text is lost.
func TestWorldConflicts(t *testing.T) { e2e.EachWorld(t, testWorldConflicts) }

func testWorldConflicts(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n", "b.txt": "b\n"})
	uri, err := r.OpenFile(t.Context(), filepath.Join(r.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.OpenFile(t.Context(), filepath.Join(r.Dir, "b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var res e2e.Result
	running, err := r.Start(t.Context(), "workspace/executeCommand", e2e.Object{"command": "sidecar.tools.call", "arguments": []any{e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "sed -i 's/one/ONE/; s/five/FIVE/' a.txt; rm b.txt; touch written; until [ -e go ]; do sleep 0.05; done"}}}})
	if err != nil {
		t.Fatal(err)
	}
	e2e.Until(t, "the command never wrote", func() bool {
		list, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "worlds", "*", "upper", "written"))
		return len(list) == 1
	})
	if err := r.Type(t.Context(), uri, "uno\ntwo\nthree\nfour\nfive\n"); err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), other, "typed\n"); err != nil {
		t.Fatal(err)
	}
	e2e.Write(t, filepath.Join(r.Dir, "go"), "")
	if err := running.Wait(t.Context(), &res); err != nil || !res.OK || !strings.Contains(res.Content, "a.txt +2 −2 (in conflict with what was changed meanwhile), b.txt deleted (in conflict") {
		t.Fatalf("%v\n%s", err, res.Content)
	}
	r.IsQueued("a.txt", "b.txt", "written")
	if res := r.Tool("read_file", e2e.Object{"path": "a.txt"}); !strings.Contains(res.Content, "uno") || !strings.Contains(res.Content, "FIVE") {
		t.Errorf("the session sees %s", res.Content)
	}
	for uri, want := range map[string]string{uri: "uno\ntwo\nthree\nfour\nfive\n", other: "typed\n"} {
		if text, _ := r.Text(uri); text != want {
			t.Errorf("the user has %q, want %q", text, want)
		}
	}
	var list struct {
		Edits []struct {
			Path, State, Tool, Command string
			Hunks                      []struct{ State string }
		}
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.list", e2e.Object{}, &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Edits {
		if want := map[string]string{"a.txt": "conflict", "b.txt": "conflict", "written": "clean"}[e.Path]; e.State != want {
			t.Errorf("%s is %s, want %s (%+v)", e.Path, e.State, want, e.Hunks)
		}
		if e.Tool != "run_command" || !strings.HasPrefix(e.Command, "sed -i 's/one/ONE/") {
			t.Errorf("%s is by %s: %s", e.Path, e.Tool, e.Command)
		}
	}
}

// TestWorldFollows: a program that stays sees what the user saves, and what is
// pending, while it runs.
func TestWorldFollows(t *testing.T) { e2e.EachWorld(t, testWorldFollows) }

func testWorldFollows(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "disk\n", "b.txt": "disk\n"})
	if res := r.Tool("run_command", e2e.Object{"command": "cat a.txt b.txt; until grep -q saved a.txt && grep -q pending b.txt; do sleep 0.05; done; cat a.txt b.txt; echo seen", "background": true}); !res.OK {
		t.Fatal(res.Content)
	}
	e2e.Until(t, "it never began", func() bool {
		return strings.Contains(r.Tool("command_output", e2e.Object{"id": "bg1"}).Content, "disk\ndisk\n")
	})
	e2e.Write(t, filepath.Join(r.Dir, "a.txt"), "saved\n")
	if res := r.Tool("write_file", e2e.Object{"path": "b.txt", "content": "pending\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	e2e.Until(t, "it never saw them", func() bool {
		return strings.Contains(r.Tool("command_output", e2e.Object{"id": "bg1"}).Content, "saved\npending\nseen\n")
	})
	r.IsQueued("b.txt")
	if r.File("a.txt") != "saved\n" || r.File("b.txt") != "disk\n" {
		t.Errorf("the disk has %q and %q", r.File("a.txt"), r.File("b.txt"))
	}
}

// TestWorldCommits: a commit of a command is no commit of the user's repository
// while its files wait. It waits with them, or with their batch, and is made after them.
func TestWorldCommits(t *testing.T) { e2e.EachWorld(t, testWorldCommits) }

func testWorldCommits(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "a\n"})
	git := func(args ...string) string { return e2e.GitIn(t, r.Dir, args...) }
	git("init", "-q")
	git("config", "user.name", "A")
	git("config", "user.email", "a@example.org")
	git("add", "a.txt")
	git("commit", "-qm", "first")
	before := stampsOf(t, filepath.Join(r.Dir, ".git"))
	commit := "echo more >> a.txt; git commit -qam 'by a command'; git log --format=%s; git status --short a.txt"
	r.Ran(commit, "by a command\nfirst\n", `The commit "by a command" waits for its files: it is made`, "a.txt +1 −0")
	if after := stampsOf(t, filepath.Join(r.Dir, ".git")); after != before {
		t.Errorf("the repository was changed:\n%s\nwas\n%s", after, before)
	}
	r.Ran("git log --format=%s", "by a command\nfirst\n")
	git("commit", "-q", "--allow-empty", "-m", "of the user")
	if out := r.Ran("git log --format=%s"); strings.Contains(out, "by a command") || !strings.Contains(out, "of the user\nfirst\n") {
		t.Errorf("after a commit of the user's, commands see\n%s", out)
	}
	var rejected struct{}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.reject", e2e.Object{}, &rejected); err != nil {
		t.Fatal(err)
	}
	r.Mode("audit")
	r.Ran(commit, "Queued as commit 1 of this batch: by a command.")
	if got := git("log", "--format=%s"); got != "of the user\nfirst\n" {
		t.Errorf("the repository has\n%s", got)
	}
	if res := r.Accept(e2e.Object{}); len(res.Accepted) != 1 || len(res.Failed) != 0 {
		t.Errorf("%+v", res)
	}
	if got := git("log", "--format=%s"); got != "by a command\nof the user\nfirst\n" || r.File("a.txt") != "a\nmore\n" {
		t.Errorf("accepted, the repository has\n%s", got)
	}
}

// TestWorldOfDependencies: what a command makes of dependencies waits for a person, and the
// workspace has them as they were.
func TestWorldOfDependencies(t *testing.T) { e2e.EachWorld(t, testWorldOfDependencies) }

func testWorldOfDependencies(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{".gitignore": "node_modules\n", "node_modules/m/index.js": "dep\n"})
	line, sees := "cat node_modules/m/index.js; echo new > node_modules/new.js && echo evil > node_modules/m/index.js && echo made", "new\nevil\n"
	if kind == "apart" { // where packages are links, which can be replaced and not written
		line, sees = "cat node_modules/m/index.js; echo new > node_modules/new.js; echo evil > node_modules/m/index.js; echo made", "new\ndep\n"
	}
	r.Ran(line, "dep\nmade\n", "Output held for review: ", " in node_modules")
	r.Ran("cat node_modules/new.js node_modules/m/index.js", sees)
	if _, err := os.ReadFile(filepath.Join(r.Dir, "node_modules/new.js")); err == nil || r.File("node_modules/m/index.js") != "dep\n" {
		t.Errorf("the disk has %q, %v", r.File("node_modules/m/index.js"), err)
	}
	r.IsQueued()
}

// TestWorldHidesOwnState: commands see nothing of the server's own directory but what the
// project has there for agents.
func TestWorldHidesOwnState(t *testing.T) { e2e.EachWorld(t, testWorldHidesOwnState) }

func testWorldHidesOwnState(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "a\n", ".sidecar/skills/s/SKILL.md": "skill-4711\n", ".sidecar/settings.json": "{}\n"})
	if res := r.Tool("write_file", e2e.Object{"path": "new.txt", "content": "pending-" + "4711\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	log := filepath.Join(r.Dir, ".sidecar/state/pending")
	if found, err := exec.CommandContext(t.Context(), "grep", "-rl", "pending-4711", log).Output(); err != nil || len(found) == 0 { // the control
		t.Fatalf("the queue is not below %s: %v", log, err)
	}
	out := r.Ran("cat .sidecar/skills/s/SKILL.md; grep -r 4711 .sidecar/state .sidecar/logs .sidecar/cache; find .sidecar -type f -size +0 -not -path '*/skills/*' -not -name .gitignore; echo end", "end\n")
	if kind == "overlay" && !strings.Contains(out, "skill-4711") { // copies have none of it
		t.Errorf("the project's skills are hidden: %s", out)
	}
	if strings.Contains(out, "pending-") || strings.Contains(out, "settings.json") || strings.Contains(out, ".sidecar/cache/") {
		t.Errorf("a command sees %s", out)
	}
}

// TestWorldOfSecrets: what is hidden from commands is hidden in each kind of world,
// and a copy does not have it.
func TestWorldOfSecrets(t *testing.T) { e2e.EachWorld(t, testWorldOfSecrets) }

func testWorldOfSecrets(t *testing.T, kind string) {
	r := e2e.WorldRig(t, kind, map[string]string{"a.txt": "plain-" + "4711\n", ".env": "TOKEN=hidden-" + "4711\n"})
	out := r.Ran("f=.en; cat a.txt ${f}v; ls -A ${f}v; echo x > ${f}v || echo refused", "plain-4711\n", ".env\n", "refused\n")
	if strings.Contains(out, "hidden-4711") {
		t.Errorf("a command read it: %s", out)
	}
	find := func(text string) string {
		out, _ := exec.CommandContext(t.Context(), "grep", "-rl", text, filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "worlds")).Output() // fails when there is nothing
		return string(out)
	}
	if kind == "copy" && find("plain-4711") == "" { // the control
		t.Error("the copy is not found")
	}
	if at := find("hidden-4711"); at != "" {
		t.Errorf("it is in %s", at)
	}
	r.IsQueued()
	if r.File(".env") != "TOKEN=hidden-4711\n" {
		t.Errorf("the disk has %q", r.File(".env"))
	}
}

// stampsOf is what is in a directory, with times and sizes.
func stampsOf(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "find", dir, "-type", "f", "-printf", "%P %s %T@\n").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
