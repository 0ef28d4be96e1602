package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// alias is a tool of ours by the name, and with the arguments, that hooks know.
type alias struct {
	ours, theirs string
	members      [][2]string // ours, theirs; others have the same name
	path         string      // of ours, a path: theirs is absolute
	millis       string      // of ours, seconds: theirs are milliseconds
}

// aliases are the tools that Claude Code has, too. Where two of ours are one of
// theirs, an edit in many places keeps our shape.
func aliases() []alias {
	return []alias{
		{"read_file", "Read", [][2]string{{"path", "file_path"}}, "path", ""},
		{"write_file", "Write", [][2]string{{"path", "file_path"}}, "path", ""},
		{"edit_file", "Edit", [][2]string{{"path", "file_path"}, {"search", "old_string"}, {"replace", "new_string"}}, "path", ""},
		{"run_command", "Bash", [][2]string{{"timeout_s", "timeout"}, {"background", "run_in_background"}}, "", "timeout_s"},
		{"grep", "Grep", [][2]string{{"include", "glob"}}, "", ""},
		{"search_files", "Glob", nil, "", ""},
		{"web_fetch", "WebFetch", nil, "", ""},
		{"web_search", "WebSearch", nil, "", ""},
		{"spawn_agent", "Task", [][2]string{{"task", "prompt"}, {"agent", "subagent_type"}}, "", ""},
		{"write_todos", "TodoWrite", nil, "", ""},
		{"skill", "Skill", [][2]string{{"name", "skill"}}, "", ""},
		{"ask_user", "AskUserQuestion", nil, "", ""},
	}
}

// aliasOf finds the alias of a tool of ours; ok is false where there is none.
func aliasOf(tool string) (alias, bool) {
	for _, a := range aliases() {
		if a.ours == tool {
			return a, true
		}
	}
	return alias{}, false
}

// Names are what a matcher may call a tool: as hooks know it, and ours. server and
// name are those of a tool of an MCP server.
func Names(tool, server, name string) (theirs string, all []string) {
	theirs = tool
	if server != "" {
		theirs = "mcp__" + server + "__" + name
	} else if a, ok := aliasOf(tool); ok {
		theirs = a.theirs
	}
	if theirs == tool {
		return theirs, []string{tool}
	}
	all = []string{theirs, tool}
	if tool == "edit_file" {
		all = append(all, "MultiEdit")
	}
	return theirs, all
}

// Theirs are the arguments of a call of our tool as hooks know them; abs makes a
// path absolute.
func Theirs(tool string, abs func(name string) string, args json.RawMessage) json.RawMessage {
	a, ok := aliasOf(tool)
	if !ok {
		return args
	}
	out, err := a.rename(args, 0, func(name string, value json.RawMessage) (json.RawMessage, error) {
		switch name {
		case a.path:
			return mapText(value, abs), nil
		case a.millis:
			return scaled(value, 1000)
		}
		return value, nil
	})
	if err != nil {
		return args // it stays readable for whoever knows ours
	}
	return out
}

// Ours are the arguments of our tool that a hook gave by the names that it knows.
func Ours(tool string, args json.RawMessage) (json.RawMessage, error) {
	a, ok := aliasOf(tool)
	if !ok {
		return args, nil
	}
	return a.rename(args, 1, func(name string, value json.RawMessage) (json.RawMessage, error) {
		if name == a.millis {
			return scaled(value, 0.001)
		}
		return value, nil
	})
}

// rename gives the members of an object the names of the other side: from is 0 for
// ours. value gets each by our name.
func (a alias) rename(args json.RawMessage, from int, value func(name string, v json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil {
		return nil, fmt.Errorf("the input must be an object: %w", err)
	}
	out := make(map[string]json.RawMessage, len(object))
	for name, v := range object {
		pair := [2]string{name, name}
		for _, m := range a.members {
			if m[from] == name {
				pair = m
			}
		}
		var err error
		if out[pair[1-from]], err = value(pair[0], v); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

func mapText(v json.RawMessage, f func(string) string) json.RawMessage {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return v
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(f(s)) != nil {
		return v
	}
	return json.RawMessage(strings.TrimSpace(b.String()))
}

func scaled(v json.RawMessage, by float64) (json.RawMessage, error) {
	var n float64
	if err := json.Unmarshal(v, &n); err != nil {
		return v, nil //nolint:nilerr // whoever binds it says what is wrong
	}
	n *= by
	if n != float64(int64(n)) {
		n = float64(int64(n) + 1) // whole seconds, never none
	}
	return json.Marshal(n)
}
