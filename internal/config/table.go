// Package config is the settings: one table of what can be set, where, and by
// whom, and the reading of the sources into one value that never changes. It
// knows nothing of what a setting is for.
package config

import (
	"slices"

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

	LanguageServers Type = "languageServers" // map[string]LanguageServer
	MCPServers      Type = "mcpServers"      // map[string]MCPServer
	Agents          Type = "agents"          // map[string]Agent
	Hooks           Type = "hooks"           // [][]byte: an object of events for each source
	CustomTools     Type = "customTools"     // []CustomTool
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

// Setting is one row of the table.
type Setting struct {
	Key     string // dotted, without the prefix sidecar
	Type    Type
	Default any      // of the Go type that Type names; nil: its empty value
	Enum    []string // of a String, all it may be; where a project may tighten, loosest first
	Custom  bool     // of a String with Enum: or the name of a custom mode
	Min     int      // of an Integer
	Max     int      // of an Integer
	Scope   Scope
	Project ProjectMay

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
		Help: "Custom modes, each based on a built-in one.",
	},
	{
		Key: "mode", Type: String, Default: policy.DefaultMode, Enum: builtinModes, Custom: true,
		Scope: ScopeProject, Project: Tighten, tighten: stricterMode,
		Help: "The mode of sessions that don't name one: what is asked about, and where edits go. A project, or whoever starts an agent, takes only one that is looser in nothing: `manual` asks about reads, and `review`, `audit` and `plan` keep from the disk what a permission allows, so that neither takes the place of the other; where your own mode asks about new hosts, the stricter one does, too.",
	},
	{
		Key: "toolPermissions", Type: Permissions, Scope: ScopeProject, Project: Tighten, tighten: stricterPermissions,
		Help: "Tools that are always allowed, asked about or denied, whatever the mode says. A tool that asks in every mode can be denied but not allowed. A deny in one source can't be undone by another.",
	},
	{
		Key: "commandRules", Type: CommandRules, Scope: ScopeProject, Project: Tighten, tighten: stricterRules,
		Help: "Commands that are allowed, asked about or denied, by how the command line begins. The rules of all sources add up; of those that match a command, the strictest holds. Once there is a deny rule, lines that may run more than their words show (a script, an option that names a program, a variable) are asked about in every mode. What a build or a package script runs is not checked.",
	},
	{
		Key: "tools.enabled", Type: Boolean, Default: true, Scope: ScopeProject, Project: Tighten, tighten: onlyFalse,
		Help: "Whether tools can be called at all.",
	},
	{
		Key: "tools.registryMode", Type: String, Default: "auto", Enum: []string{"auto", "full", "lazy"},
		Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "Which tools are listed by default: `full` lists all; `lazy` lists a few, and the others once tool_search or a call asks for them; `auto` lists all for people and for agents over MCP, and is `lazy` in other lists for models.",
	},
	{
		Key: "budget.calls", Type: Integer, Default: 0, Min: 0, Max: 1_000_000_000, Scope: ScopeProject, Project: Tighten, tighten: smallerBoundOf,
		Help: "How many tool calls a session may make if it was opened without a limit of its own, the default session included; 0 means no limit. Further calls are refused until this is raised. Closing the default session starts its count again.",
	},
	{
		Key: "budget.tokens", Type: Integer, Default: 0, Min: 0, Max: 1_000_000_000, Scope: ScopeProject, Project: Tighten, tighten: smallerBoundOf,
		Help: "How many tokens the arguments and results of a session's calls may take together, at four bytes per token; otherwise like `sidecar.budget.calls`.",
	},
	{
		Key: "edits.save", Type: String, Default: "auto", Enum: []string{"onAccept", "auto", "never"}, Scope: ScopeProject, Project: Tighten, tighten: stricterOf,
		Help: "Whether an open document is saved once an edit of an agent is applied to it: `auto` saves documents that had no unsaved changes of yours, so that programs outside see the edit. `onAccept` also saves those that had, once you accept an edit of them. It takes an editor whose plug-in can be asked to save (VS Code, Neovim, Emacs). Files that are not open are always written.",
	},
	{
		Key: "workspace.trust", Type: String, Default: "unknown", Enum: []string{"trusted", "unknown", "untrusted"}, Scope: ScopeClient,
		Help: "Whether you trust the workspace. If `trusted`, hooks of its git repository run, in the sandbox, and `.sidecar` files and hooks of the project hold as they are when you trust it; a change of them is shown and asked about, and until then the stricter of both holds. If `untrusted`, only read-only tools can be used. If neither, hooks don't run.",
	},
	{
		Key: "approval.timeoutSeconds", Type: Integer, Default: 300, Min: 1, Max: 24 * 60 * 60,
		Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How long a question waits for an answer, in seconds. After that the answer is no.",
	},
	{
		Key: "retry.attempts", Type: Integer, Default: 3, Min: 1, Max: 10,
		Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "How often a call is attempted when it fails with a transient error, such as an overloaded server. Only calls that can be repeated safely are retried: those that only read, and those of tools that say they are idempotent. 1 turns retries off. Before the second attempt are 1.5 seconds, give or take a quarter; each further wait is 1.5 times as long. The tool's time-out covers all attempts.",
	},
	{
		Key: "commands.world", Type: String, Default: "auto", Enum: []string{"auto", "overlay", "shadow", "disk"}, Scope: ScopeUser,
		Help: "What commands see and change: `overlay` is what their session sees, pending edits and unsaved text over the disk, and what they change passes review like any edit. `shadow` is the same in a copy of the workspace, for machines without overlays; without bubblewrap (macOS, Windows) the copy is at a path of its own. Nothing runs where what is set can't be had. `disk` is the disk itself. `auto` takes the overlay, else the shadow, else the disk, and every result says which; with `sidecar.sandbox.mode` = `off` it takes the disk.",
	},
	{
		Key: "commands.shell", Type: String, Default: "auto", Enum: []string{"auto", "bash", "wsl", "powershell", "pwsh"}, Scope: ScopeProject, Project: Never,
		Help: "What runs command lines on Windows: `bash` is that of Git for Windows, or another one on PATH; `powershell` is Windows PowerShell 5.1, `pwsh` PowerShell 7; `wsl` is the bash of the Linux that WSL begins by default. Nothing runs where what is set is not there. `auto` takes a bash, else PowerShell 7, else Windows PowerShell, and never WSL. On Linux and macOS it is bash: what is for Windows alone runs nothing there. Read with the first command.",
	},
	{
		Key: "output.quota", Type: Integer, Default: 0, Min: 0, Max: 1 << 20, Scope: ScopeUser,
		Help: "How much output may be held for review in a workspace, in MiB: what git ignores and dependencies, as commands left them. Commands are refused while there is more. 0 means 4096, or a fifth of the free space where that is less.",
	},
	{
		Key: "sandbox.mode", Type: String, Default: "auto", Enum: []string{"off", "auto", "require"},
		Scope: ScopeProject, Project: Tighten, tighten: stricterOf,
		Help: "How commands are confined: `auto` uses the best sandbox that the machine supports, and every result says which; `require` runs nothing without a sandbox; `off` runs commands with all rights of the user.",
	},
	{
		Key: "sandbox.network", Type: Boolean, Default: false, Scope: ScopeClient,
		Help: "Whether sandboxed commands may use the network.",
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
		Help: "What agents' programs need to run in a session's world with `sidecar-ls run`, over what is known of them. Each is shown and asked about once.",
	},
	{
		Key: "hooks", Type: Hooks, Scope: ScopeClient,
		Help: "Programs that run on events of agents and can block them, in the format of Claude Code's hooks: an object of events. `false` runs no hooks, not even those of plugins and of the project. They run confined, without a network unless commands have one. A hook can make things stricter, and answer a question for you; what is denied stays so.",
	},
	{
		Key: "tools.custom", Type: CustomTools, Scope: ScopeProject, Project: Never, tighten: moreTools, held: heldTools,
		Help: "Tools that are programs of yours. Each is offered as `custom_<name>`; it gets the arguments as JSON on its standard input, and those that its command names as whole words (`{field}`). No shell reads them. It runs confined as commands do; with the access `read` it can't write.",
	},
	{
		Key: "plugins.dirs", Type: Strings, Scope: ScopeUser,
		Help: "Directories with plugins, or that are one, besides the user's data directory: absolute paths. A plugin does nothing before you trust it.",
	},
	{
		Key: "languageServers", Type: LanguageServers, Scope: ScopeProject, Project: Never, tighten: moreServers, held: heldServers,
		Help: "How to run the language servers that get_diagnostics and the lsp_… tools ask. They run only in a trusted workspace, confined like commands. Servers that are not set are looked for on PATH.",
	},
	{
		Key: "sensitive.allow", Type: Strings, Scope: ScopeUser,
		Help: "Files that tools may read although their names suggest secrets: globs relative to the workspace, such as `config/.env.example`.",
	},
	{
		Key: "result.maxBytes", Type: Integer, Default: 16_000, Min: 1_000, Max: 1_000_000,
		Scope: ScopeProject, Project: Tighten, tighten: smallerOf, AgentWritable: true,
		Help: "How much of a result an agent gets at once, in bytes. The rest can be read page by page.",
	},
	{
		Key: "shadow.max", Type: Integer, Default: 32, Min: 1, Max: 10_000, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How many shadow workspaces a workspace can have.",
	},
	{
		Key: "shadow.maxMegabytes", Type: Integer, Default: 32_768, Min: 1, Max: 16_777_216, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "The total size of the files of a shadow workspace. It may have 1,048,576 files, and 32 for each MiB of this where that is more. Two directories of discarded ones are cleaned and kept: reusing one takes a tenth of the time.",
	},
	{
		Key: "undo.days", Type: Integer, Default: 14, Min: 1, Max: 3650, Scope: ScopeClient,
		Help: "How long edits of agents can be undone. At most 64 MiB of text are kept for it: the oldest edits are forgotten first, and a single edit that is larger than a quarter of that can't be undone.",
	},
	{
		Key: "audit.enabled", Type: Boolean, Default: true, Scope: ScopeClient,
		Help: "Whether every tool call is recorded in `.sidecar/logs`: who called what, what was decided and by whom, and the hashes of what changed. Secrets are removed from arguments.",
	},
	{
		Key: "knowledge.enabled", Type: Boolean, Default: true, Scope: ScopeProject, Project: Tighten, tighten: onlyFalse, AgentWritable: true,
		Help: "Whether there is a project index for project_knowledge_search. The first question builds it. Files that no answer has named yet are parsed with a quarter of one processor, and the index takes 1 GiB of memory at most.",
	},
	{
		Key: "knowledge.embeddings.provider", Type: String, Default: "off", Enum: []string{"off", "ollama", "openai"}, Scope: ScopeUser,
		Help: "Whether questions are also answered by meaning, with vectors of a model: `ollama` is an Ollama server (`/api/embed`), `openai` any OpenAI-compatible endpoint (`/v1/embeddings`). Pieces of the project's source are sent there, recognised secrets removed. With `off` nothing is sent. Read with the first question.",
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
		Help: "The key for the endpoint, sent as a bearer token. Better keep it in the environment: `${env:OPENAI_API_KEY}` is that variable.",
	},
	{
		Key: "knowledge.documentSymbols", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any,
		Help: "Whether the editor is offered outlines of documents (textDocument/documentSymbol). Useful for languages without another server. Read when the server starts.",
	},
	{
		Key: "knowledge.workspaceSymbols", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any,
		Help: "Whether the editor is offered the project's symbols (workspace/symbol), from the project index. Read when the server starts.",
	},
	{
		Key: "web.search.provider", Type: String, Default: "duckduckgo", Enum: []string{"duckduckgo", "json"}, Scope: ScopeUser,
		Help: "Where web_search searches: DuckDuckGo, which needs no key, or a JSON endpoint of your choice, such as SearXNG or Brave.",
	},
	{
		Key: "web.search.url", Type: String, Scope: ScopeUser,
		Help: "The endpoint of the provider `json`, with `{query}` and, where supported, `{count}`: `https://search.example.org/search?q={query}&format=json`, or `https://api.search.brave.com/res/v1/web/search?q={query}&count={count}`. It must be on the public internet, like everything that is fetched.",
	},
	{
		Key: "web.search.key", Type: String, Secret: true, Scope: ScopeUser,
		Help: "The endpoint's key, if it needs one. It is sent over https only, as the header X-Subscription-Token; `X-API-Key: ` before it names another header, as in `Authorization: Bearer …`. `${env:SEARCH_KEY}` is that variable of the environment.",
	},
	{
		Key: "backend.profiles", Type: Backends, Secret: true, Scope: ScopeUser, Default: []Backend{
			{Name: "anthropic", Provider: "anthropic", URL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
			{Name: "local-ollama", Provider: "ollama", URL: "http://localhost:11434"},
			{Name: "openai", Provider: "openai", URL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
		},
		Help: "Language model profiles. They add to the default ones, or replace those of the same name. A key is read each time it is needed, and sent only over https or to this machine. An Ollama server forgets what is longer than its own context without a word, so say that in `window`.",
	},
	{
		Key: "backend.profile", Type: String, Scope: ScopeUser,
		Help: "The profile in use. Agents can change it only with switch_backend, which always asks and tries the key first.",
	},
	{
		Key: "backend.worker", Type: String, Scope: ScopeUser,
		Help: "The profile of a model of your own, such as one that Ollama runs: agents whose model costs money may have it read for them, with delegate_task.",
	},
	{
		Key: "mcp.servers", Type: MCPServers, Scope: ScopeClient, Secret: true,
		Help: "MCP servers whose tools are offered as `mcp_<server>_<tool>`. They run confined, like commands. Servers in a project's `.mcp.json` or `.vscode/mcp.json` are used once you trust their exact command line.",
	},
	{
		Key: "mcp.network", Type: Strings, Scope: ScopeClient,
		Help: "The names of MCP servers that may use the network; `*` means all.",
	},
	{
		Key: "mcp.attach", Type: Boolean, Default: true, Scope: ScopeUser,
		Help: "Whether agents started with `sidecar-ls mcp` work through the editor's server of their workspace, with its questions and review queue, instead of alone.",
	},
	{
		Key: "ide.enabled", Type: Boolean, Default: true, Scope: ScopeClient,
		Help: "Whether Claude Code and Gemini CLI find this editor, show it their own edits, which then wait for review, and are told what is selected. See docs/agents.md.",
	},
	{
		Key: "runs.outliveEditor", Type: Boolean, Default: false, Scope: ScopeClient,
		Help: "Whether agents work on when the editor's window closes, in a process of their own: the next window of the same first folder has their runs as they are then. That process ends with the last agent's work. It needs `sidecar.mcp.attach`; on Windows also an editor that does not keep what it has started in a job that ends with it. Read when the server starts.",
	},
	{
		Key: "runs.subAgents", Type: Integer, Default: 8, Min: 1, Max: 64, Scope: ScopeUser,
		Help: "How many sub-agents an agent may have at work at once; others wait for their turn.",
	},
	{
		Key: "steps.required", Type: Boolean, Default: false, Scope: ScopeUser,
		Help: "Whether agents may change something only in a step that they have declared with declare_step, and have to verify with verify_step; reads are free. It holds for every session but the default one, which is yours. What the program of an agent writes by itself is not covered.",
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
