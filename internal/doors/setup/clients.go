package setup

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/agenthook"
)

// client is a row of the table.
type client struct {
	name, title  string
	tried        string // the version that its configuration was tried with
	programs     []string
	dirs         func(Env) []string // of its settings
	integrations []integration
}

// integration is a way of a client to the workspace. It is either written into files,
// or it has a state of its own.
type integration struct {
	name, what string
	files      func(Env, Options) []file
	project    bool     // files can be those of a project
	named      bool     // set up only where it is named
	notes      []string // what to know after it was written
	state      func(Env) (state, why, command string)
	manual     func(Env) []string // what a person does, where nothing is written
}

// file is what an integration needs of a file.
type file struct {
	path    string
	family  family
	items   []item
	whole   string // all of it, for a file of its own
	project bool
}

// table is every client that setup knows.
func table() []client {
	return []client{
		{"claude", "Claude Code", "2.1.330", []string{"claude"},
			func(e Env) []string { return []string{e.claudeDir()} },
			agent("claude", driven{profile: "claude", program: "claude-agent-acp", core: "claude"}, ownOff, claude, true,
				"Restart Claude Code; /mcp lists sidecar. A project's files count once you have trusted its folder in Claude Code.")},
		{"codex", "Codex CLI", "0.169.0", []string{"codex"},
			func(e Env) []string { return []string{e.codexDir()} },
			agent("codex", driven{profile: "codex", program: "codex-acp", core: "codex"}, ownOff, codex, true,
				"Restart Codex; `codex mcp list` shows sidecar. A project's file counts once you have trusted the project in Codex.")},
		{"gemini", "Gemini CLI", "0.61.0", []string{"gemini"},
			func(e Env) []string { return []string{e.home(".gemini")} },
			agent("gemini", driven{profile: "gemini", program: "gemini"}, ownOff, gemini, true,
				"Restart Gemini CLI. It uses MCP servers only in folders that you have trusted in it.")},
		{"opencode", "OpenCode", "1.18.33", []string{"opencode"},
			func(e Env) []string { return []string{e.opencodeDir()} },
			agent("opencode", driven{profile: "opencode", program: "opencode"}, ownOff, opencode, true, "Restart OpenCode; `opencode mcp list` shows sidecar.")},
		{"copilot", "GitHub Copilot CLI", "", []string{"copilot"},
			func(e Env) []string { return []string{e.copilotDir()} },
			agent("copilot", driven{profile: "copilot", program: "copilot"}, ownToo, copilot, false, "Restart Copilot CLI; /mcp show lists sidecar.")},
		{"cursor", "Cursor", "", []string{"cursor-agent", "cursor"},
			func(e Env) []string { return []string{e.home(".cursor")} },
			agent("", driven{profile: "cursor-agent", program: "cursor-agent"}, ownToo, cursor, true, "Restart Cursor, and switch sidecar on in its list of MCP servers.")},
		{"vscode", "Visual Studio Code", "", []string{"code", "code-insiders", "codium"},
			func(e Env) []string { return []string{e.home(".vscode")} },
			[]integration{
				{name: "mcp", what: "Agents in VS Code call the tools of the window's server: the extension announces it to them.", state: vscodeState},
				{name: "ide", what: "The extension shows what waits for review, asks, and starts the server.", state: vscodeState,
					manual: says("Install the extension: code --install-extension FILE.vsix. The repository of sidecar-ls makes that file by `make vsix`.")},
			}},
		{"nvim", "Neovim", "0.7.2", []string{"nvim"},
			func(e Env) []string { return []string{filepath.Join(e.xdg("XDG_CONFIG_HOME", ".config"), "nvim")} },
			[]integration{{name: "ide", what: "The editor starts the server, shows what waits for review, and asks.", files: neovim,
				notes: []string{"Restart Neovim: the plug-in starts with the first file of a project. :SidecarAgent starts an agent, :SidecarReview lists what is pending, :help sidecar says the rest. For options, call require('sidecar').setup { … } there; editors/nvim/README.md lists them."}}}},
		{"emacs", "Emacs", "", []string{"emacs"},
			func(e Env) []string {
				return []string{filepath.Join(e.xdg("XDG_CONFIG_HOME", ".config"), "emacs"), e.home(".emacs.d")}
			},
			[]integration{editor("editors/emacs",
				"Emacs loads the plug-in from the directory editors/emacs of the repository. Put this into your init file:\n\n(add-to-list 'load-path \"/path/to/sidecar-ls/editors/emacs\")\n(require 'sidecar)\n(sidecar-setup)\n(global-set-key (kbd \"C-c s\") sidecar-map)")}},
		{"helix", "Helix", "", []string{"hx", "helix"},
			func(e Env) []string { return []string{filepath.Join(e.xdg("XDG_CONFIG_HOME", ".config"), "helix")} },
			[]integration{editor("editors/helix",
				"Helix has a list of servers for each language, which replaces the language's own; so setup does not write it. Put this into languages.toml of its configuration directory, and add sidecar-ls to the list of each language that you want it for:\n\n[language-server.sidecar-ls]\ncommand = \"sidecar-ls\"\nargs = [\"serve\"]\n\n[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\", \"sidecar-ls\"]")}},
		{"sublime", "Sublime Text", "", []string{"subl", "sublime_text"},
			func(e Env) []string {
				return []string{filepath.Join(e.xdg("XDG_CONFIG_HOME", ".config"), "sublime-text")}
			},
			[]integration{editor("editors/sublime",
				"Sublime Text starts the server by its package LSP. Put what LSP.sublime-settings says, in the directory editors/sublime of the repository, into the file that `Preferences: LSP Settings` opens; and SideCar.sublime-commands into Packages/User.")}},
		{"zed", "Zed", "", []string{"zed", "zeditor"},
			func(e Env) []string { return []string{e.zedDir()} },
			[]integration{
				{name: "mcp", what: ownToo, files: zed,
					notes: []string{"Zed reads its settings at once; the agent panel's settings list sidecar."}},
				editor("editors/zed", "Zed starts a server that it does not know only through an extension. With Rust from rustup, run `zed: install dev extension` and choose the directory editors/zed of the repository."),
			}},
	}
}

// What is said of agents: setup can turn off the own tools of some.
const (
	ownToo = "The agent calls our tools: policy, sandbox and review apply to them. Its own tools stay beside them."
	ownOff = "The agent calls our tools: policy, sandbox and review apply to them. Its own tools stay beside them unless --only-ours turns them off."

	ownIsOff = "The agent calls our tools: policy, sandbox and review apply to them. Its own tools for files and commands are off."
)

// driven is how an agent is driven: by which row of internal/agents/profile, and with which program. One
// with a core is an adapter, which npm installs for the core when the agent first runs.
type driven struct{ profile, program, core string }

// missing is why the agent can't be driven here, or "".
func (d driven) missing(e Env) string {
	_, err := e.Look(d.program)
	switch {
	case err == nil:
		return ""
	case d.core == "":
		return d.program + " is not on PATH; install it"
	}
	for _, program := range []string{d.core, "npm"} {
		if _, err := e.Look(program); err != nil {
			return program + " is not on PATH; install it"
		}
	}
	return ""
}

// agent is the integrations of an agent. program is what `run` starts; without one it
// has no such integration.
func agent(program string, acp driven, what string, files func(Env, Options) []file, project bool, notes ...string) []integration {
	return []integration{
		{name: "mcp", what: what, files: files, project: project, notes: notes},
		{name: "world", what: "The whole program runs on a private copy of the workspace, and what it writes waits for review.", state: func(e Env) (string, string, string) {
			if program == "" {
				return Unavailable, "this is a program with windows, which does not run in a private copy of the folder", ""
			}
			if runtime.GOOS != "linux" || !e.Has("run") {
				return Unavailable, "this version of sidecar-ls has no command `run` here", ""
			}
			return Available, "", "sidecar-ls run -- " + program
		}},
		hookIntegration(program),
		{name: "ide", what: "The agent shows its own edits in the review.", state: func(e Env) (string, string, string) {
			how, ok := looksForEditor[program]
			switch {
			case !ok:
				return Unavailable, "the agent has no way to show its edits in an editor that sidecar-ls knows", ""
			case !e.Has("serve"):
				return Unavailable, "this version of sidecar-ls serves no editor", ""
			}
			return Available, how.why, how.command
		}},
		{name: "acp", what: "sidecar-ls drives the agent.", state: func(e Env) (string, string, string) {
			if runtime.GOOS != "linux" || !e.Has("agent") {
				return Unavailable, "this version of sidecar-ls has no command `agent` here", ""
			}
			if why := acp.missing(e); why != "" {
				return Unavailable, why, ""
			}
			return Available, "", "sidecar-ls agent run " + acp.profile + ` "…"`
		}},
	}
}

// hooked are the agents whose hooks are answered: where the hooks are, of the user and
// of a project, and what else there is to know.
var hooked = map[string]struct {
	user    func(Env) string
	project string
	event   string
	family  family
	notes   []string
}{
	"claude": {func(e Env) string { return filepath.Join(e.claudeDir(), "settings.json") }, ".claude/settings.local.json", "PreToolUse", strictJSON, []string{
		"Restart Claude Code; /hooks lists it.",
		"To be asked in the editor by `claude -p`, too: claude -p --permission-prompt-tool mcp__sidecar__approve"}},
	"codex": {func(e Env) string { return filepath.Join(e.codexDir(), "hooks.json") }, ".codex/hooks.json", "PreToolUse", strictJSON, []string{
		"Codex runs a hook only once you have trusted it, in its terminal with /hooks; `codex exec` leaves out what is not trusted, and says nothing."}},
	"gemini": {func(e Env) string { return e.home(".gemini/settings.json") }, ".gemini/settings.json", "BeforeTool", jsonc, []string{
		"Restart Gemini CLI; /hooks panel lists it."}},
}

// hookIntegration is the integration by which an agent asks about its own tools.
func hookIntegration(program string) integration {
	r := integration{name: "hook", what: "The agent asks before it uses its own tools: its edits and searches lead to ours, and its commands run on a private copy of the workspace."}
	h, ok := hooked[program]
	if !ok {
		r.state = func(Env) (string, string, string) {
			return Unavailable, "the agent has no hooks that sidecar-ls answers", ""
		}
		return r
	}
	r.named, r.project, r.notes = true, true, h.notes
	r.files = func(e Env, o Options) []file {
		f := file{path: h.user(e), family: h.family}
		if o.Project {
			f.path, f.project = e.project(h.project), true
		}
		timeout := json.Number("600") // seconds: a person may be asked
		if program == "gemini" {
			timeout = "600000"
		}
		f.items = []item{{element, []string{"hooks", h.event}, object{
			{"matcher", strings.Join(agenthook.Tools(program), "|")},
			{"hooks", []object{{{"type", "command"}, {"command", agenthook.Line(e.command(o), "hook", program)}, {"timeout", timeout}}}},
		}}}
		if program == "gemini" {
			f.items = append(f.items, item{value, []string{"hooksConfig", "enabled"}, true})
		}
		return []file{f}
	}
	return r
}

// looksForEditor says how agents that look for an editor are told to. The editor's
// server needs nothing for it.
var looksForEditor = map[string]struct{ command, why string }{
	"claude": {"/ide", "typed in Claude Code, beside an editor with sidecar-ls. Press Shift+Tab until it says manual mode, its mode default: in auto and acceptEdits its edits are not reviewed"},
	"gemini": {"/ide enable", "typed in Gemini CLI, in the terminal of VS Code or of an editor made from it. In other terminals Gemini CLI refuses"},
}

// editor is the integration of an editor that a person sets up by hand.
func editor(dir, how string) integration {
	return integration{name: "ide", what: "The editor starts the server, shows what waits for review, and asks.",
		state: func(Env) (string, string, string) {
			return Off, "whether it is set up can't be seen from its files; " + dir + "/README.md says how", "sidecar-ls setup " + path.Base(dir)
		},
		manual: says(how)}
}

func says(text string) func(Env) []string { return func(Env) []string { return []string{text} } }

// vscodeState looks for the extension.
func vscodeState(e Env) (state, why, command string) {
	for _, dir := range []string{".vscode", ".vscode-insiders", ".vscode-oss", ".vscode-server"} {
		if found, _ := filepath.Glob(e.home(dir + "/extensions/sidecar-ls.sidecar-*")); len(found) > 0 {
			return On, "the extension is installed", ""
		}
	}
	return Off, "the extension is not installed", "sidecar-ls setup vscode"
}

func (e Env) claudeDir() string { return e.xdg("CLAUDE_CONFIG_DIR", ".claude") }

func (e Env) codexDir() string { return e.xdg("CODEX_HOME", ".codex") }

func (e Env) copilotDir() string { return e.xdg("COPILOT_HOME", ".copilot") }

func (e Env) opencodeDir() string {
	return filepath.Join(e.xdg("XDG_CONFIG_HOME", ".config"), "opencode")
}

func (e Env) zedDir() string { return filepath.Join(e.xdg("XDG_CONFIG_HOME", ".config"), "zed") }

// command is how a client starts us. What a project brings along names no file
// of one machine.
func (e Env) command(o Options) string {
	if o.Project {
		return "sidecar-ls"
	}
	return e.Command
}

// arguments are ours in an entry.
func (o Options) arguments() []string {
	if len(o.Tools) > 0 {
		return []string{"mcp", "--tools", strings.Join(o.Tools, ",")}
	}
	return []string{"mcp"}
}

// server is an entry with the command and its arguments apart.
func (e Env) server(o Options, path []string, before object, after ...member) item {
	return item{entry, path, slices.Concat(before, object{{"command", e.command(o)}, {"args", o.arguments()}}, after)}
}

// claude keeps servers apart from the permissions. A project's server is agreed
// to in the user's own file of that project: agreed to by its name for all
// projects, any project's server of that name would run.
func claude(e Env, o Options) []file {
	servers := file{path: e.home(".claude.json"), family: strictJSON}
	if filepath.IsAbs(e.Getenv("CLAUDE_CONFIG_DIR")) {
		servers.path = filepath.Join(e.claudeDir(), ".claude.json")
	}
	settings := file{path: filepath.Join(e.claudeDir(), "settings.json"), family: strictJSON}
	if o.Project {
		servers = file{path: e.project(".mcp.json"), family: strictJSON, project: true}
		settings = file{path: e.project(".claude/settings.local.json"), family: strictJSON, project: true}
		settings.items = append(settings.items, item{element, []string{"enabledMcpjsonServers"}, "sidecar"})
	}
	servers.items = []item{e.server(o, []string{"mcpServers", "sidecar"}, object{{"type", "stdio"}}, member{"alwaysLoad", true})}
	settings.items = append(settings.items, item{element, []string{"permissions", "allow"}, "mcp__sidecar"})
	if o.OnlyOurs {
		for _, tool := range []string{"Bash", "Edit", "Write", "NotebookEdit", "Read", "Grep", "Glob"} {
			settings.items = append(settings.items, item{element, []string{"permissions", "deny"}, tool})
		}
	}
	if o.Review { // in auto and acceptEdits it asks nobody about an edit
		settings.items = append(settings.items, item{loosest, []string{"permissions", "defaultMode"}, []string{"default", "plan", "dontAsk"}})
	}
	return []file{servers, settings}
}

// codex starts servers with almost no environment, so the variables that say
// where our settings and sockets are have to be named.
func codex(e Env, o Options) []file {
	f := file{path: filepath.Join(e.codexDir(), "config.toml"), family: tomlText}
	if o.Project {
		f.path, f.project = e.project(".codex/config.toml"), true
	}
	f.items = []item{e.server(o, []string{"mcp_servers", "sidecar"}, nil,
		member{"default_tools_approval_mode", "approve"},
		member{"env_vars", []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"}})}
	if o.OnlyOurs {
		f.items = append(f.items,
			item{value, []string{"sandbox_mode"}, "read-only"}, // its apply_patch can't be switched off
			item{value, []string{"features", "shell_tool"}, false},
			item{value, []string{"features", "unified_exec"}, false})
	}
	return []file{f}
}

// gemini offers nothing that is not in the list of tools, where there is one.
func gemini(e Env, o Options) []file {
	f := file{path: e.home(".gemini/settings.json"), family: jsonc}
	if o.Project {
		f.path, f.project = e.project(".gemini/settings.json"), true
	}
	core := item{elementThere, []string{"tools", "core"}, "mcp_sidecar_*"}
	if o.OnlyOurs {
		core = item{narrowed, []string{"tools", "core"}, []string{"google_web_search", "web_fetch", "write_todos", "mcp_sidecar_*"}}
	}
	f.items = []item{
		e.server(o, []string{"mcpServers", "sidecar"}, nil, member{"trust", true}),
		{elementThere, []string{"mcp", "allowed"}, "sidecar"},
		core,
	}
	return []file{f}
}

func opencode(e Env, o Options) []file {
	f := file{path: filepath.Join(e.opencodeDir(), "opencode.json"), family: jsonc}
	if o.Project {
		f.path, f.project = e.project("opencode.json"), true
	}
	if _, err := os.Lstat(f.path + "c"); err == nil { // it reads both, and this one last
		f.path += "c"
	}
	f.items = []item{{entry, []string{"mcp", "sidecar"}, object{{"type", "local"}, {"command", append([]string{e.command(o)}, o.arguments()...)}, {"enabled", true}}}}
	if o.OnlyOurs {
		for _, tool := range []string{"bash", "edit", "write", "read", "grep", "glob", "list", "patch"} {
			f.items = append(f.items, item{value, []string{"tools", tool}, false})
		}
	}
	return []file{f}
}

func copilot(e Env, o Options) []file {
	return []file{{path: filepath.Join(e.copilotDir(), "mcp-config.json"), family: strictJSON, items: []item{
		e.server(o, []string{"mcpServers", "sidecar"}, object{{"type", "local"}}, member{"tools", []string{"*"}})}}}
}

func cursor(e Env, o Options) []file {
	f := file{path: e.home(".cursor/mcp.json"), family: strictJSON}
	if o.Project {
		f.path, f.project = e.project(".cursor/mcp.json"), true
	}
	f.items = []item{e.server(o, []string{"mcpServers", "sidecar"}, object{{"type", "stdio"}})}
	return []file{f}
}

func zed(e Env, o Options) []file {
	return []file{{path: filepath.Join(e.zedDir(), "settings.json"), family: jsonc, items: []item{
		e.server(o, []string{"context_servers", "sidecar"}, nil, member{"env", object{}})}}}
}
