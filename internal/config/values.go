package config

import (
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// shape is what the value of a setting with members may be.
type shape struct {
	kind    string // a list of modes
	members []part
	more    string // a sentence about all of them
}

// part is a member, or several that belong together.
type part struct{ name, is string }

// shapes are those of the types with members.
var shapes = map[Type]shape{
	CustomModes: {"a list of modes", []part{
		{"name", "required"},
		{"description", "for people"},
		{"base", "`cautious`, `autonomous` or `manual`; also called `approvalBehavior`"},
		{"destination", "of edits: `editor` or `review`"},
		{"toolPermissions", "as in that setting"},
	}, ""},
	Backends: {"a list of profiles", []part{
		{"name, url", "required"},
		{"provider", "`openai` (which others speak too), `anthropic` or `ollama`"},
		{"model", "the model's name"},
		{"keyEnv, key, keyFile, keyring", "where the key is; the first that exists. `keyEnv` is a variable, `keyFile` a file only you can read (`chmod 600`), `keyring` `true` for the system's (service `sidecar-ls`, account the profile's name)"},
		{"window, maxTokens", "tokens of a conversation, and of an answer"},
		{"vision", "`true` if it sees images"},
		{"startSeconds", "how long it may take to begin an answer: 90, or 1,800 for Ollama and servers on this machine, which may load a model first"},
		{"effort", "`low`, `medium` or `high`"},
		{"calls", "`text` for a model that was not trained to call tools"},
		{"wire", "`anthropic`, `chat` or `responses`, instead of the provider's protocol"},
		{"reasoning", "the member with a chat server's reasoning: `reasoning_content` or `reasoning`; default either"},
		{"sendReasoning", "`true` sends that back"},
	}, "Built in are `anthropic` (key in `ANTHROPIC_API_KEY`), `openai` (`OPENAI_API_KEY`) and `local-ollama` (`http://localhost:11434`)."},
	Hosts: {"`none`, `ask`, `all`, or a list of hosts and presets", []part{
		{"host", "required: a name, `*.NAME` for all below it, an address, or `localhost:PORT` for this machine's own. Without a port it is reached at 22, 80, 443 and 9418"},
		{"private", "`true`: its address may be in your own network"},
		{"address", "`HOST:PORT` where it is, instead of where DNS says"},
		{"uploads", "`true`: any amount may be sent to it. Else you are asked once more after 1 MiB"},
		{"ask", "`true`: you are asked all the same"},
		{"in", "a directory: holds only in its workspace"},
	}, "A host without members is a string. The presets are `" + strings.Join(hosts.Presets(), "`, `") + "`."},
	Agents: {"an object by agent", []part{
		{"program", "its name on PATH"},
		{"state", "directories of your home that it reads and writes"},
		{"copied", "files of your home that it gets copies of"},
		{"adapter", "the program that speaks ACP for it"},
		{"env", "variables that it gets"},
		{"hosts", "hosts that it reaches, its model's among them"},
		{"network", "`true`: those that are known of it; `false`: none"},
		{"acp", "arguments with which it speaks ACP"},
		{"acpVersion", "`1`"},
		{"resume", "arguments that continue its last conversation"},
	}, ""},
	Hooks: {"an object by event, or `false`", []part{
		{"matcher", "tool names with `|` between them, or a regular expression over the whole name; empty matches all"},
		{"hooks[].type", "`command`"},
		{"hooks[].command", "a line for the shell"},
		{"hooks[].timeout", "seconds, 15 by default"},
		{"hooks[].failClosed", "`true`: a failure of the hook blocks"},
	}, "Each event has a list of groups with these members ([hooks.md](hooks.md))."},
	CustomTools: {"a list of tools", []part{
		{"name, description", "required"},
		{"command", "required: program and arguments. An argument that is `{field}` stands for one of the call, and is left out without it"},
		{"input", "JSON Schema of the arguments"},
		{"access", "`read` or `exec` (default)"},
		{"timeout", "seconds, 60 by default"},
		{"env", "variables that it gets"},
	}, ""},
	ShadowSetup: {"a list of steps", []part{
		{"run", "required: a line for the shell, or that alone as a string"},
		{"when", "lock files: it runs again when one changed"},
		{"timeout", "seconds, 600 by default"},
		{"in", "a directory: it runs only in its workspace"},
	}, ""},
	LanguageServers: {"an object by server: `" + strings.Join(serverNames, "`, `") + "`", []part{
		{"enabled", "`false` switches it off"},
		{"command", "program and arguments"},
		{"initializationOptions", "passed on"},
	}, ""},
	MCPServers: {"an object by server", []part{
		{"command, args, env, cwd", "a local server"},
		{"url, headers", "a remote one"},
		{"type", "`stdio` or `http`"},
		{"enabled", "`false` switches it off"},
		{"withoutTools", "tools that are left out"},
		{"access", "`world` (default): its writes are edits of the calling session. `read`: it can't write. `disk`: it writes past the review; only in your own file"},
	}, "`${env:NAME}`, `${NAME}` and `${workspaceFolder}` are replaced."},
	CommandRules: {"a list of rules", []part{
		{"prefix", "required: the first words of the command"},
		{"decision", "required: `allow`, `ask` or `deny`"},
		{"rest", "of an `allow`, which words may follow: `any` (default), or `known`, which are operands and options that name no program or file to write, as for *Allow … for this session*"},
		{"in", "a directory: the rule holds only in its workspace"},
		{"packages", "of an `allow`: digest of the packages that it may install"},
		{"match, notMatch", "examples, which are checked"},
	}, ""},
}

// values says what the value of row may be, members included.
func (row *Setting) values() string {
	s, ok := shapes[row.Type]
	if !ok {
		return row.kind()
	}
	var members []string
	for _, m := range s.members {
		members = append(members, fmt.Sprintf("`%s` (%s)", strings.ReplaceAll(m.name, ", ", "`, `"), m.is))
	}
	return strings.TrimSpace(s.kind + ": " + strings.Join(members, ", ") + ". " + s.more)
}

// kind says what the value of row may be, in a few words.
func (row *Setting) kind() string {
	switch row.Type {
	case String:
		if len(row.Enum) == 0 {
			return "a string"
		}
		s := "`" + strings.Join(row.Enum, "`, `") + "`"
		if row.Custom {
			s += ", or a custom mode"
		}
		return s
	case Boolean:
		return "`true` or `false`"
	case Integer:
		return fmt.Sprintf("a whole number from %d to %d", row.Min, row.Max)
	case Strings:
		if len(row.Enum) > 0 {
			return "a list of `" + strings.Join(row.Enum, "`, `") + "`"
		}
		return "a list of strings"
	case Permissions:
		return "an object: tool to `allow`, `ask` or `deny`"
	default:
		return shapes[row.Type].kind
	}
}
