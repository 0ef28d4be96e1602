package cli_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// An upgrade is tested with the program that oldVariable names, else with one that is
// built from oldCommit: the oldest version whose state is still read.
const (
	oldVariable = "SIDECAR_OLD"
	oldCommit   = "885e7cc7f485e215e2bc7879a9d45bb331c3db9d"
)

// oldServer is the program of an earlier version.
func oldServer(t *testing.T) string {
	t.Helper()
	if program := os.Getenv(oldVariable); program != "" {
		return program
	}
	source, bin := t.TempDir(), filepath.Join(t.TempDir(), "sidecar-ls")
	if out, err := exec.CommandContext(t.Context(), "git", "cat-file", "-e", oldCommit+"^{commit}").CombinedOutput(); err != nil {
		needs.Skip(t, needs.History, fmt.Sprintf("the history here does not reach back to %s (%s); fetch it with git fetch --unshallow, or name a program with %s", oldCommit, bytes.TrimSpace(out), oldVariable))
	}
	top, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range [][]string{
		{strings.TrimSpace(string(top)), "git", "archive", "--output", source + ".tar", oldCommit},
		{source, "tar", "-xf", source + ".tar"},
		{source, "go", "build", "-trimpath", "-o", bin, "./cmd/sidecar-ls"},
	} {
		cmd := exec.CommandContext(t.Context(), step[1], step[2:]...)
		cmd.Dir = step[0]
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", step, err, out)
		}
	}
	return bin
}

// installed is a version's program and a workspace.
type installed struct {
	t       *testing.T
	program string
	dir     string
}

// run is a command line of that version.
func (v installed) run(want int, args ...string) string {
	v.t.Helper()
	verb, rest := args[0], args[1:]
	cmd := exec.CommandContext(v.t.Context(), v.program, append([]string{verb, "--root", v.dir}, rest...)...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		v.t.Fatalf("%s %q: %v, want exit %d\n%s", v.program, args, err, want, out)
	}
	return string(out)
}

// says is run, whose output has all the parts.
func (v installed) says(parts []string, args ...string) {
	v.t.Helper()
	out := v.run(0, args...)
	for _, part := range parts {
		if !strings.Contains(out, part) {
			v.t.Errorf("%s %q: %q is missing in\n%s", v.program, args, part, out)
		}
	}
}

// edits is all that waits, without the revisions, which are those of a process, and
// without what the old version does not say of a change.
func (v installed) edits() string {
	v.t.Helper()
	var list struct{ Edits []e2e.Object }
	printed := v.run(0, "review", "--json", "list")
	err := json.Unmarshal([]byte(printed), &list)
	for _, e := range list.Edits {
		delete(e, "Revision")
		hunks, _ := e["Hunks"].([]any)
		for _, h := range hunks {
			delete(h.(e2e.Object), "TakenStart")
		}
	}
	text, err2 := json.MarshalIndent(list.Edits, "", " ")
	if err := errors.Join(err, err2); err != nil {
		v.t.Fatalf("%v: %s", err, printed)
	}
	return string(text)
}

// serve is an editor with a server of that version, which the test ends.
func (v installed) serve() (*e2e.Rig, *exec.Cmd) {
	v.t.Helper()
	cmd := exec.CommandContext(v.t.Context(), v.program, "serve", "--log-level", "error")
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: v.dir})
	if err == nil {
		_, err = e.Initialize(v.t.Context())
	}
	if err != nil {
		v.t.Fatal(err)
	}
	return &e2e.Rig{Editor: e, T: v.t, Dir: v.dir}, cmd
}

// ends ends a server that serve began.
func (v installed) ends(r *e2e.Rig, cmd *exec.Cmd, killed bool) {
	v.t.Helper()
	if !killed {
		if err := r.Shutdown(v.t.Context()); err != nil {
			v.t.Error(err)
		}
		return
	}
	if err := cmd.Process.Kill(); err != nil {
		v.t.Fatal(err)
	}
	_ = r.Wait(context.Background()) // its error is the kill
}

// upgrader is the user of two versions, with a home directory, a repository and a
// language model that the test plays.
type upgrader struct {
	*person
	*gittest.Repo
	model *clients.Model
}

const codexSettings = "model = \"x\"\n"

// upgraded are files as they are at first, and as they are when all is accepted.
var upgraded = map[string][2]string{
	"a.go":      {"package a\n\nfunc Apple() int { return 1 }\n\n\n\n\nfunc Banana() int { return 2 }\n\n\n\n\nfunc Cherry() int { return 3 }\n", "package a\n\nfunc Apple() int { return 10 }\n\n\n\n\nfunc Banana() int { return 20 }\n\n\n\n\nfunc Cherry() int { return 30 }\n"},
	"crlf.txt":  {"one\r\ntwo\r\n\tthree ", "one\r\nzwei ü\r\n\tthree "},
	"gone.txt":  {"gone\n", ""},
	"from.txt":  {"moved\n", ""},
	"to.txt":    {"", "moved\n"},
	"new/n.txt": {"", "new, and without an end"},
	"run.txt":   {"", "by our agent\n"},
}

func newUpgrader(t *testing.T) *upgrader {
	t.Helper()
	model := clients.NewModel()
	t.Cleanup(model.Close)
	u := &upgrader{newPerson(t), nil, model}
	var files []string
	for name, text := range upgraded {
		if text[0] != "" {
			files = append(files, name, text[0])
		}
	}
	u.Repo = e2e.Repository(t, files...)
	t.Setenv("HOME", u.home) // which the repository took
	e2e.UserSettings(t, e2e.Object{
		"mode": "review", "commandRules": []e2e.Object{{"prefix": []string{"make"}, "decision": "deny"}},
		"backend.profiles": []e2e.Object{{"name": "played", "provider": "anthropic", "url": model.URL, "model": "scripted", "key": "sk-played-0123456789"}},
		"backend.profile":  "played", "toolPermissions": e2e.Object{"run_command": "allow"},
	})
	e2e.Write(t, filepath.Join(u.home, ".codex/config.toml"), codexSettings)
	return u
}

// on is a version's program in the user's repository.
func (u *upgrader) on(program string) installed { return installed{u.t, program, u.Dir} }

// file is a file of the repository, "" if it is not there.
func (u *upgrader) file(name string) string {
	u.t.Helper()
	data, err := os.ReadFile(filepath.Join(u.Dir, name))
	if err != nil && !os.IsNotExist(err) {
		u.t.Fatal(err)
	}
	return string(data)
}

// has checks the files: all as at first, or all as accepted.
func (u *upgrader) has(when string, accepted int) {
	u.t.Helper()
	for name, texts := range upgraded {
		if got, want := u.file(name), texts[accepted]; got != want {
			u.t.Errorf("%s, %s is %q, want %q", when, name, got, want)
		}
	}
}

// TestUpgrade: what one version keeps the other reads and goes on with, both ways, be it
// next to each other or in the place of each other.
func TestUpgrade(t *testing.T) {
	slow.Rare(t) // it builds an old version
	before, now := oldServer(t), program.ServerAnywhere(t)
	for _, way := range []struct{ name, from, to string }{{"up", before, now}, {"down", now, before}} {
		t.Run(way.name, func(t *testing.T) {
			t.Run("killed", func(t *testing.T) { takenOver(t, way.from, way.to, true) })
			t.Run("ended", func(t *testing.T) { takenOver(t, way.from, way.to, false) })
			t.Run("beside", func(t *testing.T) { besideOther(t, way.from, way.to) })
			t.Run("replaced", func(t *testing.T) { replaced(t, way.from, way.to) })
		})
	}
}

var changeIDs = regexp.MustCompile(`(?m)^(@@ .* @@)( h\d+)+$|^# h\d+: .*\n`)

// withoutIDs is a diff without the ids of its changes, which the old version does not show.
func withoutIDs(diff string) string { return changeIDs.ReplaceAllString(diff, "$1") }

// takenOver: one version makes all the state that there is, and the other goes on.
func takenOver(t *testing.T, from, to string, killed bool) {
	u := newUpgrader(t)
	one, other := u.on(from), u.on(to)
	one.run(0, "trust", "yes")
	one.run(0, "setup", "codex", "--yes")
	r, cmd := one.serve()
	for _, c := range []struct {
		tool string
		args e2e.Object
	}{
		{"edit_file", e2e.Object{"path": "a.go", "edits": []e2e.Object{{"search": "return 1 ", "replace": "return 10 "}, {"search": "return 2 ", "replace": "return 20 "}, {"search": "return 3 ", "replace": "return 30 "}}}},
		{"edit_file", e2e.Object{"path": "crlf.txt", "search": "two", "replace": "zwei ü"}},
		{"delete_file", e2e.Object{"path": "gone.txt"}},
		{"move_file", e2e.Object{"from": "from.txt", "to": "to.txt"}},
		{"write_file", e2e.Object{"path": "new/n.txt", "content": upgraded["new/n.txt"][1]}},
	} {
		if res := r.Tool(c.tool, c.args); !res.OK {
			t.Fatal(res.Content)
		}
	}
	c := r.Agent("write what is to be written", e2e.Ours)
	e2e.Next(t, u.model).CallOwn("write_file", e2e.Object{"path": "run.txt", "content": upgraded["run.txt"][1]})
	e2e.Next(t, u.model).End()
	c.Stopped(1)
	hunk := ""
	for _, e := range r.Pending().Edits {
		if e.Path == "a.go" && len(e.Hunks) == 3 {
			hunk = e.Hunks[1].ID
		}
	}
	one.says([]string{"accepted a.go"}, "review", "accept", hunk)
	partly := u.file("a.go")
	if !strings.Contains(partly, "return 20 ") || strings.Contains(partly, "return 10 ") {
		t.Fatalf("a hunk is accepted: %s", partly)
	}
	one.run(0, "shadow", "create", "s")
	u.Write(".sidecar/shadows/s/s.txt", "in the shadow\n")
	one.says([]string{"a.go:8"}, "knowledge", "search", "Banana")
	waiting, diff, history := one.edits(), withoutIDs(one.run(0, "review", "diff")), one.run(0, "review", "--json", "history")
	one.ends(r, cmd, killed)

	// It is all there, and is still when the other version has served.
	looks := func(v installed) {
		t.Helper()
		if got := v.edits(); got != waiting {
			t.Errorf("%s has pending\n%s\nwant\n%s", v.program, got, waiting)
		}
		if got := withoutIDs(v.run(0, "review", "diff")); got != diff {
			t.Errorf("%s has the diff\n%s\nwant\n%s", v.program, got, diff)
		}
		if got := v.run(0, "review", "--json", "history"); got != history {
			t.Errorf("%s has the history\n%s\nwant\n%s", v.program, got, history)
		}
		v.says([]string{"is trusted"}, "trust")
		v.says([]string{"Nothing was changed since it was written."}, "audit", "verify")
		v.says([]string{"write_file", "sidecar.review.accept"}, "audit", "list")
		v.says([]string{"deny by "}, "policy", "explain", "run_command", "command=make it")
		v.says([]string{"a.go:8"}, "knowledge", "search", "Banana")
		v.says([]string{"s ", "1 changed"}, "shadow", "list")
		v.says([]string{"+in the shadow"}, "shadow", "diff", "s")
	}
	looks(other)
	r, cmd = other.serve()
	again := &e2e.Conversation{Rig: r, Run: c.Run}
	if !slices.ContainsFunc(again.History(), func(e told.Event) bool { return strings.Contains(e.Text, "what is to be written") }) {
		t.Errorf("the run is %+v", again.History())
	}
	again.Tell("go on", nil)
	turn := e2e.Next(t, u.model)
	if !strings.Contains(turn.Body, "what is to be written") || !strings.Contains(turn.Body, "go on") {
		t.Errorf("the agent knows %s", turn.Body)
	}
	turn.End()
	again.Stopped(2)
	looks(other)
	other.ends(r, cmd, killed)
	looks(one)

	// What one accepted the other takes back, and the other way.
	other.says([]string{"restored a.go"}, "review", "undo")
	u.has("undone", 0)
	other.run(0, "review", "accept")
	u.has("accepted", 1)
	one.says([]string{"restored "}, "review", "undo")
	u.has("undone again", 0)
	one.run(0, "review", "accept")
	u.has("accepted again", 1)

	other.says([]string{"merged s.txt"}, "shadow", "merge", "s")
	other.run(0, "shadow", "discard", "s")
	one.says([]string{"There is no shadow workspace."}, "shadow", "list")
	one.says([]string{"accepted s.txt"}, "review", "accept")
	if got := u.file("s.txt"); got != "in the shadow\n" {
		t.Errorf("s.txt is %q", got)
	}
	if !strings.Contains(u.read(".codex/config.toml"), "[mcp_servers.sidecar]") {
		t.Error("the control: codex is not set up")
	}
	other.run(0, "setup", "codex", "--undo", "--yes")
	if got := u.read(".codex/config.toml"); got != codexSettings {
		t.Errorf("the settings of codex are %s", got)
	}
	for _, v := range []installed{one, other} {
		v.says([]string{"Nothing is pending."}, "review", "list")
		v.says([]string{"Nothing was changed since it was written."}, "audit", "verify")
	}
}

// besideOther: the editor's server is of one version; the command line, an agent's
// endpoint and another editor's server are of the other.
func besideOther(t *testing.T, from, to string) {
	u := newUpgrader(t)
	one, other := u.on(from), u.on(to)
	r, cmd := one.serve()
	open, err := r.OpenFile(t.Context(), filepath.Join(u.Dir, "a.go"))
	if err != nil {
		t.Fatal(err)
	}
	if res := r.Tool("edit_file", e2e.Object{"path": "a.go", "search": "return 1 ", "replace": "return 10 "}); !res.OK {
		t.Fatal(res.Content)
	}
	other.says([]string{"a.go", "by edit_file"}, "review", "list")
	other.run(0, "call", "--mode", "review", "write_file", "path=called.txt", "content=x")
	stderr := new(bytes.Buffer)
	mcp := exec.CommandContext(t.Context(), to, "mcp", "--root", u.Dir)
	mcp.Stderr = stderr
	a := e2e.ConnectAgent(t, &sdk.CommandTransport{Command: mcp}, stderr, e2e.MCPVersions[0], nil)
	if text, ok := a.Call("write_file", e2e.Object{"path": "agent.txt", "content": "x\n"}); !ok {
		t.Error(text, stderr)
	}
	r.IsQueued("a.go", "agent.txt", "called.txt")

	// A second server waits for the queue, and then says who has it.
	second, secondCmd := other.serve()
	command, err := fakeeditor.Command("sidecar.tools.call", e2e.Object{"name": "write_file", "arguments": e2e.Object{"path": "second.txt", "content": "x\n"}})
	if err != nil {
		t.Fatal(err)
	}
	waits, err := second.Start(t.Context(), "workspace/executeCommand", command)
	if err != nil {
		t.Fatal(err)
	}

	other.says([]string{"accepted a.go"}, "review", "accept", "a.go")
	if text, _ := r.Text(open); !strings.Contains(text, "return 10 ") || strings.Contains(u.file("a.go"), "return 10 ") {
		t.Errorf("the document is %q, the file %q", text, u.file("a.go"))
	}
	other.says([]string{"restored a.go"}, "review", "undo")
	r.IsQueued("a.go", "agent.txt", "called.txt")
	other.run(0, "shadow", "create", "s")
	other.says([]string{"Nothing was changed since it was written."}, "audit", "verify")
	if err := a.Close(); err != nil {
		t.Errorf("the end of the agent: %v\n%s", err, stderr)
	}
	var refused e2e.Result
	if err := waits.Wait(t.Context(), &refused); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("process %d", cmd.Process.Pid); refused.OK || !strings.Contains(refused.Content, want) {
		t.Errorf("a second server says %s, want %s", refused.Content, want)
	}
	other.ends(second, secondCmd, false)
	one.ends(r, cmd, false)
}

// replaced: the program's file is replaced, as an installer does, while a server runs.
// What it starts from then on is the other version.
func replaced(t *testing.T, from, to string) {
	u := newUpgrader(t)
	place := u.on(filepath.Join(t.TempDir(), "sidecar-ls"))
	install := func(program string) {
		t.Helper()
		data, err := os.ReadFile(program)
		if err == nil {
			err = ownfile.WriteFile(place.program+".new", data, 0o755)
		}
		if err == nil {
			err = ownfile.Rename(place.program+".new", place.program)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install(from)
	r, cmd := place.serve()
	if res := r.Tool("write_file", e2e.Object{"path": "p.py", "content": "class Quokka:\n    def jump(self):\n        return 1\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	install(to)
	goesOn := func() {
		t.Helper()
		r.Shows("read_file", e2e.Object{"path": "p.py", "mode": "outline"}, "Quokka", "jump")
		r.Shows("find_references", e2e.Object{"symbol": "Quokka"}, "p.py:1")
		r.Shows("run_command", e2e.Object{"command": "cat p.py && touch made.txt"}, "class Quokka")
		place.says([]string{"class Quokka"}, "run", "--", "cat", "p.py")
		r.IsQueued("made.txt", "p.py")
	}
	goesOn()
	place.ends(r, cmd, false)
	r, cmd = place.serve()
	goesOn()
	place.ends(r, cmd, false)
}

// TestQueueToCome: a queue of a version to come is left to that version, and whoever
// asks is told.
func TestQueueToCome(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review"})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	frame := append([]byte("SPE9"), make([]byte, 12)...) // without a payload
	binary.LittleEndian.PutUint32(frame[12:], crc32.Checksum(frame[:12], crc32.MakeTable(crc32.Castagnoli)))
	queue := filepath.Join(dir, ".sidecar", "state", "pending", "pending.log")
	e2e.Write(t, queue, string(frame))

	sh := e2e.Shell{T: t, Dir: dir}
	const want = "pending.log: it was written by another version of sidecar-ls"
	if out := sh.Run(1, "review", "list"); !strings.Contains(out, want) || strings.Contains(out, "close it first") {
		t.Errorf("review says %s", out)
	}
	if out := sh.Run(1, "doctor"); !strings.Contains(out, want) {
		t.Errorf("doctor says %s", out)
	}
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	if res := r.Tool("write_file", e2e.Object{"path": "b.txt", "content": "x"}); res.OK || !strings.Contains(res.Content, want) {
		t.Errorf("an edit: %+v", res)
	}
	r.Shows("read_file", e2e.Object{"path": "a.txt"}, "one")
	r.Mode("autonomous")
	if res := r.Tool("write_file", e2e.Object{"path": "b.txt", "content": "x"}); !res.OK || r.File("b.txt") != "x" {
		t.Errorf("an edit without the queue: %+v", res)
	}
	left, err := os.ReadDir(filepath.Dir(queue))
	if err != nil || len(left) != 2 { // with the lock
		t.Errorf("left: %v, %v", left, err)
	}
	if got, err := os.ReadFile(queue); err != nil || !bytes.Equal(got, frame) {
		t.Errorf("it is %q now, %v", got, err)
	}
}
