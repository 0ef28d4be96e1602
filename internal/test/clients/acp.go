//go:build unix

package clients

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Agent is an agent's program that speaks the Agent Client Protocol. A test makes
// the environment in which sidecar-ls starts it that of its user.
type Agent struct {
	Name    string // of its profile
	program string
	core    func() string // the agent itself, where the program is an adapter: below node_modules
	coreVar string        // names it
	pinned  bool          // testdata/setup.sh installs it
	setUp   func(a *Home)
}

// Agents are those that tests run.
var Agents = []Agent{
	{Name: "claude-acp", program: "claude-agent-acp", core: claudePath, coreVar: "CLAUDE_CODE_EXECUTABLE", pinned: true, setUp: claudeHome},
	{Name: "codex-acp", program: "codex-acp", core: codexPath, coreVar: "CODEX_PATH", pinned: true, setUp: codexHome},
	{Name: "gemini", program: "gemini", setUp: geminiHome},
	{Name: "opencode", program: "opencode", setUp: opencodeHome},
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
	now := filepath.Join(directory(t), "now")
	modules := filepath.Join(now, "node_modules")
	t.Setenv("PATH", strings.Join([]string{filepath.Join(now, "adapters", "node_modules", ".bin"), filepath.Join(modules, ".bin"), os.Getenv("PATH")}, string(filepath.ListSeparator)))
	if _, err := exec.LookPath(a.program); err != nil {
		how := "npm installs it, below SIDECAR_CLIENTS/now or anywhere on PATH"
		if a.pinned {
			how = "make test installs it"
		}
		t.Skipf("%s is not here; %s", a.program, how)
	}
	if a.core != nil {
		t.Setenv(a.coreVar, filepath.Join(modules, a.core()))
	}
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
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
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

func claudeHome(h *Home) {
	for _, v := range claudeAsks(h.model) {
		name, value, _ := strings.Cut(v, "=")
		h.t.Setenv(name, value)
	}
}

// claudeAsks has Claude Code ask this model alone.
func claudeAsks(m *Model) []string {
	return append([]string{"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=sk-ant-none"}, quiet...)
}

// ClaudeAlone is claude-agent-acp as testdata/setup.sh has installed it in dir, for
// other programs than tests: its path, and what the environment of a server has, as
// NAME=value, for it to ask this model alone.
func ClaudeAlone(dir string, m *Model) (program string, env []string) {
	now := filepath.Join(dir, "now")
	return filepath.Join(now, "adapters", "node_modules", ".bin", "claude-agent-acp"),
		append(claudeAsks(m), "CLAUDE_CODE_EXECUTABLE="+filepath.Join(now, "node_modules", claudePath()), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
}

func codexHome(h *Home) {
	h.t.Setenv("OPENAI_API_KEY", "none")
	h.write(".codex/config.toml", codexConfig(h.model.URL))
}

func geminiHome(h *Home) {
	h.t.Setenv("GEMINI_API_KEY", "none")
	h.t.Setenv("GOOGLE_GEMINI_BASE_URL", h.model.URL)
	h.writeJSON(".gemini/settings.json", object{
		"model": object{"name": "gemini-2.5-flash"}, "security": object{"auth": object{"selectedType": "gemini-api-key"}},
		"privacy": object{"usageStatisticsEnabled": false}, "general": object{"enableAutoUpdate": false}, "telemetry": object{"enabled": false},
	})
	h.writeJSON(".gemini/trustedFolders.json", object{h.project: "TRUST_FOLDER"}) // in others it starts no server of ours
}

func opencodeHome(h *Home) {
	h.writeJSON(".config/opencode/opencode.json", object{
		"model": "test/scripted", "small_model": "test/scripted", "autoupdate": false, "share": "disabled",
		"permission": object{"edit": "ask", "bash": "ask", "sidecar_*": "ask"}, // by itself it asks nothing
		"provider": object{"test": object{
			"npm": "@ai-sdk/openai-compatible", "name": "test", "options": object{"baseURL": h.model.URL + "/v1", "apiKey": "none"},
			"models": object{"scripted": object{"name": "scripted", "tool_call": true, "limit": object{"context": 200000, "output": 8000}}},
		}},
	})
}
