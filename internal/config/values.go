package config

import (
	"fmt"
	"strings"
)

// values says what the setting may be, in words.
func (row *Setting) values() string {
	switch row.Type {
	case String:
		if len(row.Enum) == 0 {
			return "a string"
		}
		s := "`" + strings.Join(row.Enum, "`, `") + "`"
		if row.Custom {
			s += ", or the name of a custom mode"
		}
		return s
	case Boolean:
		return "`true` or `false`"
	case Integer:
		return fmt.Sprintf("a whole number from %d to %d", row.Min, row.Max)
	case Strings:
		return "a list of strings"
	case Permissions:
		return "an object: tool to `allow`, `ask` or `deny`"
	case CustomModes:
		return "a list of modes: `name`; optional are `description`, `base` (`cautious`, `autonomous` or `manual`; also called `approvalBehavior`), " +
			"`destination` of edits (`editor` or `review`) and `toolPermissions`"
	case Backends:
		return "a list of profiles: `name` and `url`; optional are `provider` (`openai`, which others speak too, `anthropic` or `ollama`) and `model`. " +
			"The key is the first that there is of `keyEnv` (a variable of the server's environment), `key`, `keyFile` (a file of yours that nobody else may read: `chmod 600`) and `keyring` (`true`: the system's, service `sidecar-ls`, account the profile's name). " +
			"Over what is known of the model: `window` and `maxTokens` (tokens of a conversation and of an answer), `vision` (`true` or `false`: it sees images), `startSeconds` (how long it may take to begin an answer: if left out 90, or 1,800 for Ollama and for a server on this machine, which may load a model first and read a long conversation slowly), `effort` (`low`, `medium` or `high`), `calls` (`text` for a model that was not taught to call tools), " +
			"`wire` (`anthropic`, `chat` or `responses`, instead of what the provider speaks), `reasoning` (`reasoning_content` or `reasoning`: where a chat server has the model's reasoning; without it either counts) and `sendReasoning` (`true`: it gets that back)"
	case Agents:
		return "an object: name of the agent to an object with `program` (its name on PATH), `state` (directories of the home that it reads and writes), `copied` (files of the home of which it has copies), " +
			"`env` (names of variables that it gets), `network` (`true` or `false`), `acp` (arguments with which it speaks ACP), `acpVersion` (of that protocol: `1`) and `resume` (arguments to go on with its last conversation), all optional"
	case Hooks:
		return "an object: event to a list of groups, each with `matcher` (names of tools with `|` between them, or a regular expression over the whole name; empty is all) and `hooks`, a list of `type` (`command`), `command` (a line for the shell); " +
			"optional are `timeout` (seconds, 15 by default) and `failClosed` (`true`: what it could hold back is held back when it fails). Or `false`"
	case CustomTools:
		return "a list of tools: `name`, `description` and `command` (program and arguments; an argument that is `{field}` alone stands for that of the call, and is left out when the call has none); " +
			"optional are `input` (JSON schema of the arguments), `access` (`read` or `exec`, which is the default), `timeout` (seconds, 60 by default) and `env` (names of variables that it gets)"
	case LanguageServers:
		return serverWords()
	case MCPServers:
		return "an object: name of the server to an object with `command`, `args`, `env` and `cwd`, or `url` and `headers`; optional are `type` (`stdio` or `http`), `enabled`, `withoutTools`, names of tools that are left out, and `access`: `world` (the default), where what the program writes becomes edits of the session that called it, `read`, or `disk`, which writes past the review and counts in your own settings file alone. " +
			"`${env:NAME}`, `${NAME}` and `${workspaceFolder}` stand for values of the environment and the workspace"
	default:
		return "a list of rules: `prefix` (the first words of the command), `decision` (`allow`, `ask` or `deny`); optional are the examples `match` and `notMatch`"
	}
}
