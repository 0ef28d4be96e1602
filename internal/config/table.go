// Package config is the settings: one table of what can be set, where, and by
// whom, and the reading of the sources into one value that never changes. It
// knows nothing of what a setting is for.
package config

import (
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// Type is the shape of a setting's value.
type Type string

// The types, with the Go type of their values.
const (
	String       Type = "string"       // string
	Boolean      Type = "boolean"      // bool
	Integer      Type = "integer"      // int
	Strings      Type = "strings"      // []string
	Permissions  Type = "permissions"  // map[string]string: tool to allow, ask or deny
	CustomModes  Type = "customModes"  // []CustomMode
	CommandRules Type = "commandRules" // []CommandRule
	Backends     Type = "backends"     // []Backend
	Hosts        Type = "hosts"        // hosts.Network

	LanguageServers Type = "languageServers" // map[string]LanguageServer
	MCPServers      Type = "mcpServers"      // map[string]MCPServer
	Agents          Type = "agents"          // map[string]Agent
	Hooks           Type = "hooks"           // [][]byte: an object of events for each source
	CustomTools     Type = "customTools"     // []CustomTool
	ShadowSetup     Type = "shadowSetup"     // []SetupStep
)

// Scope is where a setting may be set.
type Scope string

// The scopes; each has the sources of the one before it and one more.
const (
	ScopeUser    Scope = "user"    // the user's file alone
	ScopeClient  Scope = "client"  // and the editor
	ScopeProject Scope = "project" // and the project's file
)

// ProjectMay is what the file of a project may do to a setting of ScopeProject.
// Trust makes a difference to Never alone.
type ProjectMay string

// What a project's file may do.
const (
	Never   ProjectMay = "never"   // without trust it is ignored
	Tighten ProjectMay = "tighten" // only what makes the setting stricter applies
	Any     ProjectMay = "any"     // it applies
)

// families are the categories of built-in tools, the core, and all of them.
var families = []string{"all", "core", "agents", "diagnostics", "files", "git", "people", "planning", "search", "shell", "steps", "system", "web"}

// Setting is one row of the table.
type Setting struct {
	Key     string // dotted, without the prefix sidecar
	Type    Type
	Default any      // of the Go type that Type names; nil: its empty value
	Enum    []string // of a String, all it may be; where a project may tighten, loosest first; of Strings, all that each may be
	Custom  bool     // of a String with Enum: or the name of a custom mode
	Min     int      // of an Integer
	Max     int      // of an Integer
	Scope   Scope
	Project ProjectMay

	formerly map[string]string // of a String with Enum: values of earlier versions, which are reported

	AgentWritable bool // an agent may ask to change it
	Secret        bool // never shown
	Help          string

	// tighten returns what have becomes by want of a project, and what of want was
	// refused, in words. Every row has it whose Project is Tighten; one that is
	// Never, if projects could loosen there what the user has set.
	tighten func(row *Setting, have, want any) (got any, refused []string)

	// held, for a row that is Never, returns what holds of a trusted value while the
	// project says another one: the stricter of both. nil: the trusted one.
	held func(then, now any) any
}

// builtinModes are the modes that are always there, loosest first.
var builtinModes = policy.Names()

// table is every setting. A row may look only at settings above it: mode at
// customModes.
var table = []Setting{
	{
		Key: "customModes", Type: CustomModes, Scope: ScopeProject, Project: Never, tighten: stricterModes, held: heldModes,
		Help: "Your own modes, each based on a built-in one.",
	},
	{
		Key: "mode", Type: String, Default: policy.DefaultMode, Enum: builtinModes, Custom: true,
		Scope: ScopeProject, Project: Tighten, tighten: stricterMode,
		Help: "The mode of sessions that don't name one: when you are asked, and where edits go. A project, or whoever starts an agent, can't take a mode that is looser in anything. So `review` doesn't replace `manual`, which asks about reads, nor the reverse.",
	},
	{
		Key: "toolPermissions", Type: Permissions, Scope: ScopeProject, Project: Tighten, tighten: stricterPermissions,
		Help: "Tools that are always allowed, asked about or denied, in every mode. A tool that always asks can be denied but not allowed. No source undoes the deny of another.",
	},
	{
		Key: "commandRules", Type: CommandRules, Scope: ScopeProject, Project: Tighten, tighten: stricterRules,
		Help: "Commands that are allowed, asked about or denied, by their first words. The rules of all sources add up, and the strictest that matches holds. With a deny rule, lines that may run more than they show (a script, a variable, an option that names a program) are asked about in every mode. Programs that a build or a package script runs are not checked.",
	},
	{
		Key: "tools.enabled", Type: Boolean, Default: true, Scope: ScopeProject, Project: Tighten, tighten: onlyFalse,
		Help: "Whether tools can be called at all.",
	},
	{
		Key: "tools.registryMode", Type: String, Default: "auto", Enum: []string{"auto", "full", "lazy"},
		Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "Which tools are listed by default. `full` lists all. `lazy` lists a core; tool_search or a call adds others. `auto` is `full` for people, what `sidecar.mcp.tools` says for agents over MCP, and `lazy` in other lists for models.",
	},
	{
		Key: "budget.calls", Type: Integer, Default: 0, Min: 0, Max: 1_000_000_000, Scope: ScopeProject, Project: Tighten, tighten: smallerBoundOf,
		Help: "How many tool calls a session may make, unless it was opened with its own limit. 0 means no limit. Raise it to go on. Closing the default session resets its count.",
	},
	{
		Key: "budget.tokens", Type: Integer, Default: 0, Min: 0, Max: 1_000_000_000, Scope: ScopeProject, Project: Tighten, tighten: smallerBoundOf,
		Help: "How many tokens the arguments and results of a session's calls may take, at four bytes per token. The rest is as for `sidecar.budget.calls`.",
	},
	{
		Key: "edits.save", Type: String, Default: "auto", Enum: []string{"onAccept", "auto", "never"}, Scope: ScopeProject, Project: Tighten, tighten: stricterOf,
		Help: "Whether an open document is saved after an edit of an agent. `auto` saves documents without unsaved changes of yours. `onAccept` also saves the others once you accept an edit. Needs the plug-in for VS Code, Neovim or Emacs. Files that are not open are always written.",
	},
	{
		Key: "workspace.trust", Type: String, Default: "unknown", Enum: []string{"trusted", "unknown", "untrusted"}, Scope: ScopeClient,
		Help: "Whether you trust the workspace. `trusted` runs its git hooks in the sandbox, and applies its `.sidecar` files and hooks as they are now. `untrusted` allows read-only tools only. `unknown` runs no hooks.",
	},
	{
		Key: "approval.timeoutSeconds", Type: Integer, Default: 300, Min: 1, Max: 24 * 60 * 60,
		Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How many seconds a question waits for an answer. After that the answer is no.",
	},
	{
		Key: "retry.attempts", Type: Integer, Default: 3, Min: 1, Max: 10,
		Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "How often a call is tried when it fails for a passing reason, such as an overloaded server. Only reads and idempotent tools are repeated. 1 turns retries off. The first wait is 1.5 seconds, each further one 1.5 times as long. The tool's time-out covers all attempts.",
	},
	{
		Key: "commands.world", Type: String, Default: "auto", Enum: []string{"auto", "overlay", "copy", "disk"}, formerly: map[string]string{"shadow": "copy"}, Scope: ScopeUser,
		Help: "The files that commands see, and where their changes go. `overlay`: the session's view; changes pass review like any edit. `copy`: the same in a copy of the workspace. `disk`: the disk itself. `auto` takes the first that works, and every result says which. Nothing runs if the set one is unavailable.",
	},
	{
		Key: "commands.ask", Type: String, Default: "auto", Enum: []string{"auto", "always"}, Scope: ScopeProject, Project: Tighten, tighten: stricterOf,
		Help: "Whether `review` and `audit` ask about commands. `auto` runs them unasked where nothing leaves their session without a decision, as `sidecar-ls doctor` says. `always` asks about each.",
	},
	{
		Key: "commands.shell", Type: String, Default: "auto", Enum: []string{"auto", "bash", "wsl", "powershell", "pwsh"}, Scope: ScopeProject, Project: Never,
		Help: "The shell for command lines on Windows. `bash` is that of Git for Windows, or another on PATH. `powershell` is Windows PowerShell 5.1, `pwsh` PowerShell 7, `wsl` the bash of the default Linux of WSL. Nothing runs if the shell is missing. `auto` takes bash, else `pwsh`, else `powershell`. Elsewhere it is always bash. Read with the first command.",
	},
	{
		Key: "output.allow", Type: Strings, Scope: ScopeUser,
		Help: "Directories of the workspace whose ignored data comes through unreviewed at the end of a command in `review` and `audit`, such as `build/reports`. Files that programs run or obey stay held (docs/world.md). A rejection doesn't take it back.",
	},
	{
		Key: "output.quota", Type: Integer, Default: 0, Min: 0, Max: 1 << 20, Scope: ScopeUser,
		Help: "How much command output may wait for review in a workspace, in MiB: ignored files and dependencies. Commands are refused above it. 0 means 4096, or a fifth of the free space if that is less.",
	},
	{
		Key: "sandbox.mode", Type: String, Default: "auto", Enum: []string{"off", "auto", "require"},
		Scope: ScopeProject, Project: Tighten, tighten: stricterOf,
		Help: "How commands are confined. `auto` uses the best sandbox of the machine, and every result says which. `require` runs nothing without a sandbox. `off` runs commands with all your rights.",
	},
	{
		Key: "sandbox.network", Type: Hosts, Default: hosts.Network{Ask: true}, Scope: ScopeClient, tighten: tighterNetwork,
		Help: "The hosts that sandboxed commands reach. `ask` asks about each once; without anybody to ask it is `none`. A list has hosts and presets that are reached unasked, and `ask` for the others. `all` is the machine's network. `true` and `false` mean `all` and `none`. Other values need bubblewrap; without it nothing is reached ([sandbox.md](sandbox.md#network)).",
	},
	{
		Key: "sandbox.readOnly", Type: Strings, Scope: ScopeUser,
		Help: "Directories outside the workspace that sandboxed commands may read, besides those of the system and common toolchains: absolute paths, such as `/data/models`.",
	},
	{
		Key: "sandbox.writable", Type: Strings, Scope: ScopeUser,
		Help: "Directories outside the workspace that sandboxed commands may write: absolute paths, such as a shared build cache.",
	},
	{
		Key: "agents", Type: Agents, Scope: ScopeUser,
		Help: "Profiles of agents for `sidecar-ls run`: the files, variables and network that each needs, besides the built-in profiles. You confirm each one once.",
	},
	{
		Key: "hooks", Type: Hooks, Scope: ScopeClient,
		Help: "Programs that run on events of agents and can block them, in the format of Claude Code. `false` runs no hooks, those of plugins and the project included. A hook can make things stricter and answer a question for you; it can't allow what is denied.",
	},
	{
		Key: "tools.custom", Type: CustomTools, Scope: ScopeProject, Project: Never, tighten: moreTools, held: heldTools,
		Help: "Your own programs as tools, offered as `custom_<name>`. A program gets the arguments as JSON on standard input, and as words where its command has `{field}`. No shell reads them. It runs in the sandbox; with the access `read` it can't write.",
	},
	{
		Key: "plugins.dirs", Type: Strings, Scope: ScopeUser,
		Help: "Absolute paths of plugins, or of directories with plugins, besides the user's data directory. A plugin does nothing before you trust it.",
	},
	{
		Key: "languageServers", Type: LanguageServers, Scope: ScopeProject, Project: Never, tighten: moreServers, held: heldServers,
		Help: "How to run the language servers behind get_diagnostics and the lsp_… tools, only in a trusted workspace. Servers that are not set are looked for on PATH.",
	},
	{
		Key: "sensitive.allow", Type: Strings, Scope: ScopeUser,
		Help: "Files that tools may read although their names suggest secrets: globs relative to the workspace, such as `config/.env.example`.",
	},
	{
		Key: "result.maxBytes", Type: Integer, Default: 16_000, Min: 1_000, Max: 1_000_000,
		Scope: ScopeProject, Project: Tighten, tighten: smallerOf, AgentWritable: true,
		Help: "How many bytes of a result an agent gets at once. It can read the rest page by page.",
	},
	{
		Key: "shadow.max", Type: Integer, Default: 32, Min: 1, Max: 10_000, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How many shadow workspaces a workspace can have.",
	},
	{
		Key: "shadow.maxMegabytes", Type: Integer, Default: 32_768, Min: 1, Max: 16_777_216, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "The size of a shadow workspace's files, in MiB. It may have 32 files for each, and at least 1,048,576.",
	},
	{
		Key: "shadow.setup", Type: ShadowSetup, Scope: ScopeProject, Project: Never, tighten: besideSetup, held: heldSetup,
		Help: "Commands for a new shadow workspace (docs/shadow.md). Yours run in the place of a project's.",
	},
	{
		Key: "undo.days", Type: Integer, Default: 14, Min: 1, Max: 3650, Scope: ScopeClient,
		Help: "How many days edits of agents can be undone. At most 64 MiB of text are kept, the newest. An edit above a quarter of that can't be undone.",
	},
	{
		Key: "audit.enabled", Type: Boolean, Default: true, Scope: ScopeClient,
		Help: "Whether every tool call is recorded in `.sidecar/logs`, without secrets.",
	},
	{
		Key: "knowledge.enabled", Type: Boolean, Default: true, Scope: ScopeProject, Project: Tighten, tighten: onlyFalse, AgentWritable: true,
		Help: "Whether there is a project index for project_knowledge_search. The first question builds it.",
	},
	{
		Key: "knowledge.embeddings.provider", Type: String, Default: "off", Enum: []string{"off", "ollama", "openai"}, Scope: ScopeUser,
		Help: "Whether questions are also answered by meaning, with a model's vectors. `ollama` is an Ollama server, `openai` any compatible endpoint. Pieces of your source go there, without recognised secrets. `off` sends nothing. Read with the first question.",
	},
	{
		Key: "knowledge.embeddings.url", Type: String, Scope: ScopeUser,
		Help: "The address of the embeddings endpoint, without the provider's path; empty means `http://127.0.0.1:11434` for `ollama` and `https://api.openai.com` for `openai`. Outside this machine and private networks it must be https.",
	},
	{
		Key: "knowledge.embeddings.model", Type: String, Scope: ScopeUser,
		Help: "The model that makes the vectors; empty means `nomic-embed-text` for `ollama` and `text-embedding-3-small` for `openai`.",
	},
	{
		Key: "knowledge.embeddings.key", Type: String, Secret: true, Scope: ScopeUser,
		Help: "The key for the endpoint, sent as a bearer token. Better: `${env:OPENAI_API_KEY}`, which names a variable.",
	},
	{
		Key: "knowledge.embeddings.weight", Type: Integer, Default: 25, Min: 0, Max: 200, Scope: ScopeUser,
		Help: "How much the vectors count beside the words, in percent. Raise it for a strong model; `make bench-knowledge` measures it.",
	},
	{
		Key: "knowledge.documentSymbols", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any,
		Help: "Whether the editor gets outlines of documents (textDocument/documentSymbol). Useful for languages without another server. Read when the server starts.",
	},
	{
		Key: "knowledge.workspaceSymbols", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any,
		Help: "Whether the editor gets the project's symbols (workspace/symbol) from the project index. Read when the server starts.",
	},
	{
		Key: "web.search.provider", Type: String, Default: "duckduckgo", Enum: []string{"duckduckgo", "json"}, Scope: ScopeUser,
		Help: "Where web_search searches: DuckDuckGo, which needs no key, or a JSON endpoint such as SearXNG or Brave.",
	},
	{
		Key: "web.search.url", Type: String, Scope: ScopeUser,
		Help: "The endpoint of the provider `json`, with `{query}` and, where supported, `{count}`: `https://search.example.org/search?q={query}&format=json`. It must be on the public internet.",
	},
	{
		Key: "web.search.key", Type: String, Secret: true, Scope: ScopeUser,
		Help: "The endpoint's key, if it needs one. It is sent over https only, in the header X-Subscription-Token. Write another header before it, as in `X-API-Key: …`. `${env:SEARCH_KEY}` is a variable of the environment.",
	},
	{
		Key: "backend.profiles", Type: Backends, Secret: true, Scope: ScopeUser, Default: []Backend{
			{Name: "anthropic", Provider: "anthropic", URL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
			{Name: "local-ollama", Provider: "ollama", URL: "http://localhost:11434"},
			{Name: "openai", Provider: "openai", URL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
		},
		Help: "Language model profiles, added to the default ones or replacing those of the same name. A key is read each time it is needed. For Ollama set `window`: its server drops what is longer, without an error.",
	},
	{
		Key: "backend.profile", Type: String, Scope: ScopeUser,
		Help: "The model profile in use. Agents can change it only with switch_backend, which always asks and tries the key first.",
	},
	{
		Key: "backend.worker", Type: String, Scope: ScopeUser,
		Help: "The profile of a cheap model, such as one in Ollama, for delegate_task: an agent with a costly model has it read.",
	},
	{
		Key: "mcp.servers", Type: MCPServers, Scope: ScopeClient, Secret: true,
		Help: "MCP servers whose tools are offered as `mcp_<server>_<tool>`. They run in the sandbox. Servers of a project's `.mcp.json` or `.vscode/mcp.json` run once you trust their exact command line.",
	},
	{
		Key: "mcp.network", Type: Strings, Scope: ScopeClient,
		Help: "The names of MCP servers that may use the network; `*` means all.",
	},
	{
		Key: "mcp.attach", Type: Boolean, Default: true, Scope: ScopeUser,
		Help: "Whether your shells, and agents started with `sidecar-ls mcp`, work through the process that serves their workspace (an editor's server, `run`, `agent run`). They then share its review queue.",
	},
	{
		Key: "mcp.tools", Type: Strings, Default: []string{"core", "files", "search", "shell", "git", "diagnostics", "web"}, Enum: families, Scope: ScopeProject, Project: Any,
		Help: "Which families of tools agents over MCP are listed at first, beside the core and the tools that you added. A tool_search or a call adds others. Claude Code is listed all, since its model sees only their names.",
	},
	{
		Key: "ide.enabled", Type: Boolean, Default: true, Scope: ScopeClient,
		Help: "Whether Claude Code and Gemini CLI find this editor. They then see your selection, and their own edits wait for review. See docs/agents.md.",
	},
	{
		Key: "runs.outliveEditor", Type: Boolean, Default: false, Scope: ScopeClient,
		Help: "Whether agents go on in a process of their own when the editor's window closes. The next window of the same first folder shows their runs. The process ends with the last agent's work. Needs `sidecar.mcp.attach`, and on Windows an editor that lets processes outlive it. Read when the server starts.",
	},
	{
		Key: "runs.subAgents", Type: Integer, Default: 8, Min: 1, Max: 64, Scope: ScopeUser,
		Help: "How many sub-agents of an agent may work at once. Others wait.",
	},
	{
		Key: "steps.required", Type: Boolean, Default: false, Scope: ScopeUser,
		Help: "Whether agents may change something only in a step that they declared with declare_step. They must check it with verify_step. Reads are free. It holds for every session but the default one, and not for what an agent's own program writes.",
	},
	{
		Key: "log.level", Type: String, Default: "info", Enum: []string{"debug", "info", "warn", "error"}, Scope: ScopeClient,
		Help: "The log level.",
	},
	{
		Key: "log.file", Type: String, Scope: ScopeUser,
		Help: "The log file; empty means standard error.",
	},
}

// Table lists every setting.
func Table() []Setting { return slices.Clone(table) }

// Lookup returns the row of key, which may be an old name of it.
func Lookup(key string) (Setting, bool) {
	if f := formerly(key); f != nil {
		key = f.now
	}
	if row := lookup(key); row != nil {
		return *row, true
	}
	return Setting{}, false
}

func lookup(key string) *Setting {
	for i := range table {
		if table[i].Key == key {
			return &table[i]
		}
	}
	return nil
}
