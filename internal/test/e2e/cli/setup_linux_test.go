package cli_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// person is who sets up clients: a home directory, and programs in PATH.
type person struct {
	t              *testing.T
	home, dir, bin string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	e2e.Home(t)
	p := &person{t, t.TempDir(), e2e.Project(t, map[string]string{"a.txt": "one\n"}), t.TempDir()}
	t.Setenv("HOME", p.home)
	for _, name := range []string{"XDG_STATE_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME"} {
		t.Setenv(name, "")
	}
	self, err := os.Executable()
	if err == nil {
		err = ownfile.Symlink(self, filepath.Join(p.bin, "sidecar-ls"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", p.bin+":"+os.Getenv("PATH"))
	return p
}

// program puts a program into PATH that leaves a trace when it is run.
func (p *person) program(name, says string) (ran func() bool) {
	p.t.Helper()
	trace := filepath.Join(p.bin, name+".ran")
	e2e.Write(p.t, filepath.Join(p.bin, name), "#!/bin/sh\n: >"+trace+"\necho '"+says+"'\n")
	if err := ownfile.Chmod(filepath.Join(p.bin, name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	return func() bool {
		_, err := os.Stat(trace)
		return err == nil
	}
}

func (p *person) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.home, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(data)
}

// at runs setup, as command runs any.
func (p *person) at(tty *os.File, args ...string) (out string, code int) {
	p.t.Helper()
	return p.command(tty, "setup", args...)
}

// command runs a command in a process of its own: with that terminal, or with none.
func (p *person) command(tty *os.File, name string, args ...string) (out string, code int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(p.bin, "sidecar-ls"), append([]string{name, "--root", p.dir}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if tty != nil {
		cmd.Stdin, cmd.SysProcAttr.Setctty = tty, true
	}
	data, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}

// TestSetupAsks: nothing is written that a person has not agreed to.
func TestSetupAsks(t *testing.T) {
	p := newPerson(t)
	const file = ".codex/config.toml"
	p.program("claude", "2.1.330 (Claude Code)")
	expect := func(out string, code, wantCode int, says string, written bool) {
		t.Helper()
		if code != wantCode || !strings.Contains(out, says) {
			t.Errorf("exit %d, want %d; %q is to be in\n%s", code, wantCode, says, out)
		}
		if (p.read(file) != "") != written {
			t.Errorf("written: %v\n%s", !written, out)
		}
	}
	out, code := p.at(nil, "codex")
	expect(out, code, 1, "nothing was written: there is no terminal here; run it in a terminal, or with --yes", false)
	out, code = p.at(nil, "codex", "--json")
	expect(out, code, 1, `"written": false`, false)
	out, code = p.at(nil, "codex", "--dry-run")
	expect(out, code, 0, "+[mcp_servers.sidecar]", false)
	for _, answer := range []struct {
		text string
		yes  bool
	}{{"n\nn", false}, {"n\nno", false}, {"n\n\x04", false}, {"n\n", true}} {
		other, tty := pty(t)
		seen := make(chan string, 1)
		go func() {
			data, _ := io.ReadAll(other) // ends with an error when nobody has the terminal any more
			seen <- string(data)
		}()
		if _, err := io.WriteString(other, answer.text+"\n"); err != nil {
			t.Fatal(err)
		}
		out, code := p.at(tty, "codex")
		tty.Close()
		if asked := <-seen; !strings.Contains(asked, "Review all its edits before they reach your files?") || !strings.Contains(asked, "Change 1 file? [Y/n]") {
			t.Errorf("the terminal shows %q", asked)
		}
		if answer.yes {
			expect(out, code, 0, "To take it back: sidecar-ls setup codex --undo", true)
			expect(out, code, 0, "own tools are not reviewed. To review all: sidecar-ls setup codex --review", true)
		} else {
			expect(out, code, 1, "nothing was written", false)
		}
	}
	out, code = p.at(nil, "codex")
	expect(out, code, 0, "Codex CLI is set up already", true)
	out, code = p.at(nil, "codex", "--undo")
	expect(out, code, 1, "nothing was written", true)
	out, code = p.at(nil, "codex", "--undo", "--yes")
	expect(out, code, 0, "config.toml (removed)\n  - [mcp_servers.sidecar]\n", false)
	out, code = p.at(nil, "codex", "--undo", "--yes")
	expect(out, code, 0, "nothing of ours in Codex CLI", false)
	out, code = p.at(nil, "nano")
	expect(out, code, 2, "it knows claude, codex", false)
	out, code = p.at(nil, "--yes")
	expect(out, code, 2, "with the name of a client", false)
	for _, flag := range []string{"--via", "--road"} { // which was its name
		out, code = p.at(nil, "codex", flag, "air", "--yes")
		expect(out, code, 1, `Codex CLI has no integration "air"; it has mcp, world, hook`, false)
		out, code = p.at(nil, "vscode", flag, "ide")
		expect(out, code, 0, "code --install-extension", false)
	}
	if out, _ = p.at(nil, "--help"); !strings.Contains(out, "-via string") || strings.Contains(out, "road") {
		t.Errorf("help on setup says\n%s", out)
	}

	e2e.Write(t, filepath.Join(p.home, ".cursor/mcp.json"), `{"mcpServers": {"sidecar": {"command": "docker"}}}`)
	out, code = p.at(nil, "cursor")
	if code != 1 || !strings.Contains(out, "Careful: mcpServers.sidecar") || !strings.Contains(p.read(".cursor/mcp.json"), "docker") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code = p.at(nil, "cursor", "--yes"); code != 0 || strings.Contains(p.read(".cursor/mcp.json"), "docker") {
		t.Errorf("exit %d\n%s", code, out)
	}

	out, code = p.at(nil, "--json")
	var list struct{ Clients []setup.Client }
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list.Clients) != len(setup.Names()) {
		t.Fatalf("exit %d, %v\n%s", code, err, out)
	}
	if c := list.Clients[0]; c.Name != "claude" || !c.Found || c.Version != "2.1.330" || c.Roads[0].State != setup.Off {
		t.Errorf("%+v", c)
	}
}

// TestSetupList: the list says of each client what to type now, and a line for each
// integration; what these give is said on demand.
func TestSetupList(t *testing.T) {
	p := newPerson(t)
	t.Setenv("PATH", p.bin) // no other agent
	p.program("claude", "2.1.330 (Claude Code)")
	const gives = "The whole program runs on a private copy"
	out, code := p.at(nil)
	if code != 0 || !strings.HasPrefix(out, "claude (Claude Code): found 2.1.330\n  now: sidecar-ls run -- claude\n  mcp    off        sidecar-ls setup claude\n") || strings.Contains(out, gives) || strings.Count(out, "\n") > 12 {
		t.Errorf("exit %d\n%s", code, out)
	}
	e2e.Write(t, filepath.Join(p.home, ".gemini/settings.json"), "{}")
	if out, _ := p.at(nil); !strings.Contains(out, "gemini (Gemini CLI): found, but its settings are here, and no gemini on PATH\n  mcp    off") {
		t.Errorf("an agent that is not here has something to type:\n%s", out)
	}
	if all, code := p.at(nil, "--all"); code != 0 || !strings.Contains(all, gives) || !strings.Contains(out, "not found: ") || !strings.Contains(out, "Sublime Text") {
		t.Errorf("exit %d\n%s", code, all)
	}
	if out, code = p.at(nil, "claude", "--review", "--yes"); code != 0 {
		t.Fatal(out)
	}
	out, code = p.at(nil)
	if code != 0 || !strings.Contains(out, "\n  now: claude\n  mcp    on\n  world  unavailable (its own tools are off; to turn them on: sidecar-ls setup claude --undo)\n") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code = p.at(nil, "claude", "--all"); code != 2 {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code = p.at(nil, "sublime"); code != 0 || !strings.Contains(out, "Preferences: LSP Settings") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// TestDoctorAgents: doctor says of an agent in PATH whether it is set up, and
// does not start it.
func TestDoctorAgents(t *testing.T) {
	p := newPerson(t)
	ran := p.program("gemini", "0.61.0")
	const off, on = "Gemini CLI: mcp is off; sidecar-ls setup gemini sets it up", "Gemini CLI: mcp is on"
	if out, _, _ := e2e.RunCLI(t, "", "doctor", "--root", p.dir); !strings.Contains(out, off) {
		t.Errorf("doctor says\n%s", out)
	}
	if out, stderr, code := e2e.RunCLI(t, "", "setup", "gemini", "--yes", "--root", p.dir); code != 0 {
		t.Fatal(out, stderr)
	}
	if out, _, _ := e2e.RunCLI(t, "", "doctor", "--root", p.dir); !strings.Contains(out, on) {
		t.Errorf("doctor says\n%s", out)
	}
	if ran() {
		t.Error("the program was run")
	}
	if e2e.RunCLI(t, "", "setup", "--root", p.dir); !ran() {
		t.Error("the control: the list asks for the version")
	}
}

// TestSetupRealAgents: the programs that people use list our server after setup,
// and not after undo.
func TestSetupRealAgents(t *testing.T) {
	slow.Test(t)
	for i, program := range clients.Programs {
		t.Run(program.Name, func(t *testing.T) {
			path := program.Find(t)
			p := newPerson(t)
			list := func() string {
				cmd := exec.CommandContext(t.Context(), path, "mcp", "list")
				cmd.Dir = p.dir
				cmd.Env = []string{
					"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "IS_SANDBOX=1",
					"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			name := []string{"claude", "codex"}[i]
			want := []string{"sidecar: sidecar-ls mcp - ✔ Connected", "sidecar-ls"}[i]
			for _, only := range []string{"--via=mcp", "--only-ours"} {
				if out, code := p.at(nil, name, "--yes", only); code != 0 {
					t.Fatal(out)
				}
				if out := list(); !strings.Contains(out, want) {
					t.Errorf("with %s it lists\n%s", only, out)
				}
			}
			if out, code := p.at(nil, name, "--undo", "--yes"); code != 0 || strings.Contains(out, "by hand") {
				t.Fatal(out)
			}
			if out := list(); strings.Contains(out, "sidecar-ls") {
				t.Errorf("after undo it lists\n%s", out)
			}
		})
	}
}

// TestSetupNeovim: a real Neovim has the plug-in after setup, without a line in
// init.lua, and lets init.lua set it up where that does.
func TestSetupNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "Neovim is not here; make tools installs it")
	}
	p := newPerson(t)
	t.Setenv("XDG_DATA_HOME", filepath.Join(p.home, ".local", "share"))
	has := func(lua string) string {
		cmd := exec.CommandContext(t.Context(), nvim, "--headless", "+lua io.write(tostring("+lua+"))", "+qa!")
		cmd.Dir = p.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	const there, lenses = "vim.fn.exists(':SidecarReview') == 2", "require('sidecar').config.lenses"
	const help = "pcall(vim.cmd, 'help sidecar') and vim.fn.expand('%:t')"
	if out := has(there) + has(help); out != "falsefalse" {
		t.Fatalf("the control: %s", out)
	}
	if out, code := p.at(nil, "nvim", "--yes"); code != 0 || !strings.Contains(out, "start/sidecar (the plug-in, ") || strings.Count(out, "sidecar.lua") > 0 {
		t.Fatal(out)
	}
	if out := has(there); out != "true" {
		t.Error(out)
	}
	if out := has(help); out != "sidecar.txt" {
		t.Errorf(":help sidecar is %s", out)
	}
	e2e.Write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "nvim", "init.lua"), "require('sidecar').setup { lenses = true }\n")
	if out := has(there + " and " + lenses); out != "true" {
		t.Errorf("with options in init.lua: %s", out)
	}
	if err := ownfile.Remove(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "nvim", "init.lua")); err != nil {
		t.Fatal(err)
	}
	if out, code := p.at(nil, "nvim", "--undo", "--yes"); code != 0 {
		t.Fatal(out)
	}
	if out := has(there); out != "false" {
		t.Errorf("after undo: %s", out)
	}
}
