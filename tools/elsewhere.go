package tools

import "slices"

// elsewhere are names that other agents' tools have, folded, and the tool here
// that does what they do. Its arguments have other names, so such a call is
// answered, not repaired.
var elsewhere = func() map[string]string {
	names := map[string]string{}
	for tool, others := range map[string][]string{
		"run_command":              {"bash", "shell", "sh", "exec", "exec_command", "local_shell", "run_shell_command", "execute_command", "run_terminal_cmd", "run_in_terminal", "terminal", "powershell"},
		"command_output":           {"bash_output", "get_terminal_output", "write_stdin"},
		"command_kill":             {"kill_shell", "kill_bash"},
		"command_watch":            {"monitor", "watch_command"},
		"edit_file":                {"edit", "multi_edit", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace", "replace_in_file", "replace_string_in_file", "search_replace", "insert_edit_into_file", "insert"},
		"write_file":               {"write", "create", "create_file", "write_to_file", "save_file", "notebook_edit"},
		"read_file":                {"read", "view", "cat", "open_file", "view_file", "read_many_files", "open"},
		"search_files":             {"glob", "find", "find_files", "file_search", "find_path", "glob_file_search"},
		"list_directory":           {"ls", "list", "list_dir", "list_files", "dir"},
		"grep":                     {"rg", "ripgrep", "grep_search", "search_file_content", "search", "text_search", "search_in_files"},
		"project_knowledge_search": {"codebase_search", "code_search", "semantic_search"},
		"apply_patch":              {"patch", "apply_diff"},
		"delete_file":              {"rm", "remove", "remove_file", "unlink"},
		"move_file":                {"mv", "rename", "rename_file"},
		"ask_user":                 {"ask_user_question", "ask_followup_question", "ask"},
		"get_diagnostics":          {"diagnostics", "read_lints", "get_errors"},
		"run_lint":                 {"lint", "linter", "run_linter"},
		"run_tests":                {"test", "run_test", "tests"},
		"find_references":          {"references", "list_code_usages", "find_usages"},
		"web_fetch":                {"fetch", "fetch_url", "read_url", "fetch_webpage"},
		"web_search":               {"google_web_search", "search_web"},
		"spawn_agent":              {"task", "agent", "dispatch_agent", "new_task", "subagent", "launch_agent"},
		"write_todos":              {"todo_write", "todo", "todos", "update_plan", "update_todos", "update_todo_list", "manage_todo_list"},
		"propose_plan":             {"exit_plan_mode", "plan_mode_respond", "present_plan"},
		"skill":                    {"use_skill", "load_skill", "activate_skill"},
	} {
		for _, name := range others {
			names[fold(name)] = tool
		}
	}
	return names
}()

// other is an argument of ours that stands for one of another agent's tool, and means the
// same.
type other struct {
	ours   string
	values map[string]string // by their value, ours, as JSON; "": leave it out; nil: the same
}

// otherArgs is the argument of our tool that another agent's calls so; none: "".
func otherArgs(tool, name string) other {
	if tool == "edit_file" && fold(name) == "replaceall" {
		return other{"occurrence", map[string]string{"true": `"all"`, "false": ""}}
	}
	for ours, theirs := range sameArgs[tool] {
		if slices.Contains(theirs, fold(name)) {
			return other{ours: ours}
		}
	}
	return other{}
}

var paths = []string{"filepath", "absolutepath", "targetfile", "file", "filename"}

var sameArgs = map[string]map[string][]string{
	"run_command":    {"command": {"cmd", "commandline", "script"}, "cwd": {"workdir", "workingdirectory", "directory"}, "background": {"runinbackground", "isbackground"}},
	"read_file":      {"path": paths},
	"write_file":     {"path": paths, "content": {"contents", "filetext", "text"}},
	"append_file":    {"path": paths, "content": {"contents", "text"}},
	"delete_file":    {"path": paths},
	"edit_file":      {"path": paths, "search": {"oldstring", "oldstr", "oldtext"}, "replace": {"newstring", "newstr", "newtext"}},
	"move_file":      {"from": {"source", "sourcepath", "oldpath", "src"}, "to": {"destination", "destinationpath", "newpath", "dst"}},
	"apply_patch":    {"patch": {"input", "diff", "patchtext"}},
	"list_directory": {"path": {"dir", "directory", "dirpath", "directorypath", "relativeworkspacepath"}},
	"search_files":   {"pattern": {"glob", "globpattern"}},
	"grep":           {"pattern": {"regex", "query"}, "include": {"glob", "includepattern"}},
	"diff_text":      {"a": {"old", "before"}, "b": {"new", "after"}},
	"web_search":     {"query": {"searchterm", "q"}},
	"web_fetch":      {"url": {"uri"}},
	"spawn_agent":    {"task": {"prompt"}},
	"claim_complete": {"rationale": {"summary", "evidence", "reason", "result"}},
	"write_todos":    {"text": {"content"}, "state": {"status"}},
	"skill":          {"name": {"skill", "skillname"}},
	"ask_user":       {"question": {"prompt"}},
}
