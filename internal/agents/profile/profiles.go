// Package profile is the table of agents: what of the user's each of them needs to
// run in a session's world, and no more.
package profile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// Profile is an agent's program.
type Profile struct {
	Name     string
	Alias    string // an earlier name
	Title    string
	Program  string   // its name on PATH
	State    []string // directories of the home, relative to it, that it reads and writes: conversations, nothing that an agent obeys
	Reads    []string // directories and files of the home that it reads: plug-ins, commands, memory
	Settings []string // files of the home of which it has copies, made anew each time: what it changes of them is dropped
	Keys     []string // files of the home with keys of its own, which it refreshes
	Copied   []string // files of the home of which it has copies: what it changes of them stays with the profile
	Env      []string // variables that it gets besides those of every command
	Runs     []string // those of Env that name a program which it starts
	Network  bool     // it reaches hosts; where sessions have no network of their own, any
	Hosts    []string // of its model, as the setting sandbox.network has them
	Also     []string // others that it reaches, to sign in and the like
	Idle     []string // hosts that it asks of its own accord, for updates and the like, and works without: they are refused without a question
	URLs     []string // those of Env that say where its model is
	ACP      []string // arguments with which it, or its adapter, speaks the Agent Client Protocol; nil: it can't be driven
	World    []string // arguments, before those of the person, without which it can't work in a world; not over ACP
	Further  string   // its flag for a further directory; "": it has none that is known. See Further
	Mode     string   // of its own over ACP, in which it works in a world; "" is the one that it takes
	Alone    bool     // over ACP it reads and writes all files itself: asking us for them it trips
	Resume   []string // arguments with which it goes on with its last conversation; nil: not known
	Tried    bool     // the real program was run with the profile

	Adapter  string // the program that drives it; "": its own speaks the protocol
	Variable string // tells the adapter which agent's program to start

	Path    string // of the program that a person saw; see Bind
	Agent   string // the agent's program, which the adapter starts; "": one of its choice
	Install string // what is installed before the program can start, as a person reads it; "": nothing
	text    string // the sum of its text, where others than the user could change it
}

// Keys of providers that several agents read.
const (
	anthropicKey  = "ANTHROPIC_API_KEY"
	openAIKey     = "OPENAI_API_KEY"
	openRouterKey = "OPENROUTER_API_KEY"
	geminiKey     = "GEMINI_API_KEY"
	openAIURL     = "OPENAI_BASE_URL"
)

// Hosts of models, to which any amount may be sent, and others of their makers.
var (
	anthropicHosts = []string{"api.anthropic.com"}
	openAIHosts    = []string{"api.openai.com", "chatgpt.com"}
	googleHosts    = []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "aiplatform.googleapis.com", "*.aiplatform.googleapis.com"}
	modelHosts     = slices.Concat(anthropicHosts, openAIHosts, googleHosts, []string{"openrouter.ai"})

	ofAnthropic = []string{"claude.ai", "platform.claude.com", "console.anthropic.com", "statsig.anthropic.com"}
	ofOpenAI    = []string{"auth.openai.com"}
	ofGoogle    = []string{"oauth2.googleapis.com", "accounts.google.com", "www.googleapis.com", "play.googleapis.com"}
)

var claudeEnv = []string{anthropicKey, "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN", "IS_SANDBOX", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"}

// in are names below a directory.
func in(dir string, names ...string) (paths []string) {
	for _, name := range names {
		paths = append(paths, dir+"/"+name)
	}
	return paths
}

// A directory of the folder's own has one of these in its name, filled in by Grant.
const (
	folderName = "{folder}" // as Claude Code and Qwen Code name it
	geminiName = "{gemini}" // as Gemini CLI does
)

// What each agent keeps. What is in no list of these is the profile's own: programs
// that an agent downloads, repositories of snapshots, scripts of its shell, databases.
var (
	claude = Profile{
		State:    in(".claude", "projects/"+folderName),
		Reads:    in(".claude", "projects/"+folderName+"/memory", "agents", "commands", "hooks", "output-styles", "plugins", "rules", "skills", "workflows"),
		Settings: in(".claude", "settings.json", "settings.local.json", "CLAUDE.md", "keybindings.json", "statusline.sh", "remote-settings.json"),
		Keys:     in(".claude", ".credentials.json"),
		Copied:   []string{".claude.json"},
	}
	codex = Profile{
		State:    in(".codex", "sessions", "archived_sessions"),
		Reads:    in(".codex", "agents", "hooks", "memories", "plugins", "prompts", "rules", "skills", "themes"),
		Settings: in(".codex", "config.toml", "hooks.json", "AGENTS.md", "AGENTS.override.md", "managed_config.toml"),
		Keys:     in(".codex", "auth.json"),
		Copied:   in(".codex", "history.jsonl", "session_index.jsonl"),
	}
	gemini = Profile{
		State:    in(".gemini", "tmp/"+geminiName+"/chats"),
		Reads:    in(".gemini", "agents", "commands", "extensions", "hooks", "policies", "skills"),
		Settings: in(".gemini", "settings.json", "trustedFolders.json", "projects.json", "GEMINI.md", "AGENTS.md", ".env", "trusted_hooks.json"),
		Keys:     in(".gemini", "oauth_creds.json", "gemini-credentials.json", "mcp-oauth-tokens.json", "mcp-oauth-tokens-v2.json"),
		Copied:   in(".gemini", "google_accounts.json", "installation_id", "state.json"),
	}
	qwen = Profile{
		State:    in(".qwen", "projects/"+folderName+"/chats"),
		Reads:    in(".qwen", "agents", "commands", "extensions", "hooks", "skills"),
		Settings: in(".qwen", "settings.json", "trustedFolders.json", "QWEN.md", "AGENTS.md", ".env"),
		Keys:     in(".qwen", "oauth_creds.json", "mcp-oauth-tokens.json"),
		Copied:   in(".qwen", "installation_id"),
	}
	opencode = Profile{
		State:    in(".local/share/opencode", "storage"),
		Reads:    in(".config/opencode", "agent", "agents", "command", "commands", "mode", "modes", "node_modules", "plugin", "plugins", "skill", "skills", "themes", "tool", "tools"),
		Settings: in(".config/opencode", "opencode.json", "opencode.jsonc", "config.json", "tui.json", "AGENTS.md", "package.json"),
		Keys:     in(".local/share/opencode", "auth.json", "mcp-auth.json"),
	}
	copilot = Profile{
		State:    in(".copilot", "session-state", "history-session-state"),
		Reads:    in(".copilot", "agents", "hooks", "installed-plugins", "instructions", "pkg", "plugins", "skills"),
		Settings: in(".copilot", "config.json", "settings.json", "mcp-config.json", "lsp-config.json", "permissions-config.json", "copilot-instructions.md"),
	}
	crush = Profile{
		Reads:    []string{".config/crush"},
		Settings: in(".local/share/crush", "crush.json", "providers.json"),
	}
	goose = Profile{
		State: in(".local/share/goose", "sessions"),
		Reads: []string{".config/goose"},
	}
	aider = Profile{
		Settings: []string{".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json", ".aider/oauth-keys.env"},
		Copied:   in(".aider", "analytics.json", "installs.json"),
	}
	cursor = Profile{
		State:    in(".cursor", "chats"),
		Reads:    append(in(".cursor", "agents", "commands", "extensions", "hooks", "plugins", "rules", "skills", "skills-cursor"), ".local/share/cursor-agent"),
		Settings: in(".cursor", "cli-config.json", "mcp.json", "hooks.json", "permissions.json", "argv.json"),
		Keys:     []string{".config/cursor/auth.json"},
	}
)

// builtin is one row for each agent. About the modes: in its own, Claude Code asks
// nobody and refuses what its maker's service does not judge; Codex has a sandbox,
// which can't be set up in ours. Gemini CLI takes a file that we say is missing for
// one that can't be read.
var builtin = []Profile{
	claude.row(Profile{Name: "claude", Alias: "claude-acp", Title: "Claude Code", Program: "claude", Hosts: anthropicHosts, Also: ofAnthropic, Idle: []string{"storage.googleapis.com", "downloads.claude.ai"}, URLs: []string{"ANTHROPIC_BASE_URL"}, Env: claudeEnv, ACP: []string{}, Adapter: "claude-agent-acp", Variable: "CLAUDE_CODE_EXECUTABLE", Further: addDir, Mode: "default", Resume: []string{"--continue"}, Tried: true}),
	codex.row(Profile{Name: "codex", Alias: "codex-acp", Title: "Codex", Program: "codex", Hosts: openAIHosts, Also: ofOpenAI, Idle: []string{"github.com", "api.github.com"}, URLs: []string{openAIURL}, Env: []string{openAIKey, openAIURL, "CODEX_API_KEY"}, ACP: []string{}, Adapter: "codex-acp", Variable: "CODEX_PATH", Further: addDir, Mode: "agent-full-access", World: []string{"-c", `sandbox_mode="danger-full-access"`}, Resume: []string{"resume", "--last"}, Tried: true}),
	gemini.row(Profile{Name: "gemini", Title: "Gemini CLI", Program: "gemini", Hosts: googleHosts, Also: ofGoogle, URLs: []string{"GOOGLE_GEMINI_BASE_URL"}, Env: []string{geminiKey, "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GENAI_USE_VERTEXAI"}, ACP: []string{"--acp"}, Further: includeDir, Mode: "default", Alone: true, Resume: []string{"--resume"}, Tried: true}),
	opencode.row(Profile{Name: "opencode", Title: "OpenCode", Program: "opencode", Hosts: slices.Concat([]string{"opencode.ai"}, modelHosts), Also: []string{"models.dev"}, Env: []string{anthropicKey, openAIKey, openRouterKey, "OPENCODE_API_KEY", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH"}, ACP: []string{"acp"}, Resume: []string{"--continue"}, Tried: true}),
	copilot.row(Profile{Name: "copilot", Title: "Copilot CLI", Program: "copilot", Hosts: []string{"api.githubcopilot.com", "*.githubcopilot.com"}, Also: []string{"github.com", "api.github.com"}, Env: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"}, ACP: []string{"--acp"}, Resume: []string{"--continue"}}),
	crush.row(Profile{Name: "crush", Title: "Crush", Program: "crush", Hosts: modelHosts, Also: []string{"catwalk.charm.sh"}, Env: []string{anthropicKey, openAIKey, openRouterKey, geminiKey}}),
	goose.row(Profile{Name: "goose", Title: "goose", Program: "goose", Hosts: modelHosts, Env: []string{anthropicKey, openAIKey, openRouterKey, "GOOGLE_API_KEY"}, ACP: []string{"acp"}, Resume: []string{"session", "--resume"}}),
	aider.row(Profile{Name: "aider", Title: "Aider", Program: "aider", Hosts: modelHosts, URLs: []string{"OPENAI_API_BASE"}, Env: []string{anthropicKey, openAIKey, openRouterKey, geminiKey, "OPENAI_API_BASE"}, Resume: []string{"--restore-chat-history"}}),
	cursor.row(Profile{Name: "cursor-agent", Title: "Cursor CLI", Program: "cursor-agent", Hosts: []string{"cursor.com", "*.cursor.sh", "*.cursor.com"}, Env: []string{"CURSOR_API_KEY"}, ACP: []string{"acp"}, Resume: []string{"resume"}}),
	qwen.row(Profile{Name: "qwen", Title: "Qwen Code", Program: "qwen", Hosts: []string{"chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"}, URLs: []string{openAIURL}, Env: []string{openAIKey, openAIURL, "OPENAI_MODEL", "DASHSCOPE_API_KEY"}, ACP: []string{"--acp"}, Resume: []string{"--continue"}}),
}

// row is a row of agents that keep what p says.
func (p Profile) row(r Profile) Profile {
	r.State, r.Reads, r.Settings, r.Keys, r.Copied, r.Network = p.State, p.Reads, p.Settings, p.Keys, p.Copied, true
	return r
}

// All are the profiles, with what the user's settings add or change, sorted by name.
func All(set *config.Settings) []Profile {
	all := map[string]Profile{}
	for _, p := range builtin {
		all[p.Name] = p
	}
	rows := set.Agents()
	for _, name := range slices.Sorted(maps.Keys(rows)) { // an alias comes after the name
		a := rows[name]
		p, known := all[name]
		for _, one := range builtin {
			if one.Alias == name {
				p, known = all[one.Name], true
				a.Adapter, a.Program = cmp.Or(a.Adapter, a.Program), "" // it was a row of the adapter
			}
		}
		if !known {
			p = Profile{Name: name, Title: name, Program: name}
		}
		if a.Program != "" && a.ACP != nil && a.Adapter == "" {
			p.Adapter, p.Variable = "", "" // that program speaks the protocol
		}
		p.Program, p.Adapter = cmp.Or(a.Program, p.Program), cmp.Or(a.Adapter, p.Adapter)
		for to, list := range map[*[]string][]string{&p.State: a.State, &p.Copied: a.Copied, &p.Env: a.Env, &p.ACP: a.ACP, &p.Resume: a.Resume} {
			if list != nil {
				*to = list
			}
		}
		if a.Hosts != nil {
			p.Hosts, p.Also, p.Network = a.Hosts, nil, true
		}
		if a.Network != nil {
			p.Network = *a.Network
		}
		p.Tried = false // not as it is now
		all[p.Name] = p
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
}

// Programs are the programs of the agents that are known without settings.
func Programs() (names []string) {
	for _, p := range builtin {
		if p.Program != "" {
			names = append(names, p.Program)
		}
	}
	return names
}

// Find returns the profile with a name, or else that of a program by the name under
// which PATH has it: nil is none. A program that is named by its path has one only by
// the profile's name, because anybody may call theirs so.
func Find(all []Profile, name, program string) *Profile {
	for _, p := range all {
		switch driven := p.Driven(); {
		case name != "" && (p.Name == name || p.Alias == name), name == "" && p.Program == program:
			return &p
		case name == "" && driven.Program == program:
			return &driven
		}
	}
	return nil
}

// Named is the name of an agent that is called so, or was in earlier releases.
func Named(name string) string {
	for _, p := range builtin {
		if p.Alias == name && name != "" {
			return p.Name
		}
	}
	return name
}

// Driven is the profile of the program by which the agent is driven: its adapter, if it
// has one. The agent itself is one that the adapter starts.
func (p Profile) Driven() Profile {
	if p.ACP == nil || p.Adapter == "" {
		return p
	}
	p.Program, p.World, p.Further = p.Adapter, nil, ""
	if p.Variable != "" {
		p.Env, p.Runs = append([]string{p.Variable}, p.Env...), []string{p.Variable}
	}
	return p
}

// Bind has the profile be for one program: a person allows it what they see, by its
// path. foreign is why others than the user could change it, so that another text of it
// is asked about again; nil: they can't.
func (p Profile) Bind(path string, foreign error) (Profile, error) {
	p.Path = path
	if foreign == nil {
		return p, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return p, err
	}
	p.text = hex.EncodeToString(sum.Sum(nil))
	return p, nil
}

// Environ is an environment without the variables that would have the program start one
// which others than the user could have put there. An adapter of ours starts the agent
// that is on PATH, unless the user names another.
func (p Profile) Environ(env []string, own func(program string) (string, error)) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, program, _ := strings.Cut(v, "=")
		if !slices.Contains(p.Runs, name) || program == "" {
			return false
		}
		_, err := own(program)
		return err != nil
	})
	if p.Agent == "" || slices.ContainsFunc(env, func(v string) bool {
		name, program, _ := strings.Cut(v, "=")
		return name == p.Variable && program != ""
	}) {
		return env
	}
	return append(env, p.Variable+"="+p.Agent)
}

// Sees says in lines what of the user's the program sees, for the person who allows it.
func (p Profile) Sees() (lines []string) {
	if p.Install != "" {
		lines = append(lines, p.Install)
	}
	if p.Path != "" {
		lines = append(lines, "it is "+p.Path)
	}
	if len(p.World) > 0 {
		lines = append(lines, fmt.Sprintf("it is started with %s: its own sandbox can't start in this one, which is around it", strings.Join(p.World, " ")))
	}
	for _, dir := range p.State {
		lines = append(lines, fmt.Sprintf("~/%s is read and written: its state", shown(dir)))
	}
	say := func(list []string, what string) {
		for _, one := range list {
			lines = append(lines, fmt.Sprintf("~/%s is read%s", shown(one), what))
		}
	}
	say(p.Keys, "; what it refreshes in it is kept")
	say(p.Reads, "")
	say(p.Settings, "; changes are dropped")
	say(p.Copied, "; changes stay in a copy")
	if len(p.Env) > 0 {
		lines = append(lines, "these variables, where they are set: "+strings.Join(p.Env, ", "))
	}
	lines = append(lines, p.network()...)
	return lines
}

// shown is a path as people read it.
func shown(path string) string {
	return strings.NewReplacer(folderName, "(this folder)", geminiName, "(this folder)").Replace(path)
}
