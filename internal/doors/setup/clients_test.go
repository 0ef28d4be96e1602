package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestPrivate: copies are for their owner alone, and a diff does not show the
// rest of a long line.
func TestPrivate(t *testing.T) {
	w := newWorld(t)
	w.write("home/.claude.json", `{"mcpServers": {"a": {"env": {"TOKEN": "hidden"}}}, "long": "`+strings.Repeat("x", longest)+`"}`)
	p := w.apply("claude", Options{})
	if d := p.Changes[0].Diff; strings.Contains(d, "hidden") || !strings.Contains(d, "+ mcpServers.sidecar") {
		t.Error(d)
	}
	seen := 0
	err := filepath.WalkDir(w.env.State(), func(name string, d fs.DirEntry, err error) error {
		info, err2 := d.Info()
		if perm := info.Mode().Perm(); perm != 0o600 && !d.IsDir() || perm != 0o700 && d.IsDir() {
			t.Errorf("%s has the mode %o", name, perm)
		}
		seen++
		return errors.Join(err, err2)
	})
	if err != nil || seen != 4 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// TestIntegrations: every client says something of every integration, and what is asked for
// and is not there is refused or told.
func TestIntegrations(t *testing.T) {
	w := newWorld(t)
	for _, c := range w.env.List(t.Context(), false) {
		if c.Found || len(c.Roads) == 0 {
			t.Errorf("%+v", c)
		}
		for _, r := range c.Roads {
			if r.What == "" || r.State == Unavailable && r.Why == "" || r.State == Available && r.Command == "" {
				t.Errorf("%s: %+v", c.Name, r)
			}
			p, err := w.env.Plan(c.Name, Options{Roads: []string{r.Road}})
			if (err != nil) != (r.State == Unavailable) || err == nil && len(p.Changes)+len(p.Notes) == 0 {
				t.Errorf("%s, %s: %v, %+v", c.Name, r.Road, err, p)
			}
		}
	}
	for _, o := range []struct {
		client string
		Options
		says string
	}{
		{"nano", Options{}, "it knows claude, codex"},
		{"claude", Options{Roads: []string{"air"}}, "it has mcp, world"},
		{"copilot", Options{Project: true}, "no file of a project"},
		{"cursor", Options{OnlyOurs: true}, "no way to turn off"},
	} {
		if _, err := w.env.Plan(o.client, o.Options); err == nil || !strings.Contains(err.Error(), o.says) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	w.env.Dir = ""
	if _, err := w.env.Plan("codex", Options{Project: true}); err == nil || !strings.Contains(err.Error(), "no folder is open") {
		t.Error(err)
	}
	if r := w.state("claude", "acp"); r.State != Unavailable || !strings.Contains(r.Why, "claude is not on PATH") {
		t.Errorf("without the agent: %+v", r)
	}
	for _, has := range []string{"claude", "npm"} {
		before := w.env.Look
		w.env.Look = func(name string) (string, error) {
			if name == has {
				return "/usr/bin/" + name, nil
			}
			return before(name)
		}
		r := w.state("claude", "acp")
		if has == "claude" && (r.State != Unavailable || !strings.Contains(r.Why, "npm is not on PATH")) || has == "npm" && r.State != Available {
			t.Errorf("with %s: %+v", has, r)
		}
	}
	w.env.Look = func(name string) (string, error) { return "/usr/bin/" + name, nil }
	if r := w.state("claude", "acp"); r.State != Available || r.Command != `sidecar-ls agent run claude "…"` {
		t.Errorf("with the adapter: %+v", r)
	}
	w.env.Has = func(string) bool { return false }
	if r := w.state("claude", "acp"); r.State != Unavailable {
		t.Errorf("without the command: %+v", r)
	}
	if r := w.state("claude", "world"); r.State != Unavailable {
		t.Errorf("without the command: %+v", r)
	}
}

// TestPlugin: Neovim's plug-in is files of its own. One of another version is
// replaced, one that is somebody else's is told.
func TestPlugin(t *testing.T) {
	const file = "home/.local/share/nvim/site/pack/sidecar/start/sidecar/lua/sidecar.lua"
	read := func(w *world) string {
		data, err := os.ReadFile(w.name(file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return string(data)
	}
	w := newWorld(t)
	if r := w.state("nvim", "ide"); r.State != Off {
		t.Errorf("%+v", r)
	}
	if p := w.apply("nvim", Options{}); len(p.Changes) != 13 || len(p.Foreign) != 0 {
		t.Errorf("%d changes, %q", len(p.Changes), p.Foreign)
	}
	if p := w.plan("nvim", Options{}); !p.Done || w.state("nvim", "ide").State != On {
		t.Errorf("a second run: %+v", p)
	}
	text := read(w)
	if !strings.HasPrefix(text, plugMark) || !strings.Contains(text, "function M.setup") {
		t.Errorf("%.300s", text)
	}
	w.write(file, plugMark+"-- older\n")
	if r := w.state("nvim", "ide"); r.State != Incomplete {
		t.Errorf("%+v", r)
	}
	if p := w.apply("nvim", Options{}); len(p.Changes) != 1 || len(p.Foreign) != 0 || read(w) != text {
		t.Errorf("%d changes, %q", len(p.Changes), p.Foreign)
	}
	w = newWorld(t)
	w.apply("nvim", Options{})
	if p := w.undo("nvim", Options{}); len(p.Left) != 0 {
		t.Errorf("undo leaves %q", p.Left)
	}
	if _, err := os.Stat(w.name("home/.local/share")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("directories are left")
	}
	w.apply("nvim", Options{})
	w.write(file, text+"-- mine\n")
	if p := w.undo("nvim", Options{}); len(p.Left) != 1 || !strings.Contains(p.Left[0], "sidecar.lua has changed since") || read(w) != text+"-- mine\n" {
		t.Errorf("%q", p.Left)
	}
	w.write(file, "-- somebody else's\n")
	if p := w.plan("nvim", Options{}); len(p.Foreign) != 1 || w.state("nvim", "ide").State != Off {
		t.Errorf("%q", p.Foreign)
	}
}

// TestVariables: clients look where their variables say, and so does setup.
func TestVariables(t *testing.T) {
	w := newWorld(t)
	w.env.Getenv = func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return ""
		}
		return w.name("vars/" + name)
	}
	for _, client := range []string{"claude", "codex", "copilot", "opencode", "zed", "nvim"} {
		w.apply(client, Options{})
	}
	files := w.files()
	for _, name := range []string{
		"CLAUDE_CONFIG_DIR/.claude.json", "CLAUDE_CONFIG_DIR/settings.json", "CODEX_HOME/config.toml", "COPILOT_HOME/mcp-config.json",
		"XDG_CONFIG_HOME/opencode/opencode.json", "XDG_CONFIG_HOME/zed/settings.json", "XDG_DATA_HOME/nvim/site/pack/sidecar/start/sidecar/plugin/sidecar.lua",
		"XDG_STATE_HOME/sidecar-ls/setup/claude-1/record.json",
	} {
		if _, ok := files["vars/"+name]; !ok {
			t.Errorf("%s was not written", name)
		}
	}
	if list, err := os.ReadDir(w.env.Home); err != nil || len(list) > 0 {
		t.Errorf("there is something in the home directory: %v, %v", list, err)
	}
	w.env.Getenv = func(string) string { return "some/where" } // no absolute path: no program heeds it
	w.apply("claude", Options{})
	if _, ok := w.files()["home/.claude.json"]; !ok {
		t.Error("a relative path was heeded")
	}
}

// TestVersions: a program says its version, and one that says nothing holds
// nobody up.
func TestVersions(t *testing.T) {
	w := newWorld(t)
	if err := exec.Command("mkfifo", w.name("never")).Run(); err != nil {
		needs.Skip(t, needs.Programs, err)
	}
	w.write("bin/claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n")
	w.write("bin/codex", "#!/bin/sh\nread x <"+w.name("never")+"\n")
	for _, name := range []string{"claude", "codex"} {
		if err := ownfile.Chmod(w.name("bin/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env.Look = func(name string) (string, error) { return exec.LookPath(w.name("bin/" + name)) }
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	w.write("project/bin/gemini", "#!/bin/sh\n: >"+w.name("ran")+"\n")
	if err := ownfile.Chmod(w.name("project/bin/gemini"), 0o755); err != nil {
		t.Fatal(err)
	}
	look := w.env.Look
	w.env.Look = func(name string) (string, error) {
		if name == "gemini" {
			return w.name("project/bin/gemini"), nil
		}
		return look(name)
	}
	w.env.Programs = anywhere.Programs()
	list := w.env.List(ctx, true)
	if _, err := os.Stat(w.name("ran")); err == nil || !list[2].Found {
		t.Errorf("a program of the project was run; %+v", list[2])
	}
	if c := list[0]; !c.Found || c.Version != "2.1.330" {
		t.Errorf("%+v", c)
	}
	if c := list[1]; !c.Found || c.Version != "" {
		t.Errorf("%+v", c)
	}
}

// TestBrokenPrograms: of a program that is there and does not work, setup says so.
func TestBrokenPrograms(t *testing.T) {
	w := newWorld(t)
	bin := w.name("bin")
	for name, mode := range map[string]os.FileMode{"claude": 0o755, "codex": 0o644, "gemini": 0o755} {
		script := "#!/bin/sh\necho 1.2.3\n"
		if name == "claude" {
			script = "#!/bin/sh\nexit 3\n"
		}
		w.write("bin/"+name, script)
		if err := ownfile.Chmod(w.name("bin/"+name), mode); err != nil {
			t.Fatal(err)
		}
	}
	w.env.Getenv = func(name string) string { return map[string]string{"PATH": bin}[name] }
	w.env.Look = func(name string) (string, error) { return exec.LookPath(filepath.Join(bin, name)) }
	w.env.Programs = anywhere.Programs()
	list := w.env.List(t.Context(), true)
	if c := list[0]; !c.Found || c.Trouble != w.name("bin/claude")+" --version fails: exit status 3" {
		t.Errorf("one that fails: %+v", c)
	}
	if c := list[1]; c.Found || c.Trouble != w.name("bin/codex")+" can't be run: it is not executable" {
		t.Errorf("one that is not executable: %+v", c)
	}
	if c := list[2]; !c.Found || c.Version != "1.2.3" || c.Trouble != "" {
		t.Errorf("the control: %+v", c)
	}
}
