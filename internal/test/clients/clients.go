// Package clients runs agents' programs, as their users have them, against
// sidecar-ls, with a model that a test plays. Nothing leaves this machine.
package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/procgroup"
)

// patience bounds how long a program may take to ask its model the next time;
// most of it is for machines that have much else to do.
const patience = 60 * time.Second

// Program is an agent's program.
type Program struct {
	Name  string
	path  func() string // below node_modules
	start func(c *Client, o Options) (args, env []string)
}

// Programs are those that tests run.
var Programs = []Program{
	{"Claude Code", claudePath, claude},
	{"Codex", codexPath, codex},
}

// Alone are programs with their own tools and without a server: they write wherever
// they can.
var Alone = []Program{
	{"Claude Code", claudePath, claudeAlone},
	{"Codex", codexPath, codexAlone},
	{"Gemini CLI", geminiPath, geminiAlone},
	{"OpenCode", opencodePath, opencodeAlone},
}

// InEditor and GeminiInEditor are programs in a terminal, which look for an editor.
// Their user is asked about edits there, and nowhere else.
var (
	InEditor       = Program{"Claude Code", claudePath, claudeInEditor}
	GeminiInEditor = Program{"Gemini CLI", geminiPath, geminiInEditor}
)

// Hooked and Asking are Claude Code with a server beside its own tools: without more, and
// with the server's tool approve asked in the place of its user.
var (
	Hooked = Program{"Claude Code", claudePath, claude}
	Asking = Program{"Claude Code", claudePath, claudeAsking}
)

// arch is the machine's architecture as npm names it.
func arch() string { return strings.Replace(runtime.GOARCH, "amd64", "x64", 1) }

func claudePath() string {
	return filepath.Join("@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch(), "claude")
}

func codexPath() string {
	cpu := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	return filepath.Join("@openai", "codex-"+runtime.GOOS+"-"+arch(), "vendor", cpu+"-unknown-linux-musl", "bin", "codex")
}

// geminiPath has the name by which the program's profile is found.
var geminiPath = bin("gemini")

// opencodePath is the program itself, which its package leaves to a script to put into place.
func opencodePath() string {
	return filepath.Join("opencode-"+runtime.GOOS+"-"+arch(), "bin", "opencode")
}

// directory is where testdata/setup.sh has installed the programs.
func directory(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("SIDECAR_CLIENTS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "sidecar-clients")
}

// prefixes are the directories whose node_modules have programs: those of
// testdata/setup.sh, and the one that the person names who runs the tests.
func prefixes(t testing.TB) []string {
	now := filepath.Join(directory(t), "now")
	all, err := filepath.Glob(filepath.Join(now, "sidecar", "adapters", "*"))
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, now)
	if dir := os.Getenv("SIDECAR_AGENTS"); dir != "" {
		all = append(all, dir)
	}
	return all
}

// find returns where a program is, by its path below node_modules, or skips the test.
func find(t testing.TB, name, path string) string {
	t.Helper()
	for _, dir := range prefixes(t) {
		file := filepath.Join(dir, "node_modules", path)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	needs.Skip(t, needs.Agents, fmt.Sprintf("%s is not here; make test installs it, or SIDECAR_AGENTS names the directory that has it: see internal/test/clients/testdata/setup.sh", name))
	return ""
}

// Find returns the program's path.
func (p Program) Find(t testing.TB) string {
	t.Helper()
	return find(t, p.Name, p.path())
}

// Options say how a program is started.
type Options struct {
	Path   string   // of the program, from Find
	Dir    string   // the project
	Server []string // the command line of sidecar-ls
	Env    []string // for the server, NAME=value
	In     []string // a command line that the program's own is the rest of
	Home   string   // of its user; "" is an empty one
	More   []string // arguments besides its own

	// By says, of the address of its model, by which one the program knows it; nil: by the same.
	By func(url string) string

	Terminal bool // it has one, and no server

	// Person reads what is new in the terminal and returns what the user types; nil: they only look.
	Person func(shown string) (typed string)
}

// Client is a program that runs.
type Client struct {
	t     testing.TB
	name  string
	home  string
	model *Model
	cmd   *exec.Cmd
	out   words
	done  chan struct{}
}

// words is what a program writes.
type words struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// Start starts the program with one task, without a terminal. The test plays
// its model.
func (p Program) Start(t testing.TB, o Options) *Client {
	t.Helper()
	c := &Client{t: t, name: p.Name, home: t.TempDir(), model: newModel(t, o.In != nil || o.Terminal), done: make(chan struct{})}
	if o.Home != "" {
		c.home = o.Home
	}
	if o.By != nil {
		c.model.URL = o.By(c.model.URL)
	}
	args, env := p.start(c, o)
	argv := slices.Concat(o.In, []string{o.Path}, args, o.More)
	c.cmd = exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	c.cmd.Dir = o.Dir
	c.cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"}, append(env, o.Env...)...)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	procgroup.Own(c.cmd)
	c.cmd.WaitDelay = time.Second // what it leaves may hold its output
	if err := c.begin(o); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.done)
	}()
	t.Cleanup(func() {
		_ = procgroup.End(c.cmd)
		<-c.done
	})
	return c
}

// begin starts the program, in a terminal of its own if it is to have one.
func (c *Client) begin(o Options) error {
	if !o.Terminal {
		return c.cmd.Start()
	}
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.SysProcAttr = nil, nil, nil // it gets a session, which is a group, too
	c.cmd.Env = append(c.cmd.Env, "TERM=xterm-256color")
	tty, err := pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 50, Cols: 150})
	if err != nil {
		return err
	}
	c.t.Cleanup(func() { _ = tty.Close() })
	var to io.Writer = &c.out
	if o.Person != nil {
		to = io.MultiWriter(to, answering{tty, o.Person})
	}
	go func() { _, _ = io.Copy(to, tty) }()
	return nil
}

// answering types what a person answers to what they see.
type answering struct {
	tty    io.Writer
	person func(shown string) string
}

func (a answering) Write(b []byte) (int, error) {
	if typed := a.person(string(b)); typed != "" {
		if _, err := io.WriteString(a.tty, typed); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// Turn waits until the program asks its model.
func (c *Client) Turn() *Turn {
	c.t.Helper()
	select {
	case turn := <-c.model.turns:
		return turn
	case <-c.done:
		c.t.Fatalf("%s has ended:\n%s", c.name, &c.out)
	case <-time.After(patience):
		c.t.Fatalf("%s does not ask:\n%s", c.name, &c.out)
	}
	return nil
}

// Turns are the requests of the program, for a test that waits for something
// else as well.
func (c *Client) Turns() <-chan *Turn { return c.model.turns }

// Wait waits until the program has ended.
func (c *Client) Wait() {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.t.Fatalf("%s does not end:\n%s", c.name, &c.out)
	}
}

// Interrupt is what Ctrl+C does.
func (c *Client) Interrupt() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
}

// write puts a file into the program's home.
func (c *Client) write(name, text string) string {
	c.t.Helper()
	file := filepath.Join(c.home, name)
	if err := ownfile.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := ownfile.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return file
}

func claude(c *Client, o Options) (args, env []string) {
	vars := map[string]string{}
	for _, e := range o.Env {
		name, value, _ := strings.Cut(e, "=")
		vars[name] = value
	}
	conf, err := json.Marshal(object{"mcpServers": object{"sidecar": object{"type": "stdio", "command": o.Server[0], "args": o.Server[1:], "env": vars}}})
	if err != nil {
		c.t.Fatal(err)
	}
	return []string{
		"-p", "Do as planned.", "--output-format", "stream-json", "--verbose",
		"--mcp-config", c.write("mcp.json", string(conf)), "--strict-mcp-config", "--allowedTools", "mcp__sidecar",
	}, append([]string{"ANTHROPIC_BASE_URL=" + c.model.URL, "ANTHROPIC_API_KEY=sk-ant-none"}, quiet...)
}

func claudeAsking(c *Client, o Options) (args, env []string) {
	args, env = claude(c, o)
	return append(args, "--permission-mode", "default", "--permission-prompt-tool", "mcp__sidecar__approve"), env
}

// quiet keeps Claude Code from asking anybody but its model.
var quiet = []string{"IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}

func claudeAlone(c *Client, _ Options) (args, env []string) {
	return []string{"-p", "Do as planned.", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"},
		append([]string{"ANTHROPIC_BASE_URL=" + c.model.URL, "ANTHROPIC_API_KEY=sk-ant-none"}, quiet...)
}

// claudeInEditor has seen what a first start shows and asks.
func claudeInEditor(c *Client, o Options) (args, env []string) {
	state, err := json.Marshal(object{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "autoConnectIde": true, "hasIdeOnboardingBeenShown": object{"fakeeditor": true},
		"customApiKeyResponses": object{"approved": []string{"sk-ant-none"}, "rejected": []string{}},
		"projects":              object{o.Dir: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{}}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(".claude.json", string(state))
	return []string{"Do as planned.", "--permission-mode", "default"}, append([]string{"ANTHROPIC_BASE_URL=" + c.model.URL, "ANTHROPIC_API_KEY=sk-ant-none"}, quiet...)
}

func codexAlone(c *Client, _ Options) (args, env []string) {
	c.write(".codex/config.toml", codexConfig(c.model.URL))
	return []string{"exec", "--skip-git-repo-check", "--json", "Do as planned."}, []string{"OPENAI_API_KEY=none"}
}

// codexConfig has Codex ask the model of the test.
func codexConfig(url string) string {
	return fmt.Sprintf(`
model = "scripted"
model_provider = "test"
check_for_update_on_startup = false
[model_providers.test]
name = "test"
base_url = "%s/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
`, url)
}

func codex(c *Client, o Options) (args, env []string) {
	var vars strings.Builder
	for _, e := range o.Env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&vars, "%s = %q\n", name, value)
	}
	server, err := json.Marshal(o.Server[1:])
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(".codex/config.toml", fmt.Sprintf(`
model = "scripted"
model_provider = "test"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[model_providers.test]
name = "test"
base_url = "%s/v1"
env_key = "NO_KEY"
wire_api = "responses"
[analytics]
enabled = false
[features]
shell_tool = false
unified_exec = false
[mcp_servers.sidecar]
command = %q
args = %s
default_tools_approval_mode = "approve"
[mcp_servers.sidecar.env]
%s`, c.model.URL, o.Server[0], server, &vars))
	return []string{"exec", "--skip-git-repo-check", "--json", "Do as planned."}, []string{"CODEX_HOME=" + filepath.Join(c.home, ".codex"), "NO_KEY=none"}
}

// Printed is what the program has written to its terminal.
func (c *Client) Printed() string { return c.out.String() }

// Vite returns a node_modules directory with Vite, whose dev server agents start.
func Vite(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(directory(t), "now", "vite", "node_modules")
	if _, err := os.Stat(dir); err != nil {
		needs.Skip(t, needs.Programs, "vite, which make test installs: see internal/test/clients/testdata/setup.sh")
	}
	return dir
}
