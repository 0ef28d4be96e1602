package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// TestMCPAccess: what an MCP server's program writes is an edit of the session that called it,
// what it builds is held, and what it reads is what is pending. One with access to read
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
	for _, server := range []string{"seen", "reads", "project"} {
		allow["mcp_"+server+"_write"], allow["mcp_"+server+"_read"] = "allow", "allow"
	}
	project, err := json.Marshal(object{"mcpServers": object{"project": entry("disk")}})
	if err != nil {
		t.Fatal(err)
	}
	r := worldRig(t, kind, map[string]string{".gitignore": "build/\n", "a.txt": "one\n", "b.txt": "b\n", "build/keep": "k\n", ".mcp.json": string(project)}, object{
		"toolPermissions": allow, "mcp.servers": object{"seen": object{"command": self, "args": []string{mcpServerCommand}, "env": object{"STARTED": "at-start"}}, "reads": entry("read"), "disk": entry("disk")},
	})
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
	// What it wrote outside of calls is taken over when it ends.
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

// TestLanguageServersBuild: what a language server builds is its own, and is gone with it.
func TestLanguageServersBuild(t *testing.T) {
	home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, writes := range []bool{true, false} {
		dir := project(t, map[string]string{".gitignore": "target/\n", "Cargo.lock": "the user's\n"})
		w, err := app.Open(t.Context(), []workspace.Folder{{Name: "x", Dir: dir}}, app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler), Program: self})
		if err != nil {
			t.Fatal(err)
		}
		if level, err := w.Confiner.Level(); err != nil || level == sandbox.None {
			t.Skip("there is no sandbox here: ", err)
		}
		p, err := w.Confiner.LanguageServer(t.Context(), langserver.Program{
			Argv: []string{"/bin/sh", "-c", "mkdir target; echo built | tee target/out Cargo.lock evil >/dev/null; cat target/out Cargo.lock; exit 0"}, Dir: dir, Folder: dir, Writes: writes,
		})
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(p.Out)
		if err != nil || errors.Join(p.Wait(), w.Close()) != nil {
			t.Error(err)
		}
		level := sandbox.Open(self, sandbox.Options{}).Status().Level
		if want := map[bool]string{true: "built\nbuilt\n", false: "the user's\n"}[writes]; level >= sandbox.Bubblewrap && string(said) != want {
			t.Errorf("it may build: %v; it sees %q", writes, said)
		}
		for name, want := range map[string]string{"Cargo.lock": "the user's\n", "target/out": "", "evil": ""} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || want == "" && err == nil {
				t.Errorf("it may build: %v; the disk has %s as %q, %v", writes, name, got, err)
			}
		}
	}
}
