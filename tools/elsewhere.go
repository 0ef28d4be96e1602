package tools

// elsewhere are names that other agents' tools have, folded, and the tool here
// that does what they do. Its arguments have other names, so such a call is
// answered, not repaired.
var elsewhere = func() map[string]string {
	names := map[string]string{}
	for tool, others := range map[string][]string{
		"run_command":              {"bash", "shell", "sh", "exec", "exec_command", "local_shell", "run_shell_command", "execute_command", "run_terminal_cmd", "run_in_terminal", "terminal", "powershell"},
		"command_output":           {"bash_output", "get_terminal_output", "write_stdin"},
		"command_kill":             {"kill_shell", "kill_bash"},
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
	} {
		for _, name := range others {
			names[fold(name)] = tool
		}
	}
	return names
}()
