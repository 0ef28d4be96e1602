package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestMCPAccess: an MCP server's program sees pending text; its writes become edits of the
// calling session, and its build output is held. One with access to read
// writes nothing, and one with the disk, which only the user's own file gives, says so in
// each question.
func TestMCPAccess(t *testing.T) { e2e.EachWorld(t, testMCPAccess) }

func testMCPAccess(t *testing.T, kind string) {
	slow.Test(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	entry := func(access string) e2e.Object {
		return e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand}, "access": access}
	}
	allow := e2e.Object{"run_command": "allow"}
	for _, name := range []string{"seen", "reads", "project"} {
		allow["mcp_"+name+"_write"], allow["mcp_"+name+"_read"] = "allow", "allow"
	}
	project, err := json.Marshal(e2e.Object{"mcpServers": e2e.Object{"project": entry("disk")}})
	if err != nil {
		t.Fatal(err)
	}
	r := e2e.WorldRig(t, kind, map[string]string{".gitignore": "build/\n", "a.txt": "one\n", "b.txt": "b\n", "build/keep": "k\n", ".mcp.json": string(project)}, e2e.Object{
		"toolPermissions": allow, "mcp.servers": e2e.Object{"seen": e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand}, "env": e2e.Object{"STARTED": "at-start"}}, "reads": entry("read"), "disk": entry("disk")},
	})
	for _, name := range []string{"seen", "reads", "disk"} { // their tools are there once they have answered
		if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": name}); s.State != "connected" {
			t.Fatalf("%+v", s)
		}
	}
	theirs := r.MCPServers()["project"]
	if !slices.ContainsFunc(theirs.Warnings, func(s string) bool { return strings.Contains(s, "user's own settings file") }) {
		t.Errorf("a project's access to the disk: %+v", theirs)
	}
	e2e.Command[json.RawMessage](r, "sidecar.mcp.trust", e2e.Object{"server": "project", "hash": theirs.Hash})
	on := func(name string) string {
		data, err := os.ReadFile(filepath.Join(r.Dir, name))
		if err != nil {
			return "none"
		}
		return string(data)
	}
	stays := func() {
		t.Helper()
		if on("a.txt") != "one\n" || on("build/made") != "none" || on("new.txt") != "none" || on("build/keep") != "k\n" {
			t.Errorf("the disk has %q, %q, %q, %q", on("a.txt"), on("build/made"), on("new.txt"), on("build/keep"))
		}
	}
	if res := r.Tool("edit_file", e2e.Object{"path": "b.txt", "search": "b", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	for _, server := range []string{"seen", "project"} {
		res := r.Tool("mcp_"+server+"_read", e2e.Object{"path": "b.txt"})
		if kind != e2e.Apart && !strings.Contains(res.Content, "pending") {
			t.Errorf("%s reads %s", server, res.Content)
		}
		for _, name := range []string{"a.txt", "new.txt", "build/made", "build/keep"} {
			res := r.Tool("mcp_"+server+"_write", e2e.Object{"path": name, "text": "of " + server + "\n"})
			if written := strings.Contains(res.Content, "written"); written == (kind == e2e.Apart) {
				t.Errorf("%s writes %s: %s", server, name, res.Content)
			}
			stays()
		}
		if kind == e2e.Apart { // no copy can stand in the workspace's place
			continue
		}
		if queued := r.Queued(); !slices.Contains(queued, "a.txt") || !slices.Contains(queued, "new.txt") || slices.Contains(queued, "build/made") {
			t.Errorf("after %s there wait %q", server, queued)
		}
		if text := r.Ran("cat a.txt new.txt"); strings.Count(text, "of "+server) != 2 {
			t.Errorf("after %s, commands see %s", server, text)
		}
	}
	if res := r.Tool("mcp_reads_write", e2e.Object{"path": "a.txt", "text": "x"}); !strings.Contains(res.Content, "failed") {
		t.Errorf("one that only reads: %s", res.Content)
	}
	if res := r.Tool("mcp_reads_read", e2e.Object{"path": "a.txt"}); res.OK && !strings.Contains(res.Content, "one") {
		t.Errorf("one that only reads: %s", res.Content)
	}
	stays()
	// Files that it wrote outside of calls wait for review once it ends.
	if kind != e2e.Apart {
		first := r.Ran("cat at-start")
		for range 2 { // the second one ends it after it began with no call
			e2e.Command[json.RawMessage](r, "sidecar.mcp.reconnect", e2e.Object{"server": "seen"})
		}
		if queued := r.Queued(); !slices.Contains(queued, "at-start") || r.Ran("cat at-start") == first {
			t.Errorf("after its end there wait %q", queued)
		}
	}
	// Control: the disk is written by the one that the user gives it, after a question that says so.
	var asked []string
	r.Answer("window/showMessageRequest", func(_ context.Context, params json.RawMessage) (any, error) {
		asked = append(asked, string(params))
		return e2e.Object{"title": "Allow"}, nil
	})
	if res := r.Tool("mcp_disk_write", e2e.Object{"path": "new.txt", "text": "past the review\n"}); !res.OK || on("new.txt") != "past the review\n" {
		t.Errorf("access to the disk: %s; it has %q", res.Content, on("new.txt"))
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "access to the disk") {
		t.Errorf("asked: %q", asked)
	}
}

// TestLanguageServersBuild: what a language server builds is its own, and is gone with it; it
// sees no secrets in a repository's settings.
func TestLanguageServersBuild(t *testing.T) {
	e2e.Home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, writes := range []bool{true, false} {
		dir := e2e.Project(t, map[string]string{".gitignore": "target/\n", "Cargo.lock": "the user's\n"})
		e2e.GitIn(t, dir, "init", "-q")
		e2e.GitIn(t, dir, "config", "http.extraHeader", "hush")
		e2e.GitIn(t, dir, "config", "user.nickname", "seen")
		w, err := app.Open(t.Context(), []workspace.Folder{{Name: "x", Dir: dir}}, app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler), Program: self})
		if err != nil {
			t.Fatal(err)
		}
		if level, err := w.Confiner.Level(); err != nil || level == spec.None {
			needs.Skip(t, needs.Sandbox, "there is no sandbox here: ", err)
		}
		p, err := w.Confiner.LanguageServer(t.Context(), langserver.Program{
			Argv: []string{"/bin/sh", "-c", "mkdir target; echo built | tee target/out Cargo.lock evil >/dev/null; cat target/out Cargo.lock; cat .git/config"}, Dir: dir, Folder: dir, Writes: writes,
		})
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(p.Out)
		if err != nil || errors.Join(p.Wait(), w.Close()) != nil {
			t.Error(err)
		}
		level := sandbox.Open(self, sandbox.Options{}).Status().Level
		if want := map[bool]string{true: "built\nbuilt\n", false: "the user's\n"}[writes]; level >= spec.Bubblewrap && (!strings.HasPrefix(string(said), want+"[core]") || !strings.Contains(string(said), "seen") || strings.Contains(string(said), "hush")) {
			t.Errorf("it may build: %v; it sees %q", writes, said)
		}
		for name, want := range map[string]string{"Cargo.lock": "the user's\n", "target/out": "", "evil": ""} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || want == "" && err == nil {
				t.Errorf("it may build: %v; the disk has %s as %q, %v", writes, name, got, err)
			}
		}
	}
}

// TestMCPWritesOfNobody: what a call changes that fails is taken over as that of one that goes
// well; what a server writes after its call, or for a session in another tree, waits for
// review, also where edits are applied.
func TestMCPWritesOfNobody(t *testing.T) {
	slow.Test(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	allow := e2e.Object{"run_command": "allow"}
	for _, tool := range []string{"read", "write", "fails", "later"} {
		allow["mcp_seen_"+tool] = "allow"
	}
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n", ".gitignore": ".sidecar\n"}, e2e.Object{
		"toolPermissions": allow, "mcp.servers": e2e.Object{"seen": e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand}, "env": e2e.Object{"STARTED": "at-start"}}},
	})
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "A"}, {"config", "user.email", "a@example.org"}, {"add", "."}, {"commit", "-qm", "first"}} {
		e2e.GitIn(t, dir, args...)
	}
	r := e2e.WorldIn(t, dir)
	if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "seen"}); s.State != "connected" {
		t.Fatalf("%+v", s)
	}
	on := func(name string) bool { _, err := os.Lstat(filepath.Join(r.Dir, name)); return err == nil }
	if res := r.Tool("mcp_seen_fails", e2e.Object{"path": "held.txt"}); res.OK || !strings.Contains(res.Content, "it failed") || on("held.txt") || !slices.Contains(r.Queued(), "held.txt") {
		t.Errorf("a call that fails: %s; there wait %q", res.Content, r.Queued())
	}
	r.Mode("autonomous")
	if res := r.Tool("mcp_seen_fails", e2e.Object{"path": "applied.txt"}); res.OK || !on("applied.txt") {
		t.Errorf("a call that fails, where edits are applied: %s", res.Content)
	}
	if res := r.Tool("mcp_seen_write", e2e.Object{"path": "control.txt"}); !res.OK || !on("control.txt") || strings.Contains(res.Content, "saw the disk") {
		t.Errorf("control: %s", res.Content)
	}
	late := fmt.Sprintf("late-%d.txt", os.Getpid())
	if res := r.Tool("mcp_seen_later", e2e.Object{"path": late}); !res.OK || res.Content == "" {
		t.Fatal(res.Content)
	}
	// It writes between two calls: what is written while one runs is that one's.
	child := processWith(t, late)
	if err := syscall.Kill(child, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	e2e.Until(t, "the server's child never wrote", func() bool { return processWith(t, late) == 0 })
	if res := r.Tool("mcp_seen_read", e2e.Object{"path": late}); !strings.Contains(res.Content, "late\\n") {
		t.Errorf("control: %s", res.Content)
	}
	if !slices.Contains(r.Queued(), late) {
		t.Errorf("what was written later waits for nobody: %q", r.Queued())
	}
	if on(late) {
		t.Error("what was written after the call is on the disk")
	}
	if !slices.Contains(r.Queued(), "at-start") || on("at-start") {
		t.Errorf("what was written at the start: %q", r.Queued())
	}
	// A session in a shadow workspace.
	e2e.Command[json.RawMessage](r, "sidecar.shadow.create", e2e.Object{"id": "s"})
	e2e.Command[json.RawMessage](r, "sidecar.session.open", e2e.Object{"id": "in-shadow", "shadow": "s", "mode": "autonomous"})
	res := e2e.Command[e2e.Result](r, "sidecar.tools.call", e2e.Object{"name": "mcp_seen_write", "arguments": e2e.Object{"path": "fromshadow.txt", "text": "x"}, "session": "in-shadow"})
	if !res.OK || !strings.Contains(res.Content, "waits for review in the main tree") || !strings.Contains(res.Content, "fromshadow.txt") || on("fromshadow.txt") || !slices.Contains(r.Queued(), "fromshadow.txt") {
		t.Errorf("a session in a shadow: %s; there wait %q", res.Content, r.Queued())
	}
}

// processWith is the process that has arg as its last argument; 0: none.
func processWith(t *testing.T, arg string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		line, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(string(line), "\x00"+arg+"\x00") {
			continue // it has ended, or is another one
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	return 0
}
