// Package profiles is the table of agents: what of the user's each of them needs to
// run in a session's world, and no more.
package profiles

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// Profile is an agent's program.
type Profile struct {
	Name       string
	Title      string
	Program    string   // its name on PATH
	State      []string // directories of the home, relative to it, that it reads and writes
	Copied     []string // files of the home of which it has copies: what it changes of them stays with the profile
	Env        []string // variables that it gets besides those of every command
	Runs       []string // those of Env that name a program which it starts
	Network    bool     // it has the network
	ACP        []string // arguments with which it speaks the Agent Client Protocol; nil: it does not
	ACPVersion int      // of that protocol: the latest that it is asked for; 0: 1
	Mode       string   // of its own over ACP, in which it works in a world; "" is the one that it takes
	Alone      bool     // over ACP it reads and writes all files itself: asking us for them it trips
	Resume     []string // arguments with which it goes on with its last conversation; nil: not known
	Tried      bool     // the real program was run with the profile
}

// Keys of providers that several agents read.
const (
	anthropicKey  = "ANTHROPIC_API_KEY"
	openAIKey     = "OPENAI_API_KEY"
	openRouterKey = "OPENROUTER_API_KEY"
	geminiKey     = "GEMINI_API_KEY"
	openAIURL     = "OPENAI_BASE_URL"
)

// Programs that adapters start, where they are not to find them by themselves.
const (
	claudeProgram = "CLAUDE_CODE_EXECUTABLE"
	codexProgram  = "CODEX_PATH"
)

var claudeEnv = []string{anthropicKey, "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN", "IS_SANDBOX", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"}

// builtin is one row for each agent. About the modes: in its own, Claude Code asks
// nobody and refuses what its maker's service does not judge; Codex has a sandbox,
// which can't be set up in ours. Gemini CLI takes a file that we say is missing for
// one that can't be read.
var builtin = []Profile{
	{Name: "claude", Title: "Claude Code", Program: "claude", State: []string{".claude"}, Copied: []string{".claude.json"}, Env: claudeEnv, Network: true, Resume: []string{"--continue"}, Tried: true},
	{Name: "claude-acp", Title: "Claude Code, over ACP", Program: "claude-agent-acp", State: []string{".claude"}, Copied: []string{".claude.json"}, Env: append([]string{claudeProgram}, claudeEnv...), Runs: []string{claudeProgram}, Network: true, ACP: []string{}, Mode: "default", Tried: true},
	{Name: "codex", Title: "Codex", Program: "codex", State: []string{".codex"}, Env: []string{openAIKey, openAIURL, "CODEX_API_KEY"}, Network: true, Resume: []string{"resume", "--last"}, Tried: true},
	{Name: "codex-acp", Title: "Codex, over ACP", Program: "codex-acp", State: []string{".codex"}, Env: []string{codexProgram, openAIKey, openAIURL, "CODEX_API_KEY"}, Runs: []string{codexProgram}, Network: true, ACP: []string{}, Mode: "agent-full-access", Tried: true},
	{Name: "gemini", Title: "Gemini CLI", Program: "gemini", State: []string{".gemini"}, Env: []string{geminiKey, "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GENAI_USE_VERTEXAI"}, Network: true, ACP: []string{"--acp"}, Mode: "default", Alone: true, Resume: []string{"--resume"}, Tried: true},
	{Name: "opencode", Title: "OpenCode", Program: "opencode", State: []string{".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"}, Env: []string{anthropicKey, openAIKey, openRouterKey, "OPENCODE_API_KEY", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH"}, Network: true, ACP: []string{"acp"}, Resume: []string{"--continue"}, Tried: true},
	{Name: "copilot", Title: "Copilot CLI", Program: "copilot", State: []string{".copilot"}, Env: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"}, Network: true, ACP: []string{"--acp"}, Resume: []string{"--continue"}},
	{Name: "crush", Title: "Crush", Program: "crush", State: []string{".config/crush", ".local/share/crush"}, Env: []string{anthropicKey, openAIKey, openRouterKey, geminiKey}, Network: true},
	{Name: "goose", Title: "goose", Program: "goose", State: []string{".config/goose", ".local/share/goose", ".local/state/goose"}, Env: []string{anthropicKey, openAIKey, openRouterKey, "GOOGLE_API_KEY"}, Network: true, ACP: []string{"acp"}, Resume: []string{"session", "--resume"}},
	{Name: "aider", Title: "Aider", Program: "aider", State: []string{".aider"}, Copied: []string{".aider.conf.yml"}, Env: []string{anthropicKey, openAIKey, openRouterKey, geminiKey, "OPENAI_API_BASE"}, Network: true, Resume: []string{"--restore-chat-history"}},
	{Name: "cursor-agent", Title: "Cursor CLI", Program: "cursor-agent", State: []string{".cursor", ".config/cursor", ".local/share/cursor-agent"}, Env: []string{"CURSOR_API_KEY"}, Network: true, ACP: []string{"acp"}, Resume: []string{"resume"}},
	{Name: "qwen", Title: "Qwen Code", Program: "qwen", State: []string{".qwen"}, Env: []string{openAIKey, openAIURL, "OPENAI_MODEL", "DASHSCOPE_API_KEY"}, Network: true, ACP: []string{"--acp"}, Resume: []string{"--continue"}},
}

// All are the profiles, with what the user's settings add or change, sorted by name.
func All(set *config.Settings) []Profile {
	all := map[string]Profile{}
	for _, p := range builtin {
		all[p.Name] = p
	}
	for name, a := range set.Agents() {
		p, known := all[name]
		if !known {
			p = Profile{Name: name, Title: name, Program: name}
		}
		p.Program = cmp.Or(a.Program, p.Program)
		for to, list := range map[*[]string][]string{&p.State: a.State, &p.Copied: a.Copied, &p.Env: a.Env, &p.ACP: a.ACP, &p.Resume: a.Resume} {
			if list != nil {
				*to = list
			}
		}
		p.ACPVersion = cmp.Or(a.ACPVersion, p.ACPVersion)
		if a.Network != nil {
			p.Network = *a.Network
		}
		p.Tried = false // not as it is now
		all[name] = p
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
}

// Find returns the profile with a name, or else that of a program: nil is none.
func Find(all []Profile, name, program string) *Profile {
	for _, p := range all {
		if name != "" && p.Name == name || name == "" && p.Program == filepath.Base(program) {
			return &p
		}
	}
	return nil
}

// Sees says in lines what of the user's the program sees, for the person who allows it.
func (p Profile) Sees() (lines []string) {
	for _, dir := range p.State {
		lines = append(lines, fmt.Sprintf("~/%s is read and written: its state", dir))
	}
	for _, name := range p.Copied {
		lines = append(lines, fmt.Sprintf("~/%s is read; changes stay in a copy", name))
	}
	if len(p.Env) > 0 {
		lines = append(lines, "these variables, where they are set: "+strings.Join(p.Env, ", "))
	}
	if p.Network {
		lines = append(lines, "the network")
	}
	return lines
}
