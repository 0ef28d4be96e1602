package app_test

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
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestMCPAccess: an MCP server's program sees pending text; its writes become edits of the
// calling session, and its build output is held. One with access to read
// writes nothing, and one with the disk, which only the user's own file gives, says so in
// each question.
func TestMCPAccess(t *testing.T) { eachWorld(t, testMCPAccess) }

func testMCPAccess(t *testing.T, kind string) {
	slow.Test(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	entry := func(access string) object {
		return object{"command": self, "args": []string{mcpServerCommand}, "access": access}
	}
	allow := object{"run_command": "allow"}
	for _, name := range []string{"seen", "reads", "project"} {
		allow["mcp_"+name+"_write"], allow["mcp_"+name+"_read"] = "allow", "allow"
	}
	project, err := json.Marshal(object{"mcpServers": object{"project": entry("disk")}})
	if err != nil {
		t.Fatal(err)
	}
	r := worldRig(t, kind, map[string]string{".gitignore": "build/\n", "a.txt": "one\n", "b.txt": "b\n", "build/keep": "k\n", ".mcp.json": string(project)}, object{
		"toolPermissions": allow, "mcp.servers": object{"seen": object{"command": self, "args": []string{mcpServerCommand}, "env": object{"STARTED": "at-start"}}, "reads": entry("read"), "disk": entry("disk")},
	})
	for _, name := range []string{"seen", "reads", "disk"} { // their tools are there once they have answered
		if s := command[server.MCPStatus](r, "sidecar.mcp.reconnect", object{"server": name}); s.State != "connected" {
			t.Fatalf("%+v", s)
		}
	}
	theirs := r.mcpServers()["project"]
	if !slices.ContainsFunc(theirs.Warnings, func(s string) bool { return strings.Contains(s, "user's own settings file") }) {
		t.Errorf("a project's access to the disk: %+v", theirs)
	}
	command[json.RawMessage](r, "sidecar.mcp.trust", object{"server": "project", "hash": theirs.Hash})
	on := func(name string) string {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
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
	if res := r.call("edit_file", object{"path": "b.txt", "search": "b", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	for _, server := range []string{"seen", "project"} {
		res := r.call("mcp_"+server+"_read", object{"path": "b.txt"})
		if kind != apart && !strings.Contains(res.Content, "pending") {
			t.Errorf("%s reads %s", server, res.Content)
		}
		for _, name := range []string{"a.txt", "new.txt", "build/made", "build/keep"} {
			res := r.call("mcp_"+server+"_write", object{"path": name, "text": "of " + server + "\n"})
			if written := strings.Contains(res.Content, "written"); written == (kind == apart) {
				t.Errorf("%s writes %s: %s", server, name, res.Content)
			}
			stays()
		}
		if kind == apart { // no copy can stand in the workspace's place
			continue
		}
		if queued := r.queued(); !slices.Contains(queued, "a.txt") || !slices.Contains(queued, "new.txt") || slices.Contains(queued, "build/made") {
			t.Errorf("after %s there wait %q", server, queued)
		}
		if text := r.ran("cat a.txt new.txt"); strings.Count(text, "of "+server) != 2 {
			t.Errorf("after %s, commands see %s", server, text)
		}
	}
	if res := r.call("mcp_reads_write", object{"path": "a.txt", "text": "x"}); !strings.Contains(res.Content, "failed") {
		t.Errorf("one that only reads: %s", res.Content)
	}
	if res := r.call("mcp_reads_read", object{"path": "a.txt"}); res.OK && !strings.Contains(res.Content, "one") {
		t.Errorf("one that only reads: %s", res.Content)
	}
	stays()
	// Files that it wrote outside of calls wait for review once it ends.
	if kind != apart {
		first := r.ran("cat at-start")
		for range 2 { // the second one ends it after it began with no call
			command[json.RawMessage](r, "sidecar.mcp.reconnect", object{"server": "seen"})
		}
		if queued := r.queued(); !slices.Contains(queued, "at-start") || r.ran("cat at-start") == first {
			t.Errorf("after its end there wait %q", queued)
		}
	}
	// Control: the disk is written by the one that the user gives it, after a question that says so.
	var asked []string
	r.Answer("window/showMessageRequest", func(_ context.Context, params json.RawMessage) (any, error) {
		asked = append(asked, string(params))
		return object{"title": "Allow"}, nil
	})
	if res := r.call("mcp_disk_write", object{"path": "new.txt", "text": "past the review\n"}); !res.OK || on("new.txt") != "past the review\n" {
		t.Errorf("access to the disk: %s; it has %q", res.Content, on("new.txt"))
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "access to the disk") {
		t.Errorf("asked: %q", asked)
	}
}

// TestLanguageServersBuild: what a language server builds is its own, and is gone with it; it
// sees no secrets in a repository's settings.
func TestLanguageServersBuild(t *testing.T) {
	home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, writes := range []bool{true, false} {
		dir := project(t, map[string]string{".gitignore": "target/\n", "Cargo.lock": "the user's\n"})
		gitIn(t, dir, "init", "-q")
		gitIn(t, dir, "config", "http.extraHeader", "hush")
		gitIn(t, dir, "config", "user.nickname", "seen")
		w, err := app.Open(t.Context(), []workspace.Folder{{Name: "x", Dir: dir}}, app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler), Program: self})
		if err != nil {
			t.Fatal(err)
		}
		if level, err := w.Confiner.Level(); err != nil || level == sandbox.None {
			t.Skip("there is no sandbox here: ", err)
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
		if want := map[bool]string{true: "built\nbuilt\n", false: "the user's\n"}[writes]; level >= sandbox.Bubblewrap && (!strings.HasPrefix(string(said), want+"[core]") || !strings.Contains(string(said), "seen") || strings.Contains(string(said), "hush")) {
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
	allow := object{"run_command": "allow"}
	for _, tool := range []string{"read", "write", "fails", "later"} {
		allow["mcp_seen_"+tool] = "allow"
	}
	dir := worldProject(t, "overlay", map[string]string{"a.txt": "a\n", ".gitignore": ".sidecar\n"}, object{
		"toolPermissions": allow, "mcp.servers": object{"seen": object{"command": self, "args": []string{mcpServerCommand}, "env": object{"STARTED": "at-start"}}},
	})
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "A"}, {"config", "user.email", "a@example.org"}, {"add", "."}, {"commit", "-qm", "first"}} {
		gitIn(t, dir, args...)
	}
	r := worldIn(t, dir)
	if s := command[server.MCPStatus](r, "sidecar.mcp.reconnect", object{"server": "seen"}); s.State != "connected" {
		t.Fatalf("%+v", s)
	}
	on := func(name string) bool { _, err := os.Lstat(filepath.Join(r.dir, name)); return err == nil }
	if res := r.call("mcp_seen_fails", object{"path": "held.txt"}); res.OK || !strings.Contains(res.Content, "it failed") || on("held.txt") || !slices.Contains(r.queued(), "held.txt") {
		t.Errorf("a call that fails: %s; there wait %q", res.Content, r.queued())
	}
	r.mode("autonomous")
	if res := r.call("mcp_seen_fails", object{"path": "applied.txt"}); res.OK || !on("applied.txt") {
		t.Errorf("a call that fails, where edits are applied: %s", res.Content)
	}
	if res := r.call("mcp_seen_write", object{"path": "control.txt"}); !res.OK || !on("control.txt") || strings.Contains(res.Content, "saw the disk") {
		t.Errorf("control: %s", res.Content)
	}
	late := fmt.Sprintf("late-%d.txt", os.Getpid())
	if res := r.call("mcp_seen_later", object{"path": late}); !res.OK || res.Content == "" {
		t.Fatal(res.Content)
	}
	// It writes between two calls: what is written while one runs is that one's.
	child := processWith(t, late)
	if err := syscall.Kill(child, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	until(t, "the server's child never wrote", func() bool { return processWith(t, late) == 0 })
	if res := r.call("mcp_seen_read", object{"path": late}); !strings.Contains(res.Content, "late\\n") {
		t.Errorf("control: %s", res.Content)
	}
	if !slices.Contains(r.queued(), late) {
		t.Errorf("what was written later waits for nobody: %q", r.queued())
	}
	if on(late) {
		t.Error("what was written after the call is on the disk")
	}
	if !slices.Contains(r.queued(), "at-start") || on("at-start") {
		t.Errorf("what was written at the start: %q", r.queued())
	}
	// A session in a shadow workspace.
	command[json.RawMessage](r, "sidecar.shadow.create", object{"id": "s"})
	command[json.RawMessage](r, "sidecar.session.open", object{"id": "in-shadow", "shadow": "s", "mode": "autonomous"})
	res := command[result](r, "sidecar.tools.call", object{"name": "mcp_seen_write", "arguments": object{"path": "fromshadow.txt", "text": "x"}, "session": "in-shadow"})
	if !res.OK || !strings.Contains(res.Content, "waits for review in the main tree") || !strings.Contains(res.Content, "fromshadow.txt") || on("fromshadow.txt") || !slices.Contains(r.queued(), "fromshadow.txt") {
		t.Errorf("a session in a shadow: %s; there wait %q", res.Content, r.queued())
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
