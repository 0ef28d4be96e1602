package agenthook

import (
	"encoding/json"
	"path/filepath"
	"slices"
)

// agent is a row of the table.
type agent struct {
	name, title string
	event       string   // before a tool is used
	ours        string   // what its model's names of our tools begin with
	asks        bool     // a hook can have it ask its own user
	place       string   // a variable that can name its own directory
	state       string   // that directory, in the home, where it does not
	notes       []string // below it, where it writes plans: nothing that an agent obeys
	tools       map[string]tool
	format      func(event string, v Verdict, args map[string]json.RawMessage) any
}

// tool is a tool of an agent's own.
type tool struct {
	does    kind
	member  string      // what it is about: a path, or a command line
	instead string      // the tool of ours to use
	as      string      // the tool of ours that does the same; "": there is none
	members [][2]string // its arguments that ours has, too: ours, theirs
}

type kind int

const (
	writes kind = iota
	reads
	searches
	runs
	other // is not decided on by a hook
)

// agents is the table. The names are those of Claude Code 2.1.330, Codex 0.169 and
// Gemini CLI 0.61.
func agents() []agent {
	read := func(member string) tool {
		return tool{reads, member, "read_file", "read_file", [][2]string{{"path", member}}}
	}
	search := func(member string) tool { return tool{searches, member, "grep", "", nil} }
	return []agent{
		{"claude", "Claude Code", "PreToolUse", "mcp__sidecar__", true, "CLAUDE_CONFIG_DIR", ".claude", []string{"plans"}, map[string]tool{
			"Edit":         {writes, "file_path", "edit_file", "edit_file", [][2]string{{"path", "file_path"}, {"search", "old_string"}, {"replace", "new_string"}}},
			"MultiEdit":    {writes, "file_path", "edit_file", "", nil},
			"Write":        {writes, "file_path", "write_file", "write_file", [][2]string{{"path", "file_path"}, {"content", "content"}}},
			"NotebookEdit": {writes, "notebook_path", "edit_file", "", nil},
			"Bash":         {runs, "command", "run_command", "run_command", [][2]string{{"command", "command"}}},
			"Read":         read("file_path"),
			"Grep":         search("path"),
			"WebFetch":     {other, "", "", "web_fetch", [][2]string{{"url", "url"}}},
		}, claudeFormat},
		{"codex", "Codex", "PreToolUse", "mcp__sidecar__", false, "CODEX_HOME", ".codex", nil, map[string]tool{
			"apply_patch": {writes, "", "apply_patch", "", nil},
			"Bash":        {runs, "command", "run_command", "run_command", [][2]string{{"command", "command"}}},
		}, claudeFormat},
		{"gemini", "Gemini CLI", "BeforeTool", "mcp_sidecar_", false, "", ".gemini", nil, map[string]tool{
			"replace":             {writes, "file_path", "edit_file", "", nil},
			"write_file":          {writes, "file_path", "write_file", "", nil},
			"run_shell_command":   {runs, "command", "run_command", "run_command", [][2]string{{"command", "command"}}},
			"read_file":           read("file_path"),
			"read_many_files":     {searches, "", "read_file", "", nil},
			"grep_search":         search("dir_path"),
			"search_file_content": search("dir_path"),
		}, geminiFormat},
	}
}

// dir is the agent's own directory.
func (a agent) dir(o Options) string {
	if a.place != "" && filepath.IsAbs(o.Getenv(a.place)) {
		return o.Getenv(a.place)
	}
	return filepath.Join(o.Home, a.state)
}

// Names are the agents whose hooks are answered.
func Names() (names []string) {
	for _, a := range agents() {
		names = append(names, a.name)
	}
	return names
}

func agentOf(name string) (agent, bool) {
	all := agents()
	i := slices.IndexFunc(all, func(a agent) bool { return a.name == name })
	if i < 0 {
		return agent{}, false
	}
	return all[i], true
}

// Tools are the tools of an agent that its hook is to be asked about, sorted.
func Tools(name string) (names []string) {
	a, _ := agentOf(name)
	for name, t := range a.tools {
		if t.does != other {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Like is the tool of ours that does what a tool of an agent's own does, with its
// arguments; "" is none.
func Like(name, own string, args json.RawMessage) (ours string, with json.RawMessage) {
	a, _ := agentOf(name)
	t, ok := a.tools[own]
	var members map[string]json.RawMessage
	if !ok || json.Unmarshal(args, &members) != nil {
		return "", nil
	}
	return t.ours(members)
}

// Title is an agent's name for people.
func Title(name string) string {
	a, _ := agentOf(name)
	return a.title
}

// ours are the tool of ours that does the same, and its arguments.
func (t tool) ours(args map[string]json.RawMessage) (string, json.RawMessage) {
	with := map[string]json.RawMessage{}
	for _, m := range t.members {
		if v := args[m[1]]; v != nil {
			with[m[0]] = v
		}
	}
	if t.as == "edit_file" && string(args["replace_all"]) == "true" {
		with["occurrence"] = json.RawMessage(`"all"`)
	}
	data, err := json.Marshal(with)
	if t.as == "" || len(with) == 0 || err != nil {
		return "", nil
	}
	return t.as, data
}

// claudeFormat is that of Claude Code, which Codex has taken over.
func claudeFormat(event string, v Verdict, args map[string]json.RawMessage) any {
	type specific struct {
		Event    string                     `json:"hookEventName"`
		Decision string                     `json:"permissionDecision"`
		Reason   string                     `json:"permissionDecisionReason,omitempty"`
		Input    map[string]json.RawMessage `json:"updatedInput,omitempty"`
	}
	return map[string]specific{"hookSpecificOutput": {event, v.Decision, v.Reason, args}}
}

// geminiFormat is that of Gemini CLI. It puts the arguments in the place of its own.
func geminiFormat(event string, v Verdict, args map[string]json.RawMessage) any {
	type specific struct {
		Event string                     `json:"hookEventName"`
		Input map[string]json.RawMessage `json:"tool_input,omitempty"`
	}
	return struct {
		Decision string    `json:"decision"`
		Reason   string    `json:"reason,omitempty"`
		Specific *specific `json:"hookSpecificOutput,omitempty"`
	}{v.Decision, v.Reason, func() *specific {
		if args == nil {
			return nil
		}
		return &specific{event, args}
	}()}
}
