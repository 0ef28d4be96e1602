//go:build linux

// Package firstday does what a new user does on the first day, with the program
// that the README's make install gives, a home directory with nothing in it, and a
// project in three languages. Visual Studio Code is driven elsewhere, by make
// test-vscode in editors/vscode/test/e2e/firstday.test.mjs.
package firstday

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

const repo = "../../.."

// files are a small project of three languages.
var files = map[string]string{
	"go.mod":            "module shop\n\ngo 1.24\n",
	"shop.go":           "package shop\n\nfunc Price() int { return 10 }\n",
	"shop_test.go":      "package shop\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) {\n\tif Price() != 10 {\n\t\tt.Fatal(Price())\n\t}\n}\n",
	"web/package.json":  `{"name": "web", "private": true, "type": "module", "scripts": {"test": "node --test"}}` + "\n",
	"web/sum.test.js":   "import test from 'node:test';\nimport assert from 'node:assert';\ntest('sum', () => assert.equal(1 + 1, 2));\n",
	"py/pyproject.toml": "[project]\nname = \"py\"\nversion = \"0\"\n",
	"py/test_it.py":     "def test_it():\n    assert 1 + 1 == 2\n",
}

// user is a person on the first day.
type user struct {
	t       *testing.T
	program string
	dir     string // the project
	bin     string // what is installed
	home    string
	env     []string
}

type object = map[string]any

type result struct {
	OK      bool   `json:"ok"`
	Content string `json:"content"`
}

func TestFirstDay(t *testing.T) {
	slow.Test(t)
	u := &user{t: t, dir: t.TempDir(), bin: t.TempDir(), home: home(t)}
	for name, text := range files {
		name = filepath.Join(u.dir, name)
		if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Mkdir(filepath.Join(u.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, flow := range []struct {
		name string
		run  func(*user)
	}{
		{"install from the README", (*user).install},
		{"doctor with nothing set up", (*user).doctor},
		{"doctor on a bare machine", (*user).bare},
		{"open in Neovim", (*user).neovim},
		{"first edit accepted", (*user).edit},
		{"first command approved with a pattern", (*user).command},
		{"first test run in a mixed repository", (*user).tests},
		{"first MCP agent attached", (*user).agent},
		{"first mistake undone", (*user).undo},
	} {
		ran := t.Run(flow.name, func(t *testing.T) {
			u.t = t
			flow.run(u)
		})
		if !ran && u.program == "" {
			return // nothing is installed
		}
	}
}

// home is an empty home directory, whose path is short, as that of a socket is.
func home(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "firstday-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ownfile.RemoveAll(dir) })
	return dir
}

// install runs the README's command, into a directory of the test's.
func (u *user) install() {
	readme := u.read(filepath.Join(repo, "README.md"))
	if !strings.Contains(readme, "`make install` puts `sidecar-ls` where `go install` does") {
		u.t.Fatal("the README installs in another way than this test does")
	}
	bin, home := u.bin, u.home
	install := exec.CommandContext(u.t.Context(), "make", "install")
	install.Dir, install.Env = repo, append(os.Environ(), "GOBIN="+bin)
	if out, err := install.CombinedOutput(); err != nil {
		u.t.Fatalf("make install: %v\n%s", err, out)
	}
	cache, err := exec.CommandContext(u.t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		u.t.Fatal(err)
	}
	u.env = []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "GOCACHE=" + strings.TrimSpace(string(cache)),
		"PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb",
	}
	u.program = filepath.Join(bin, "sidecar-ls")
	if out, code := u.run("--version"); code != 0 || !strings.HasPrefix(out, "sidecar-ls ") {
		u.t.Errorf("--version: %d %s", code, out)
	}
}

// doctor is content with a machine on which nothing is set up, and names what is
// not there.
func (u *user) doctor() {
	out, code := u.run("doctor")
	if code != 0 || strings.Contains(out, "FAIL") {
		u.t.Errorf("exit code %d\n%s", code, out)
	}
	for _, want := range []string{"no settings files; the mode is cautious", "nothing waits for review", "a model is shown", "no MCP servers are configured", "sidecar-ls trust yes"} {
		if !strings.Contains(out, want) {
			u.t.Errorf("doctor does not say %q\n%s", want, out)
		}
	}
}

// bare is doctor where there is neither a git command nor bubblewrap: it says
// what does not work then, and what to install.
func (u *user) bare() {
	bare := *u
	bare.env = append(slices.Clone(u.env), "PATH="+u.without("git", "bwrap", "rg"))
	out, code := bare.run("doctor")
	if want := "the git command is not installed: history, status and diffs are read without it; to stage, commit, push and stash, install git"; code != 0 || !strings.Contains(out, want) {
		u.t.Errorf("exit code %d, or without %q\n%s", code, want, out)
	}
}

// without is a directory of all programs of this machine but some. It is in the
// project, so that commands in the sandbox see it.
func (u *user) without(missing ...string) string {
	dir := filepath.Join(u.dir, "programs")
	if err := ownfile.Mkdir(dir, 0o755); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _ = ownfile.RemoveAll(dir) })
	for _, from := range []string{"/usr/bin", "/bin"} {
		list, _ := os.ReadDir(from)
		for _, e := range list {
			if !slices.Contains(missing, e.Name()) {
				_ = ownfile.Program(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())) // the first counts, and what is no program does not
			}
		}
	}
	return dir
}

// neovim has the configuration of its page.
func (u *user) neovim() {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(u.t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	_, block, _ := strings.Cut(u.read(filepath.Join(repo, "editors", "nvim", "README.md")), "```lua\n")
	block, _, found := strings.Cut(block, "```")
	if !found || !strings.Contains(block, "/path/to/sidecar-ls") {
		u.t.Fatal("the page has no configuration of Neovim")
	}
	here, err := filepath.Abs(repo)
	if err != nil {
		u.t.Fatal(err)
	}
	config := filepath.Join(u.t.TempDir(), "init.lua")
	if err := ownfile.WriteFile(config, []byte(strings.ReplaceAll(block, "/path/to/sidecar-ls", here)), 0o644); err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.CommandContext(u.t.Context(), nvim, "--headless", "-n", "-u", config, "-c", "luafile "+filepath.Join(here, "internal/test/firstday/testdata/first.lua"))
	cmd.Dir, cmd.Env = u.dir, u.env
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok - the server has left") {
		u.t.Errorf("%v\n%s", err, out)
	}
	// What Neovim left pending is decided, so that the next flow begins afresh.
	if out, code := u.run("review", "reject", "shop.go"); code != 0 {
		u.t.Errorf("reject: %d %s", code, out)
	}
}

// edit asks first, with the diff, and writes after a yes alone.
func (u *user) edit() {
	e := u.editor()
	e.Choose("Deny", "Allow")
	args := object{"path": "shop.go", "search": "return 10", "replace": "return 11"}
	if res := call(u, e, "edit_file", args); res.OK || u.read("shop.go") != files["shop.go"] {
		u.t.Errorf("denied: %+v", res)
	}
	if res := call(u, e, "edit_file", args); !res.OK || !strings.Contains(u.read("shop.go"), "return 11") {
		u.t.Errorf("allowed: %+v, the file has %s", res, u.read("shop.go"))
	}
	e.Choose("Allow")
	if res := call(u, e, "edit_file", object{"path": "shop.go", "search": "return 11", "replace": "return 10"}); !res.OK {
		u.t.Errorf("back: %+v", res)
	}
}

// command is asked about until the user allows what looks like it, and what looks
// like it alone.
func (u *user) command() {
	e := u.editor()
	run := func(line string) result { return call(u, e, "run_command", object{"command": line}) }
	e.Choose("Allow for session")
	if res := run("touch first.txt"); !res.OK {
		u.t.Fatalf("allowed: %+v", res)
	}
	if res := run("touch first.txt"); !res.OK {
		u.t.Errorf("the same again: %+v", res)
	}
	if res := run("touch second.txt"); res.OK {
		u.t.Errorf("another line is allowed with it: %+v", res)
	}
	e.Choose("Allow `touch *` for this session")
	for _, line := range []string{"touch second.txt", "touch third.txt", "ls && touch fourth.txt"} {
		if res := run(line); !res.OK {
			u.t.Errorf("%s, which the pattern fits: %+v", line, res)
		}
	}
	for _, line := range []string{"mkdir fifth", "touch sixth.txt && mkdir fifth", "touch .bashrc", "touch ../sixth.txt", "A=1 touch sixth.txt"} {
		if res := run(line); res.OK {
			u.t.Errorf("%s is allowed with it: %+v", line, res)
		}
	}
	if res := call(u, e, "run_command", object{"command": "touch sixth.txt", "env": object{"A": "1"}}); res.OK {
		u.t.Errorf("with a variable: %+v", res)
	}
	e.Choose("Allow `go test *` for this session")
	if res := run("go test ."); !res.OK {
		u.t.Fatalf("go test: %+v", res)
	}
	if res := run("go test -run TestPrice ./..."); !res.OK {
		u.t.Errorf("go test of another part: %+v", res)
	}
	for _, line := range []string{"go build", "go test . && rm -rf x", "go test -exec 'sh -c true' ."} {
		if res := run(line); res.OK {
			u.t.Errorf("%s is allowed with it: %+v", line, res)
		}
	}
	var why struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	err := e.ExecuteCommand(u.t.Context(), "sidecar.policy.explain", object{"name": "run_command", "arguments": object{"command": "go test -v ."}}, &why)
	if err != nil || why.Decision != "allow" || !strings.Contains(why.Reason, "a person allowed `go test *` for the session") {
		u.t.Errorf("explained: %v, %+v", err, why)
	}
}

// tests are found in each part, and what is not run is named.
func (u *user) tests() {
	out, code := u.run("call", "--mode", "autonomous", "run_tests")
	for _, want := range []string{"$ go test", "1 passed, 0 failed, 0 skipped", "Not run: pytest in py, npm in web"} {
		if code != 0 || !strings.Contains(out, want) {
			u.t.Errorf("exit code %d, want %q in\n%s", code, want, out)
		}
	}
	if _, err := exec.LookPath("npm"); err != nil {
		needs.Skip(u.t, needs.Node, "no npm on this machine")
	}
	if out, code := u.run("call", "--mode", "autonomous", "run_tests", "path=web"); code != 0 || !strings.Contains(out, "1 passed, 0 failed, 0 skipped") {
		u.t.Errorf("exit code %d\n%s", code, out)
	}
}

// agent is one that has the README's lines for MCP; the editor's user is asked.
func (u *user) agent() {
	e := u.editor()
	cmd := exec.Command(u.program, "mcp", "--root", u.dir)
	cmd.Env = u.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	a, err := sdk.NewClient(&sdk.Implementation{Name: "first", Version: "1"}, nil).Connect(u.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		u.t.Fatalf("%v\n%s", err, &stderr)
	}
	defer a.Close()
	e.Choose("Allow")
	res, err := a.CallTool(u.t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": "agent.txt", "content": "hello\n"}})
	if err != nil || res.IsError || u.read("agent.txt") != "hello\n" {
		u.t.Errorf("%v %+v\n%s", err, res, &stderr)
	}
}

// undo takes an accept back, from a shell beside the editor.
func (u *user) undo() {
	e := u.editor()
	if err := e.ExecuteCommand(u.t.Context(), "sidecar.mode.set", object{"mode": "review"}, nil); err != nil {
		u.t.Fatal(err)
	}
	before := u.read("shop.go")
	if res := call(u, e, "edit_file", object{"path": "shop.go", "search": "Price() int", "replace": "Cost() int"}); !res.OK || !strings.Contains(res.Content, "Held for review") {
		u.t.Fatalf("%+v", res)
	}
	if out, code := u.run("review", "accept", "shop.go"); code != 0 || !strings.Contains(u.read("shop.go"), "Cost") {
		u.t.Fatalf("accept: %d %s", code, out)
	}
	if out, code := u.run("review", "undo"); code != 0 || u.read("shop.go") != before {
		u.t.Errorf("undo: %d %s, the file has %s", code, out, u.read("shop.go"))
	}
	if out, code := u.run("review"); code != 0 || !strings.Contains(out, "shop.go  modify") {
		u.t.Errorf("it is not pending again: %d %s", code, out)
	}
}

// run runs the installed program in the project.
func (u *user) run(args ...string) (string, int) {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), u.program, args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		u.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// editor is one whose server is the installed program, until the flow's end.
func (u *user) editor() *fakeeditor.Editor {
	u.t.Helper()
	cmd := exec.Command(u.program, "serve")
	cmd.Env = u.env
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: u.dir})
	if err == nil {
		_, err = e.Initialize(u.t.Context())
	}
	if err != nil {
		u.t.Fatal(err)
	}
	t := u.t
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return e
}

func call(u *user, e *fakeeditor.Editor, tool string, args object) result {
	u.t.Helper()
	var res result
	if err := e.ExecuteCommand(u.t.Context(), "sidecar.tools.call", object{"name": tool, "arguments": args}, &res); err != nil {
		u.t.Fatalf("%s: %v", tool, err)
	}
	return res
}

// read reads a file, of the project unless the name says otherwise.
func (u *user) read(name string) string {
	u.t.Helper()
	if !strings.HasPrefix(name, repo) {
		name = filepath.Join(u.dir, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(text)
}
