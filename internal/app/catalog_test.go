package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// listed is the names of a list of tools.
func (r *rig) listed(arg object) []string {
	r.t.Helper()
	type entry struct {
		Name     string
		Function struct{ Name string }
	}
	var names []string
	for _, e := range command[struct{ Tools []entry }](r, "sidecar.tools.list", arg).Tools {
		names = append(names, e.Name+e.Function.Name)
	}
	if !slices.IsSorted(names) {
		r.t.Errorf("%v: not sorted: %v", arg, names)
	}
	return names
}

// A model begins with a few tools, finds the others by search or calls them at
// once, and then has them in its list.
func TestToolsAreFound(t *testing.T) {
	home(t)
	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar.Events = true
	r := connect(t, project(t, map[string]string{"a.txt": "one\n", ".sidecar/settings.json": `{"toolPermissions":{"web_fetch":"deny"}}`}),
		fakeeditor.Options{Capabilities: caps})
	all := r.listed(nil)
	for _, format := range []tools.Format{tools.FormatMCP, tools.FormatOpenAI, tools.FormatAnthropic} {
		short := r.listed(object{"format": format})
		if len(short) >= len(all) || slices.Contains(short, "git_log") || !slices.Contains(short, "tool_search") || !slices.Contains(short, "read_file") {
			t.Errorf("%s: %v", format, short)
		}
		if full := r.listed(object{"format": format, "registry": "full"}); len(full) != len(all)-1 || slices.Contains(full, "web_fetch") {
			t.Errorf("%s, full: %v, want all but web_fetch of %v", format, full, all)
		}
	}
	var text struct{ Text string }
	if text = command[struct{ Text string }](r, "sidecar.tools.list", object{"format": "text"}); strings.Contains(text.Text, "git_log") || !strings.Contains(text.Text, "tool_search") {
		t.Errorf("text: %s", text.Text)
	}

	command[object](r, "sidecar.session.open", object{"id": "lazy", "registry": "lazy"})
	if got := r.listed(object{"session": "lazy"}); slices.Contains(got, "git_log") {
		t.Errorf("a lazy session begins with %v", got)
	}
	found := r.in("lazy", "tool_search", object{"query": "history of commits"})
	if !found.OK || !strings.Contains(found.Content, "git_log: ") {
		t.Fatalf("%+v", found)
	}
	if got := r.listed(object{"session": "lazy"}); slices.Contains(got, "git_log") {
		t.Error("a search activated what it found")
	}
	if res := r.in("lazy", "tool_search", object{"name": "git_log"}); !res.OK || !strings.Contains(res.Content, `"properties"`) {
		t.Errorf("%+v", res)
	}
	if res := r.in("lazy", "command_list", object{}); !res.OK {
		t.Errorf("a call of a tool that is not listed: %+v", res)
	}
	if got := r.listed(object{"session": "lazy"}); !slices.Contains(got, "git_log") || !slices.Contains(got, "command_list") {
		t.Errorf("after activation: %v", got)
	}
	if got := r.listed(object{"format": "anthropic"}); slices.Contains(got, "git_log") {
		t.Error("another session's tool is in the default session's list")
	}
	if err := r.Await(t.Context(), "two events", func(rec *fakeeditor.Record) bool {
		n := 0
		for _, m := range rec.Notifications {
			var e struct{ Type, Session string }
			if m.Method == "sidecar/event" && json.Unmarshal(m.Params, &e) == nil && e.Type == "toolsChanged" && e.Session == "lazy" {
				n++
			}
		}
		return n == 2
	}); err != nil {
		t.Error(err)
	}

	for name, code := range map[string]tools.Code{"web_fetch": tools.Denied, "git_logs": tools.UnknownTool} {
		if res := r.in("lazy", "tool_search", object{"name": name}); res.Error.Code != code {
			t.Errorf("%q: %+v", name, res)
		}
	}
	// What a narrower session may not call it can't get either.
	command[object](r, "sidecar.session.open", object{"id": "child", "registry": "lazy", "allow": []string{"read_file", "git_log", "tool_search"}})
	if res := r.in("child", "tool_search", object{"names": []string{"git_log"}}); !res.OK {
		t.Errorf("%+v", res)
	}
	if res := r.in("child", "tool_search", object{"name": "git_push"}); res.Error.Code != tools.Denied {
		t.Errorf("%+v", res)
	}
	if res := r.in("child", "git_push", object{}); res.Error.Code != tools.Denied {
		t.Errorf("%+v", res)
	}
	if got := r.listed(object{"session": "child"}); !slices.Equal(got, []string{"git_log", "read_file", "tool_search"}) {
		t.Errorf("the child has %v", got)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.tools.list", object{"registry": "some"}, nil); err == nil || !strings.Contains(err.Error(), "registry") {
		t.Errorf("%v", err)
	}
}

// TestExamplesWork: the examples of the tools over files do something, in a
// project that has what they name.
func TestExamplesWork(t *testing.T) {
	home(t)
	main := "package main\n\nvar limit = 10\n"
	for _, name := range []string{"read_file", "edit_file", "apply_patch", "write_file", "delete_file", "move_file", "list_directory", "search_files", "grep"} {
		dir := project(t, map[string]string{"main.go": main, "src/limit.go": "package src\n\nfunc Limit() {}\n", "src/limit_test.go": "package src\n", "src/old.go": "package src\n"})
		r := connect(t, dir, fakeeditor.Options{})
		r.mode("autonomous")
		list := command[struct{ Text string }](r, "sidecar.tools.list", object{"format": "text"})
		_, text, ok := strings.Cut(list.Text, tools.TextCallOpen+`{"name": "`+name+`", "arguments": `)
		text, _, _ = strings.Cut(text, "}"+tools.TextCallClose)
		var args object
		if err := json.Unmarshal([]byte(text), &args); !ok || err != nil {
			t.Fatalf("%s: %q, %v", name, text, err)
		}
		if res := r.call(name, args); !res.OK || strings.Contains(res.Content, "No ") {
			t.Errorf("%s %s: %s", name, text, res.Content)
		}
		if got := r.file("main.go"); (got == main) == (name == "edit_file" || name == "apply_patch") {
			t.Errorf("%s: the file has %q", name, got)
		}
	}
}

// TestSchemaFollowsWrongArguments: a model that calls a tool which is not in its
// list is told the arguments when it had them wrong, and only then: any other
// failure would come again with them.
func TestSchemaFollowsWrongArguments(t *testing.T) {
	home(t)
	r := connect(t, project(t, map[string]string{"a.txt": "one\n", ".env": "TOKEN=x\n", ".git/config": "[core]\n"}), fakeeditor.Options{})
	const marked = "The arguments of "
	for _, c := range []struct {
		tool string
		args object
		code tools.Code // "" for none
		told bool
	}{
		{"append_file", object{"path": "a.txt"}, tools.InvalidArguments, true},
		{"append_file", object{"path": "a.txt", "content": "x", "mode": "w"}, tools.InvalidArguments, true},
		{"append_file", object{"path": "a.txt", "content": 1}, tools.InvalidArguments, true},
		{"diff_text", object{"a": "x"}, tools.InvalidArguments, true}, // which no schema says
		{"append_file", object{"path": ".git/config", "content": "x"}, tools.ProtectedPath, false},
		{"diff_text", object{"paths": []string{"none.txt", "a.txt"}}, tools.NotFound, false},
		{"diff_text", object{"paths": []string{".env", "a.txt"}}, tools.SensitivePath, false},
		{"diff_text", object{"paths": []string{"../a.txt", "a.txt"}}, tools.OutsideWorkspace, false},
		{"diff_text", object{"paths": []string{"a.txt", "a.txt"}}, "", false},
		{"read_file", object{"paht": "a.txt"}, tools.InvalidArguments, false}, // it is in the list
	} {
		session := command[struct{ Session string }](r, "sidecar.session.open", object{"registry": "lazy", "mode": "autonomous"}).Session
		res := r.in(session, c.tool, c.args)
		if told := strings.Contains(res.Content, marked+c.tool); res.Error.Code != c.code || told != c.told {
			t.Errorf("%s %v: %s, schema %v\n%s", c.tool, c.args, res.Error.Code, told, res.Content)
		}
	}
}
