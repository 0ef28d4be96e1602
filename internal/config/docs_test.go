package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// markdown is docs/settings.md.
func markdown() string {
	var b strings.Builder
	b.WriteString(`# Settings

<!-- Written by go test ./internal/config -update; change internal/config/table.go instead. -->

Settings are read from three places, each laid over the one before:

1. the user's file, ` + "`~/.config/sidecar/settings.json`" + ` on Linux (or below ` + "`XDG_CONFIG_HOME`" + `; [other systems](install.md#uninstall));
2. the editor: ` + "`initializationOptions.sidecar`" + `, and ` + "`workspace/configuration`" + ` with the section ` + "`sidecar`" + `;
3. the project's file, ` + "`" + ProjectFile + "`" + ` in the workspace.

A project loosens nothing that you or the editor set, trusted or not: the tables say what it can do, and what takes your trust. A trusted
project's file holds as it was when you trusted it. A change is shown and asked about; until you say yes, and with nobody to ask, the
stricter of both holds for each setting, and what takes trust stays as it was. ` + "`sidecar-ls trust`" + ` shows the change, ` + "`sidecar-ls trust yes`" + ` takes it. Keys may be dotted, nested, or both, with
the prefix ` + "`sidecar`" + ` or without: ` + "`{\"sidecar.tools.enabled\": false}`" + ` and ` + "`{\"tools\": {\"enabled\": false}}`" + ` say the same. ` + "`null`" + `
sets nothing. What is wrong is reported and left out; the place before it, or the default, holds instead. An editor's
client should send only what was set: a default that it sends hides the user's file.
`)
	for _, key := range keys() {
		row := lookup(key)
		fmt.Fprintf(&b, "\n## %s.%s\n\n%s\n\n| | |\n|---|---|\n", prefix, row.Key, row.Help)
		fmt.Fprintf(&b, "| value | %s |\n", row.values())
		fmt.Fprintf(&b, "| default | `%s` |\n", encode(row.empty()))
		fmt.Fprintf(&b, "| set by | %s |\n", setBy[row.Scope])
		if row.Scope == ScopeProject {
			fmt.Fprintf(&b, "| a project | %s |\n", mayDo[row.Project])
		}
		if row.AgentWritable {
			b.WriteString("| agents | may ask to change it |\n")
		} else {
			b.WriteString("| agents | can't change it |\n")
		}
		if old := row.oldNames(); old != "" {
			fmt.Fprintf(&b, "| before | %s, see [below](#settings-of-earlier-versions) |\n", old)
		}
		if example := examples[row.Type]; example != "" {
			fmt.Fprintf(&b, "\n```json\n%s\n```\n", example)
		}
	}
	b.WriteString(`
## Settings of earlier versions

Whoever sets one of these is shown what the table says.

| setting | now |
|---|---|
`)
	for _, f := range formers {
		fmt.Fprintf(&b, "| `%s.%s` | %s |\n", prefix, f.key, f.message())
	}
	return b.String()
}

var setBy = map[Scope]string{
	ScopeUser:    "the user's file alone",
	ScopeClient:  "the user's file, the editor",
	ScopeProject: "the user's file, the editor, the project's file",
}

var mayDo = map[ProjectMay]string{
	Never:   "can set it once you trust it",
	Tighten: "can only make it stricter",
	Any:     "can set it",
}

var examples = map[Type]string{
	Permissions: `{ "run_command": "ask", "git_push": "deny" }`,
	CustomModes: `[{
  "name": "docs", "description": "Writes documents only.",
  "base": "cautious",
  "destination": "review",
  "toolPermissions": { "run_command": "deny" }
}]`,
	Backends: `[
  { "name": "lab", "provider": "openai", "url": "https://models.example.org/v1", "model": "large", "keyEnv": "LAB_KEY", "window": 65536 },
  { "name": "claude", "provider": "anthropic", "url": "https://api.anthropic.com", "model": "claude-sonnet-5-5", "keyFile": "~/.config/claude.key", "effort": "medium" },
  { "name": "here", "provider": "ollama", "url": "http://localhost:11434", "model": "qwen3-coder:30b", "window": 32768 }
]`,
	LanguageServers: `{
  "gopls": { "command": ["/opt/go/bin/gopls"], "initializationOptions": { "pullDiagnostics": true, "staticcheck": true } },
  "pyright": { "enabled": false }
}`,
	Agents: `{
  "mine": { "program": "my-agent", "state": [".my-agent"], "env": ["MY_AGENT_KEY"], "network": true }
}`,
	Hooks: `{
  "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "~/hooks/no-force-push.sh", "timeout": 5 }] }],
  "PostToolUse": [{ "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "jq -r .tool_input.file_path" }] }]
}`,
	CustomTools: `[{
  "name": "ticket", "description": "Shows a ticket of our tracker by its number.",
  "command": ["/opt/tracker/bin/show", "--json", "{number}"],
  "input": { "type": "object", "properties": { "number": { "type": "integer", "minimum": 1 } }, "required": ["number"] },
  "access": "read", "timeout": 20, "env": ["TRACKER_URL"]
}]`,
	MCPServers: `{
  "tickets": { "command": "tickets-mcp", "args": ["--read-only"], "env": { "TICKETS_TOKEN": "${env:TICKETS_TOKEN}" } },
  "local": { "command": "npx", "args": ["-y", "local-mcp"], "envFile": ".env.local", "timeoutSeconds": 600 },
  "docs": { "url": "https://mcp.example.org/mcp", "withoutTools": ["delete_page"], "maxTools": 20 }
}`,
	CommandRules: `[{ "prefix": ["go", "test"], "decision": "allow", "match": ["go test ./..."], "notMatch": ["go testx"] }]`,
}

func keys() []string {
	var all []string
	for _, row := range table {
		all = append(all, row.Key)
	}
	slices.Sort(all)
	return all
}

// vscodeSchema is the properties of contributes.configuration in the manifest
// of a VS Code extension, as indented JSON. What only the user's file may set
// is not there; what an unknown project must not loosen can't be set by a
// workspace (scope machine), since the server takes the editor's word for the
// user's. Settings of earlier versions are there so that the editor sends them, and
// they are reported.
func vscodeSchema() []byte {
	all := map[string]map[string]any{}
	for _, row := range table {
		if row.Scope == ScopeUser || row.Secret {
			continue
		}
		p := row.schema()
		p["markdownDescription"] = row.Help
		p["default"] = json.RawMessage(encode(row.empty()))
		p["scope"] = "machine"
		if row.Project == Any {
			p["scope"] = "window"
		}
		all[prefix+"."+row.Key] = p
	}
	for _, f := range formers {
		if f.file {
			continue
		}
		p := (&Setting{Type: f.typ, Min: math.MinInt32, Max: math.MaxInt32}).schema()
		p["deprecationMessage"] = "This " + f.message() + "."
		p["scope"] = "window"
		if row := lookup(f.now); row != nil && row.Project != Any {
			p["scope"] = "machine"
		}
		all[prefix+"."+f.key] = p
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // the table holds nothing that JSON can't
	}
	return append(data, '\n')
}

func (row *Setting) schema() map[string]any {
	text := map[string]any{"type": "string"}
	outcome := map[string]any{"type": "string", "enum": outcomes}
	permissions := map[string]any{"type": "object", "additionalProperties": outcome}
	texts := map[string]any{"type": "array", "items": text}
	switch row.Type {
	case String:
		if row.Custom {
			return map[string]any{"anyOf": []any{map[string]any{"enum": row.Enum}, text}}
		}
		if len(row.Enum) > 0 {
			return map[string]any{"type": "string", "enum": row.Enum}
		}
		return text
	case Boolean:
		return map[string]any{"type": "boolean"}
	case Integer:
		return map[string]any{"type": "integer", "minimum": row.Min, "maximum": row.Max}
	case Strings:
		return texts
	case Permissions:
		return permissions
	case CustomModes:
		base := map[string]any{"enum": bases}
		return list([]string{"name"}, map[string]any{
			"name": text, "description": text, "toolPermissions": permissions,
			"base": base, "approvalBehavior": base,
			"destination": map[string]any{"enum": destinations},
		})
	case MCPServers:
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
			"type": map[string]any{"enum": []string{"stdio", "http"}}, "command": text, "args": texts, "env": map[string]any{"type": "object", "additionalProperties": text}, "cwd": text,
			"url": text, "headers": map[string]any{"type": "object", "additionalProperties": text}, "enabled": map[string]any{"type": "boolean"}, "withoutTools": texts, "access": map[string]any{"enum": mcpAccesses[:2]},
		}}}
	case Hooks:
		hook := list([]string{"command"}, map[string]any{"type": map[string]any{"enum": []string{"command"}}, "command": text, "timeout": map[string]any{"type": "number"}, "failClosed": map[string]any{"type": "boolean"}})
		return map[string]any{"type": []string{"object", "boolean"}, "additionalProperties": list([]string{"hooks"}, map[string]any{"matcher": text, "hooks": hook})}
	case CustomTools:
		return list([]string{"name", "description", "command"}, map[string]any{
			"name": text, "description": text, "command": texts, "input": map[string]any{"type": "object"}, "access": map[string]any{"enum": []string{"read", "exec"}},
			"timeout": map[string]any{"type": "integer", "minimum": 1, "maximum": maxToolTime}, "env": texts,
		})
	case Agents:
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
			"program": text, "state": texts, "copied": texts, "env": texts, "network": map[string]any{"type": "boolean"}, "acp": texts, "acpVersion": map[string]any{"enum": []int{1}}, "resume": texts,
		}}}
	case LanguageServers:
		properties := map[string]any{}
		for _, name := range serverNames {
			properties[name] = map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
				"enabled": map[string]any{"type": "boolean"}, "command": texts, "initializationOptions": map[string]any{"type": "object"},
			}}
		}
		return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	default:
		return list([]string{"prefix", "decision"}, map[string]any{"prefix": texts, "decision": outcome, "match": texts, "notMatch": texts})
	}
}

// list is the schema of a list of objects.
func list(required []string, properties map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{
		"type": "object", "additionalProperties": false, "required": required, "properties": properties,
	}}
}

// encode writes a value of the table as JSON, empty ones as what is empty.
func encode(v any) string {
	switch v := v.(type) {
	case map[string]string:
		if v == nil {
			return "{}"
		}
	case []string:
		if v == nil {
			return "[]"
		}
	case map[string]LanguageServer, [][]byte:
		return "{}"
	case []CustomMode, []CommandRule, []CustomTool:
		return "[]" // no row has another default
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the table holds nothing that JSON can't
	}
	return string(data)
}
