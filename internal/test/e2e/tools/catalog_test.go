package tools_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// A model begins with a few tools, finds the others by search or calls them at
// once, and then has them in its list.
func TestToolsAreFound(t *testing.T) {
	e2e.Home(t)
	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar.Events = true
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "one\n", ".sidecar/settings.json": `{"toolPermissions":{"web_fetch":"deny"}}`}),
		fakeeditor.Options{Capabilities: caps})
	all := slices.DeleteFunc(r.Listed(nil), func(name string) bool { // there is no model to drive sub-agents
		return strings.Contains(name, "agent") || name == "best_of" || name == "delegate_task"
	})
	for _, format := range []tools.Format{tools.FormatMCP, tools.FormatOpenAI, tools.FormatAnthropic} {
		short := r.Listed(e2e.Object{"format": format})
		if len(short) >= len(all) || slices.Contains(short, "git_log") || !slices.Contains(short, "tool_search") || !slices.Contains(short, "read_file") {
			t.Errorf("%s: %v", format, short)
		}
		if full := r.Listed(e2e.Object{"format": format, "registry": "full"}); len(full) != len(all)-1 || slices.Contains(full, "web_fetch") {
			t.Errorf("%s, full: %v, want all but web_fetch of %v", format, full, all)
		}
	}
	var text struct{ Text string }
	if text = e2e.Command[struct{ Text string }](r, "sidecar.tools.list", e2e.Object{"format": "text"}); strings.Contains(text.Text, "git_log") || !strings.Contains(text.Text, "tool_search") {
		t.Errorf("text: %s", text.Text)
	}

	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "lazy", "registry": "lazy"})
	if got := r.Listed(e2e.Object{"session": "lazy"}); slices.Contains(got, "git_log") {
		t.Errorf("a lazy session begins with %v", got)
	}
	found := r.In("lazy", "tool_search", e2e.Object{"query": "history of commits"})
	if !found.OK || !strings.Contains(found.Content, "git_log: ") {
		t.Fatalf("%+v", found)
	}
	if got := r.Listed(e2e.Object{"session": "lazy"}); slices.Contains(got, "git_log") {
		t.Error("a search activated what it found")
	}
	if res := r.In("lazy", "tool_search", e2e.Object{"name": "git_log"}); !res.OK || !strings.Contains(res.Content, `"properties"`) {
		t.Errorf("%+v", res)
	}
	if res := r.In("lazy", "command_list", e2e.Object{}); !res.OK {
		t.Errorf("a call of a tool that is not listed: %+v", res)
	}
	if got := r.Listed(e2e.Object{"session": "lazy"}); !slices.Contains(got, "git_log") || !slices.Contains(got, "command_list") {
		t.Errorf("after activation: %v", got)
	}
	if got := r.Listed(e2e.Object{"format": "anthropic"}); slices.Contains(got, "git_log") {
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
		if res := r.In("lazy", "tool_search", e2e.Object{"name": name}); res.Error.Code != code {
			t.Errorf("%q: %+v", name, res)
		}
	}
	// What a narrower session may not call it can't get either.
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "child", "registry": "lazy", "allow": []string{"read_file", "git_log", "tool_search"}})
	if res := r.In("child", "tool_search", e2e.Object{"names": []string{"git_log"}}); !res.OK {
		t.Errorf("%+v", res)
	}
	if res := r.In("child", "tool_search", e2e.Object{"name": "git_push"}); res.Error.Code != tools.Denied {
		t.Errorf("%+v", res)
	}
	if res := r.In("child", "git_push", e2e.Object{}); res.Error.Code != tools.Denied {
		t.Errorf("%+v", res)
	}
	if got := r.Listed(e2e.Object{"session": "child"}); !slices.Equal(got, []string{"git_log", "read_file", "tool_search"}) {
		t.Errorf("the child has %v", got)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.tools.list", e2e.Object{"registry": "some"}, nil); err == nil || !strings.Contains(err.Error(), "registry") {
		t.Errorf("%v", err)
	}
}

// TestExamplesWork: the examples of the tools over files do something, in a
// project that has what they name.
func TestExamplesWork(t *testing.T) {
	e2e.Home(t)
	main := "package main\n\nvar limit = 10\n"
	for _, name := range []string{"read_file", "edit_file", "apply_patch", "write_file", "delete_file", "move_file", "list_directory", "search_files", "grep"} {
		dir := e2e.Project(t, map[string]string{"main.go": main, "src/limit.go": "package src\n\nfunc Limit() {}\n", "src/limit_test.go": "package src\n", "src/old.go": "package src\n"})
		r := e2e.Connect(t, dir, fakeeditor.Options{})
		r.Mode("autonomous")
		list := e2e.Command[struct{ Text string }](r, "sidecar.tools.list", e2e.Object{"format": "text"})
		_, text, ok := strings.Cut(list.Text, tools.TextCallOpen+`{"name": "`+name+`", "arguments": `)
		text, _, _ = strings.Cut(text, "}"+tools.TextCallClose)
		var args e2e.Object
		if err := json.Unmarshal([]byte(text), &args); !ok || err != nil {
			t.Fatalf("%s: %q, %v", name, text, err)
		}
		if res := r.Tool(name, args); !res.OK || strings.Contains(res.Content, "No ") {
			t.Errorf("%s %s: %s", name, text, res.Content)
		}
		if got := r.File("main.go"); (got == main) == (name == "edit_file" || name == "apply_patch") {
			t.Errorf("%s: the file has %q", name, got)
		}
	}
}

// TestSchemaFollowsWrongArguments: a model that calls a tool which is not in its
// list is told the arguments when it had them wrong, and only then: any other
// failure would come again with them.
func TestSchemaFollowsWrongArguments(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "one\n", ".env": "TOKEN=x\n", ".git/config": "[core]\n"}), fakeeditor.Options{})
	const marked = "The arguments of "
	for _, c := range []struct {
		tool string
		args e2e.Object
		code tools.Code // "" for none
		told bool
	}{
		{"append_file", e2e.Object{"path": "a.txt"}, tools.InvalidArguments, true},
		{"append_file", e2e.Object{"path": "a.txt", "content": "x", "mode": "w"}, tools.InvalidArguments, true},
		{"append_file", e2e.Object{"path": "a.txt", "content": 1}, tools.InvalidArguments, true},
		{"diff_text", e2e.Object{"a": "x"}, tools.InvalidArguments, true}, // which no schema says
		{"append_file", e2e.Object{"path": ".git/config", "content": "x"}, tools.ProtectedPath, false},
		{"diff_text", e2e.Object{"paths": []string{"none.txt", "a.txt"}}, tools.NotFound, false},
		{"diff_text", e2e.Object{"paths": []string{".env", "a.txt"}}, tools.SensitivePath, false},
		{"diff_text", e2e.Object{"paths": []string{"../a.txt", "a.txt"}}, tools.OutsideWorkspace, false},
		{"diff_text", e2e.Object{"paths": []string{"a.txt", "a.txt"}}, "", false},
		{"read_file", e2e.Object{"paht": "a.txt"}, tools.InvalidArguments, false}, // it is in the list
	} {
		session := e2e.Command[struct{ Session string }](r, "sidecar.session.open", e2e.Object{"registry": "lazy", "mode": "autonomous"}).Session
		res := r.In(session, c.tool, c.args)
		if told := strings.Contains(res.Content, marked+c.tool); res.Error.Code != c.code || told != c.told {
			t.Errorf("%s %v: %s, schema %v\n%s", c.tool, c.args, res.Error.Code, told, res.Content)
		}
	}
}
