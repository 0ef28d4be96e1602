// Package config is the settings: one table of what can be set, where, and by
// whom, and the reading of the sources into one value that never changes. It
// knows nothing of what a setting is for.
package config

import (
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/policy"
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
)

// Scope is where a setting may be set.
type Scope string

// The scopes; each has the sources of the one before it and one more.
const (
	ScopeUser    Scope = "user"    // the user's file alone
	ScopeClient  Scope = "client"  // and the editor
	ScopeProject Scope = "project" // and the project's file
)

// ProjectMay is what the file of a project that the user does not trust may do
// to a setting of ScopeProject. A trusted project's file is a source like the
// others.
type ProjectMay string

// What a project's file may do.
const (
	Never   ProjectMay = "never"   // it is not heeded
	Tighten ProjectMay = "tighten" // only what makes the setting stricter is heeded
	Any     ProjectMay = "any"     // it is heeded
)

// Setting is one row of the table.
type Setting struct {
	Key     string // dotted, without the prefix sidecar
	Old     string // what it was called before: it works, and is reported
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

	// tighten, for a row whose Project is Tighten, returns what have becomes by
	// want, and what of want was refused, in words.
	tighten func(row *Setting, have, want any) (got any, refused []string)
}

// builtinModes are the modes that are always there, loosest first.
var builtinModes = policy.Names()

// table is every setting. A row may look only at settings above it: mode at
// customModes.
var table = []Setting{
	{
		Key: "customModes", Type: CustomModes, Scope: ScopeProject, Project: Never,
		Help: "Modes of your own, each made from a built-in one.",
	},
	{
		Key: "mode", Type: String, Default: policy.DefaultMode, Enum: builtinModes, Custom: true,
		Scope: ScopeProject, Project: Tighten, tighten: stricterOf,
		Help: "The mode of the default session, and of every session that is opened without one: what is asked, and where edits go.",
	},
	{
		Key: "toolPermissions", Type: Permissions, Scope: ScopeProject, Project: Tighten, tighten: stricterPermissions,
		Help: "What is always allowed, asked about or denied, by tool, whatever the mode says. What asks in every mode can be denied but not allowed. A deny in one source is not taken back by another.",
	},
	{
		Key: "commandRules", Type: CommandRules, Scope: ScopeProject, Project: Tighten, tighten: stricterRules,
		Help: "What is allowed, asked about or denied, by the beginning of a command line. The rules of all sources add up; of those that match a command, the strictest holds. Where a rule denies something, a line that may run what its words do not say (a script, an option that names a program, a variable) is asked about in every mode; what a build or a package script runs in its turn is not seen.",
	},
	{
		Key: "tools.enabled", Type: Boolean, Default: true, Scope: ScopeProject, Project: Tighten, tighten: onlyFalse,
		Help: "Whether tools may be called at all.",
	},
	{
		Key: "tools.registryMode", Type: String, Default: "auto", Enum: []string{"auto", "full", "lazy"},
		Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "Which tools a session is shown that says nothing of it: `full` is all at once; `lazy` is a few, the others when tool_search or a call asks for them; `auto` is all in lists for people and for agents over MCP, and as `lazy` in other lists for models.",
	},
	{
		Key: "tools.strictSchemas", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "Whether models are given schemas in the form that strict modes of providers take: every argument is required, one that may be left out may be `null`, no other members are taken, and bounds stand in the descriptions. It holds for lists in the formats `openai`, `anthropic` and `mcp` that don't say `strict` themselves, and for agents over MCP. A call whose optional arguments are `null` is always taken. Tools of MCP servers whose schemas have no such form keep their own.",
	},
	{
		Key: "budget.calls", Type: Integer, Default: 0, Min: 0, Max: 1_000_000_000, Scope: ScopeProject, Project: Tighten, tighten: smallerBoundOf,
		Help: "How many calls of tools a session may make that is opened without a number of its own, the default session too; 0 is no bound. A session that has used them up is refused further calls until this is raised; the default session begins anew when it is closed.",
	},
	{
		Key: "budget.tokens", Type: Integer, Default: 0, Min: 0, Max: 1_000_000_000, Scope: ScopeProject, Project: Tighten, tighten: smallerBoundOf,
		Help: "How many tokens the calls of a session may take together, arguments and results, at four bytes a token; otherwise as `sidecar.budget.calls`.",
	},
	{
		Key: "review.saveOnAccept", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "Whether documents that the editor has open are saved once an edit of them is accepted. LSP has no request to save, so it is the editor's side that does it; the Neovim configuration does. Files that are not open are always written.",
	},
	{
		Key: "workspace.trust", Type: String, Default: "unknown", Enum: []string{"trusted", "unknown", "untrusted"}, Scope: ScopeClient,
		Help: "Whether you trust the workspace. In a trusted one the hooks, filters and drivers that its git repository names may run, and its own settings may also loosen yours. In an untrusted one only the tools that read may be used. In one of which nothing is known they do not run, and that is all.",
	},
	{
		Key: "approval.timeoutSeconds", Type: Integer, Default: 300, Min: 1, Max: 24 * 60 * 60,
		Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How long a question waits for its answer, in seconds. After that the answer is no.",
	},
	{
		Key: "retry.attempts", Type: Integer, Default: 3, Min: 1, Max: 10,
		Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "How often a call is attempted when it fails with a transient error, such as an overloaded server. Only calls that can be repeated safely are retried: those that only read, and those of tools that say they are idempotent. 1 turns retries off.",
	},
	{
		Key: "retry.waitMs", Type: Integer, Default: 1500, Min: 0, Max: 60_000,
		Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "Milliseconds before the second attempt, give or take a quarter. Each further wait is half as long again. The tool's time-out covers all attempts.",
	},
	{
		Key: "sandbox.mode", Type: String, Default: "auto", Enum: []string{"off", "auto", "require"},
		Scope: ScopeProject, Project: Tighten, tighten: stricterOf,
		Help: "How commands are confined: `auto` is the best that the machine has, and every result says what that is; `require` runs nothing where there is no sandbox; `off` runs commands with all rights of the user.",
	},
	{
		Key: "sandbox.network", Type: Boolean, Default: false, Scope: ScopeClient,
		Help: "Whether commands may use the network in the sandbox.",
	},
	{
		Key: "sandbox.readOnly", Type: Strings, Scope: ScopeUser,
		Help: "Directories outside of the workspace that commands may read in the sandbox, besides the system's and those of common toolchains: absolute paths, such as `/data/models`.",
	},
	{
		Key: "sandbox.writable", Type: Strings, Scope: ScopeUser,
		Help: "Directories outside of the workspace that commands may change in the sandbox: absolute paths, such as a cache that a build shares.",
	},
	{
		Key: "languageServers", Type: LanguageServers, Scope: ScopeProject, Project: Never,
		Help: "How the language servers are run that get_diagnostics and the tools lsp_… ask. They run in a trusted workspace alone, confined like commands. What is not set is looked for on PATH.",
	},
	{
		Key: "diagnostics.editWaitMs", Type: Integer, Default: 1_500, Min: 0, Max: 20_000, Scope: ScopeProject, Project: Tighten, tighten: smallerOf, AgentWritable: true,
		Help: "How long the result of an edit that is held for review may wait for the language server to say what the edit broke, in milliseconds; 0 does not wait. No edit waits for a server that does not run yet.",
	},
	{
		Key: "sensitive.allow", Type: Strings, Scope: ScopeUser,
		Help: "Files that tools may read although their names say that they hold secrets: globs relative to the workspace, such as `config/.env.example`.",
	},
	{
		Key: "result.maxBytes", Old: "result.maxChars", Type: Integer, Default: 16_000, Min: 1_000, Max: 1_000_000,
		Scope: ScopeProject, Project: Tighten, tighten: smallerOf, AgentWritable: true,
		Help: "How much of a result an agent is shown at once, in bytes. The rest can be read page by page.",
	},
	{
		Key: "shadow.max", Type: Integer, Default: 32, Min: 1, Max: 10_000, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How many shadow workspaces a workspace may have at a time.",
	},
	{
		Key: "shadow.maxFiles", Type: Integer, Default: 1 << 20, Min: 1, Max: 100_000_000, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How many files one shadow workspace may have.",
	},
	{
		Key: "shadow.maxMegabytes", Type: Integer, Default: 32_768, Min: 1, Max: 16_777_216, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How large the files of one shadow workspace may be together.",
	},
	{
		Key: "shadow.keep", Type: Integer, Default: 2, Min: 0, Max: 100, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How many directories of discarded shadow workspaces are kept, cleaned, so that the next ones are made in a tenth of the time.",
	},
	{
		Key: "audit.enabled", Type: Boolean, Default: true, Scope: ScopeClient,
		Help: "Whether every tool call is written down in `.sidecar/logs`: who called what, what was decided and by whom, and the hashes of what was changed. Arguments are written without secrets.",
	},
	{
		Key: "knowledge.enabled", Type: Boolean, Default: true, Scope: ScopeProject, Project: Any, AgentWritable: true,
		Help: "Whether there is an index of the project, which project_knowledge_search answers from. It is built by the first question.",
	},
	{
		Key: "knowledge.parsing.percent", Type: Integer, Default: 25, Min: 0, Max: 100, Scope: ScopeProject, Project: Tighten, tighten: smallerOf, AgentWritable: true,
		Help: "How much of one processor may be used to parse, in the background, the files that no answer has named yet, and as much again to read which functions commits changed. Until a file is parsed, its definitions are found line by line. With 0 only files that answers name are parsed, and nothing is read.",
	},
	{
		Key: "knowledge.memoryMegabytes", Type: Integer, Default: 1024, Min: 16, Max: 65_536, Scope: ScopeProject, Project: Tighten, tighten: smallerOf,
		Help: "How much memory the project index may take. Files that find it full are known by their paths alone.",
	},
	{
		Key: "knowledge.embeddings.provider", Type: String, Default: "off", Enum: []string{"off", "ollama", "openai"}, Scope: ScopeUser,
		Help: "Whether questions are also answered by meaning, with vectors of a model: `ollama` is an Ollama server (`/api/embed`), `openai` any endpoint that speaks as OpenAI's does (`/v1/embeddings`). Pieces of the project's source are sent there, without the secrets that are recognised in them. With `off` nothing is sent anywhere. These settings are read with the first question.",
	},
	{
		Key: "knowledge.embeddings.url", Type: String, Scope: ScopeUser,
		Help: "Where the embeddings come from, without the path that the provider fixes; empty means `http://127.0.0.1:11434` for `ollama` and `https://api.openai.com` for `openai`. Addresses outside of this machine and of private networks must be https.",
	},
	{
		Key: "knowledge.embeddings.model", Type: String, Scope: ScopeUser,
		Help: "The model that makes the vectors; empty means `nomic-embed-text` for `ollama` and `text-embedding-3-small` for `openai`.",
	},
	{
		Key: "knowledge.embeddings.key", Type: String, Secret: true, Scope: ScopeUser,
		Help: "The key for the endpoint, sent as a bearer token. Better: keep it in the environment, see `sidecar.knowledge.embeddings.keyVariable`.",
	},
	{
		Key: "knowledge.embeddings.keyVariable", Type: String, Scope: ScopeUser,
		Help: "The environment variable that holds the key, such as `OPENAI_API_KEY`; `sidecar.knowledge.embeddings.key` goes before it.",
	},
	{
		Key: "knowledge.embeddings.maxUnits", Type: Integer, Default: 20_000, Min: 1, Max: 200_000, Scope: ScopeUser,
		Help: "How many functions, types and sections get vectors, those of tests, examples and generated files last. One takes as many bytes of memory as the model has dimensions.",
	},
	{
		Key: "knowledge.documentSymbols", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any,
		Help: "Whether the outline of a document is offered to the editor (textDocument/documentSymbol). For languages that no other server serves. Read when the server starts.",
	},
	{
		Key: "knowledge.workspaceSymbols", Type: Boolean, Default: false, Scope: ScopeProject, Project: Any,
		Help: "Whether the symbols of the project are offered to the editor (workspace/symbol), from the project index. Read when the server starts.",
	},
	{
		Key: "web.search.provider", Type: String, Default: "duckduckgo", Enum: []string{"duckduckgo", "json"}, Scope: ScopeUser,
		Help: "Where web_search looks: DuckDuckGo, which needs no key, or an endpoint of your choice that answers in JSON, such as SearXNG or Brave.",
	},
	{
		Key: "web.search.url", Type: String, Scope: ScopeUser,
		Help: "The endpoint of the provider `json`, with `{query}` and, if it can be told, `{count}`: `https://search.example.org/search?q={query}&format=json`, or `https://api.search.brave.com/res/v1/web/search?q={query}&count={count}`. It must be on the public internet, as everything that is fetched.",
	},
	{
		Key: "web.search.key", Type: String, Secret: true, Scope: ScopeUser,
		Help: "The endpoint's key, if it wants one. It is sent over https only.",
	},
	{
		Key: "web.search.keyHeader", Type: String, Default: "X-Subscription-Token", Scope: ScopeUser,
		Help: "The header that the key is sent in.",
	},
	{
		Key: "backend.profiles", Type: Backends, Secret: true, Scope: ScopeUser, Default: []Backend{
			{Name: "anthropic", Provider: "anthropic", URL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
			{Name: "local-ollama", Provider: "ollama", URL: "http://localhost:11434"},
			{Name: "openai", Provider: "openai", URL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
		},
		Help: "The language models that there are: profiles of your own, beside those that are there by default, or in their place by the same name. A key is sent over https, or to this machine.",
	},
	{
		Key: "backend.profile", Type: String, Scope: ScopeUser,
		Help: "The profile that is used. Agents change it with switch_backend alone, which always asks and tries the key first.",
	},
	{
		Key: "mcp.servers", Type: MCPServers, Scope: ScopeClient, Secret: true,
		Help: "MCP servers whose tools are offered beside the built-in ones, as `mcp_<server>_<tool>`. They run confined, like commands. Those that a project names in `.mcp.json` or `.vscode/mcp.json` are used once you trust them, each with its exact command line.",
	},
	{
		Key: "mcp.network", Type: Strings, Scope: ScopeClient,
		Help: "The MCP servers, by name, whose processes may use the network; `*` is all.",
	},
	{
		Key: "mcp.attach", Type: Boolean, Default: true, Scope: ScopeUser,
		Help: "Whether agents that are started with `sidecar-ls mcp` work through the editor's server of their workspace, with its questions and its review queue, and not by themselves.",
	},
	{
		Key: "log.level", Type: String, Default: "info", Enum: []string{"debug", "info", "warn", "error"}, Scope: ScopeClient,
		Help: "What is logged.",
	},
	{
		Key: "log.file", Type: String, Scope: ScopeUser,
		Help: "The file that is logged to; empty means standard error.",
	},
}

// Table lists every setting.
func Table() []Setting { return slices.Clone(table) }

// Lookup returns the row of key, which may be an old one.
func Lookup(key string) (Setting, bool) {
	if row := lookup(key); row != nil {
		return *row, true
	}
	return Setting{}, false
}

func lookup(key string) *Setting {
	for i := range table {
		if table[i].Key == key || table[i].Old == key && key != "" {
			return &table[i]
		}
	}
	return nil
}
