package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// firstFile is the settings file that docs/settings.md begins with.
const firstFile = `{
  "mode": "review",
  "toolPermissions": { "git_push": "ask" },
  "sandbox": { "network": "ask", "writable": ["/data/build-cache"] }
}`

// markdown is docs/settings.md.
func markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Settings

<!-- Written by go test ./internal/config -update; change internal/config/table.go instead. -->

For everyone who configures sidecar-ls.
A settings file is one JSON object:

%s

`+"`sidecar-ls doctor`"+` reports mistakes in it. The agents' tool `+"`get_setting`"+` shows a value and its source.

## Where settings come from

| source | where |
|---|---|
| **you** | `+"`~/.config/sidecar/settings.json`"+` on Linux, or below `+"`XDG_CONFIG_HOME`"+` ([other systems](install.md#uninstall)) |
| **editor** | `+"`initializationOptions.sidecar`, and `workspace/configuration`"+` with the section `+"`sidecar`"+` |
| **project** | `+"`%s`"+` in the workspace |
| **machine** | `+"`/etc/sidecar/settings.json`"+`; in `+"`/Library/Application Support/sidecar`"+` on macOS, `+"`%%ProgramData%%\\sidecar`"+` on Windows |

- A later source overrides an earlier one. A mistake is reported, and the source before it, or the default, applies.
- A key may be dotted or nested, with the prefix `+"`sidecar`"+` or without. `+"`null`"+` sets nothing.
- An editor should send only what the user set: a default hides the user's file.

The machine's file is an administrator's and a floor: the stricter of its value and yours applies, and its own where neither is stricter. Denies and command rules add up.
Only administrators may own or write the file and the directories above it, and nothing there is a link. If the file has a mistake, agents only read until it is fixed. Another owner's file is ignored, with a warning.

A project never loosens what you or the editor set. The column *set by* says what it can do:

| word | the project's file |
|---|---|
| project | can set it |
| stricter | can only make it stricter |
| trusted | can set it once you trust the project |

A trusted project's file holds as it was when you trusted it; [security.md](security.md#settings) says what a change needs.

## All settings

An agent can ask to change a setting marked *agents*; you are asked first.
Settings with members are described [below](#settings-with-members).

| setting | value, **default** | set by | what it does |
|---|---|---|---|
`, fence("json", firstFile), ProjectFile)
	for _, key := range keys() {
		row := lookup(key)
		by := setBy[row.Scope]
		if row.Scope == ScopeProject {
			by += ", " + mayDo[row.Project]
		}
		if row.AgentWritable {
			by += ", *agents*"
		}
		fmt.Fprintf(&b, "| `%s.%s` | %s | %s | %s |\n", prefix, row.Key, strings.ReplaceAll(value(row), "|", "\\|"), by, row.Help)
	}
	b.WriteString("\n## Settings with members\n\nMembers are optional unless the table says otherwise.\n")
	for _, key := range keys() {
		row := lookup(key)
		s, ok := shapes[row.Type]
		if ok {
			fmt.Fprintf(&b, "\n### %s.%s\n\n", prefix, row.Key)
			if s.more != "" {
				b.WriteString(s.more + "\n\n")
			}
			b.WriteString("| member | |\n|---|---|\n")
			for _, m := range s.members {
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(m.name, ", ", "`, `"), strings.ReplaceAll(m.is, "|", "\\|"))
			}
			b.WriteString("\n" + fence("json", examples[row.Type]) + "\n")
		}
	}
	b.WriteString("\n## Settings of earlier versions\n\nIf you set one of these, a message says what the table says.\n\n| setting | now |\n|---|---|\n")
	for _, f := range formers {
		fmt.Fprintf(&b, "| `%s.%s` | %s |\n", prefix, f.key, f.message())
	}
	return b.String()
}

func fence(language, text string) string { return "```" + language + "\n" + text + "\n```" }

// value is what the value of a setting may be, its default set in bold.
func value(row *Setting) string {
	is := "`" + encode(row.empty()) + "`"
	switch {
	case row.Type == Boolean:
		return "**" + is + "**"
	case len(row.Enum) > 0:
		is = "`" + strings.Trim(is, "`\"") + "`"
		return strings.Replace(row.kind(), is, "**"+is+"**", 1)
	case row.Type == Integer:
		return fmt.Sprintf("%d…%d, **%s**", row.Min, row.Max, is)
	case row.Type == Backends, is == "`\"\"`", is == "`[]`", is == "`{}`", is == "`null`":
		return row.kind()
	}
	return row.kind() + ", **" + is + "**"
}

var setBy = map[Scope]string{
	ScopeUser:    "you",
	ScopeClient:  "you, editor",
	ScopeProject: "you, editor",
}

var mayDo = map[ProjectMay]string{
	Never:   "trusted",
	Tighten: "stricter",
	Any:     "project",
}

// TestSample: the settings file that the page begins with sets what it says.
func TestSample(t *testing.T) {
	s, problems := Load(user(firstFile))
	if len(problems) > 0 || s.String("mode") != "review" {
		t.Errorf("%v, the mode is %s", problems, s.String("mode"))
	}
	if _, problems := Load(user(strings.Replace(firstFile, "review", "revue", 1))); len(problems) == 0 {
		t.Error("control: a mode that does not exist is taken")
	}
}

var examples = map[Type]string{
	Hosts:       `["ask", "npm", "packages.example.org:8443", { "host": "git.corp", "private": true, "uploads": true }]`,
	Permissions: `{ "run_command": "ask", "git_push": "deny" }`,
	CustomModes: `[{
  "name": "docs", "description": "Writes documents only.",
  "base": "cautious",
  "destination": "review",
  "toolPermissions": { "run_command": "deny" }
}]`,
	Backends: `[
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
  "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "~/hooks/no-force-push.sh", "timeout": 5 }] }]
}`,
	CustomTools: `[{
  "name": "ticket", "description": "Shows a ticket of our tracker by its number.",
  "command": ["/opt/tracker/bin/show", "--json", "{number}"],
  "input": { "type": "object", "properties": { "number": { "type": "integer", "minimum": 1 } }, "required": ["number"] },
  "access": "read", "timeout": 20, "env": ["TRACKER_URL"]
}]`,
	ShadowSetup: `["make deps", { "run": "npm ci", "when": ["package-lock.json"] }]`,
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
		if len(row.Enum) > 0 {
			return map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": row.Enum}}
		}
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
	case ShadowSetup:
		return map[string]any{"type": "array", "items": map[string]any{"oneOf": []any{text, list([]string{"run"}, map[string]any{
			"run": text, "when": texts, "timeout": map[string]any{"type": "integer", "minimum": 1, "maximum": maxToolTime}, "in": text,
		})["items"]}}}
	case CustomTools:
		return list([]string{"name", "description", "command"}, map[string]any{
			"name": text, "description": text, "command": texts, "input": map[string]any{"type": "object"}, "access": map[string]any{"enum": []string{"read", "exec"}},
			"timeout": map[string]any{"type": "integer", "minimum": 1, "maximum": maxToolTime}, "env": texts,
		})
	case Agents:
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
			"program": text, "adapter": text, "state": texts, "copied": texts, "env": texts, "network": map[string]any{"type": "boolean"}, "hosts": texts, "acp": texts, "acpVersion": map[string]any{"enum": []int{1}}, "resume": texts,
		}}}
	case Hosts:
		host := map[string]any{"type": "object", "additionalProperties": false, "required": []string{"host"}, "properties": map[string]any{
			"host": text, "private": map[string]any{"type": "boolean"}, "address": text, "uploads": map[string]any{"type": "boolean"}, "ask": map[string]any{"type": "boolean"}, "in": text,
		}}
		return map[string]any{"anyOf": []any{
			map[string]any{"type": "string", "enum": []string{networkNone, networkAsk, networkAll}}, map[string]any{"type": "boolean"},
			map[string]any{"type": "array", "items": map[string]any{"anyOf": []any{text, host}}},
		}}
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
