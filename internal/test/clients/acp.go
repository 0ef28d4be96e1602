package clients

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Agent is an agent's program that speaks the Agent Client Protocol. A test makes
// the environment in which sidecar-ls starts it that of its user.
type Agent struct {
	Name    string        // of its profile
	path    func() string // of its program, below node_modules
	core    func() string // the agent itself, where the program is an adapter: below node_modules
	coreVar string        // names it
	setUp   func(a *Home)
}

// Agents are those that tests run.
var Agents = []Agent{
	{Name: "claude", path: bin("claude-agent-acp"), core: claudePath, coreVar: "CLAUDE_CODE_EXECUTABLE", setUp: claudeHome},
	{Name: "codex", path: bin("codex-acp"), core: codexPath, coreVar: "CODEX_PATH", setUp: codexHome},
	{Name: "gemini", path: geminiPath, setUp: geminiHome},
	{Name: "opencode", path: opencodePath, setUp: opencodeHome},
}

// bin is the path of a program that npm makes a link to.
func bin(name string) func() string {
	return func() string { return filepath.Join(".bin", name) }
}

// Home is what an agent finds of its user's.
type Home struct {
	t       *testing.T
	dir     string
	project string
	model   *Model
}

// Find puts the agent on the PATH of the test, which it skips if the agent is not here.
func (a Agent) Find(t *testing.T) {
	t.Helper()
	program := find(t, a.Name, a.path())
	t.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if a.core != nil {
		t.Setenv(a.coreVar, find(t, a.Name, a.core()))
	}
}

// FindInstalled puts the agent itself on the PATH of the test, and has its adapter be
// where sidecar-ls installs it. The test is skipped if they are not here.
func (a Agent) FindInstalled(t *testing.T) {
	t.Helper()
	find(t, a.Name, a.path())
	t.Setenv("PATH", filepath.Dir(find(t, a.Name, a.core()))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(directory(t), "now"))
}

// Start makes the environment of the test that of the agent's user, and starts the
// model that the test plays.
func (a Agent) Start(t *testing.T, project string) *Model {
	t.Helper()
	h := &Home{t: t, dir: t.TempDir(), project: project, model: newModel(t, true)}
	t.Setenv("HOME", h.dir)
	t.Setenv("NO_PROXY", "127.0.0.1")
	t.Setenv("no_proxy", "127.0.0.1")
	a.setUp(h)
	return h.model
}

// Turns are the requests of the agent.
func (m *Model) Turns() <-chan *Turn { return m.turns }

func (h *Home) write(name, text string) {
	h.t.Helper()
	file := filepath.Join(h.dir, name)
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(file), 0o700), ownfile.WriteFile(file, []byte(text), 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *Home) writeJSON(name string, v any) {
	h.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		h.t.Fatal(err)
	}
	h.write(name, string(data))
}

// set sets variables that are given as NAME=value.
func (h *Home) set(env []string) {
	h.t.Helper()
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		h.t.Setenv(name, value)
	}
}

func claudeHome(h *Home) { h.set(claudeAsks(h.model)) }

// claudeAsks has Claude Code ask this model alone.
func claudeAsks(m *Model) []string {
	return append([]string{"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=sk-ant-none"}, quiet...)
}

// ClaudeAlone is claude-agent-acp as testdata/setup.sh has installed it in dir, for
// other programs than tests: its path, and what the environment of a server has, as
// NAME=value, for it to ask this model alone.
func ClaudeAlone(dir string, m *Model) (program string, env []string) {
	now := filepath.Join(dir, "now")
	adapters, _ := filepath.Glob(filepath.Join(now, "sidecar", "adapters", "claude-agent-acp-*", "node_modules", ".bin", "claude-agent-acp"))
	if len(adapters) == 0 {
		adapters = []string{"claude-agent-acp"} // which is not there: the start says so
	}
	return adapters[0],
		append(claudeAsks(m), "CLAUDE_CODE_EXECUTABLE="+filepath.Join(now, "node_modules", claudePath()), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
}

func codexHome(h *Home) {
	h.t.Setenv("OPENAI_API_KEY", "none")
	h.write(".codex/config.toml", codexConfig(h.model.URL))
}

func geminiHome(h *Home) {
	h.set(geminiAsks(h.model))
	for name, v := range geminiFiles(h.project, nil) {
		h.writeJSON(name, v)
	}
}

func opencodeHome(h *Home) {
	h.set(opencodeQuiet)
	h.writeJSON(opencodeFile, opencodeConfig(h.model.URL, "ask"))
}
