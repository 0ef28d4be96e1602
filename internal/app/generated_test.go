package app

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/agents"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
	"github.com/sidecar-ls/sidecar-ls/tools/git"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
	"github.com/sidecar-ls/sidecar-ls/tools/web"
)

// anyBackend has every profile.
type anyBackend struct{ system.Backends }

func (anyBackend) Backend(name string) (system.Backend, error) {
	return system.Backend{Profile: name}, nil
}

func (anyBackend) Active() string { return "" }

// all is the whole list of tools, as a registry gives it.
func all(t *testing.T) []*tools.Tool {
	t.Helper()
	reg := tools.NewRegistry(tools.RegistryOptions{})
	if err := reg.Register(tools.Builtin, builtins(editor.Deps{Servers: langserver.New(langserver.Options{})}, system.Deps{Backends: anyBackend{}}, indexing.Symbols{}, git.Deps{}, nil, shell.Deps{}, nil, web.Deps{}, agents.Deps{})...); err != nil {
		t.Fatal(err)
	}
	list, _ := reg.List(tools.Filter{})
	return list
}

// TestSnapshot keeps what models are told of every tool: a change of it must
// be seen in review.
func TestSnapshot(t *testing.T) {
	tooltest.Definitions(t, "testdata/tools", all(t))
	tooltest.Rules(t, all(t))
}

// TestCost keeps the list of tools that a model begins with cheap: it is paid
// for on every turn.
func TestCost(t *testing.T) {
	const most = 4000
	core := slices.DeleteFunc(all(t), func(tool *tools.Tool) bool { return !tool.Core })
	if n := tools.Cost(core); n > most {
		t.Errorf("the tools that are always listed cost %d tokens, want at most %d", n, most)
	} else {
		t.Logf("%d of %d tools are always listed and cost %d tokens (at most %d); all would cost %d", len(core), len(all(t)), n, most, tools.Cost(all(t)))
	}
}

// TestExamplesAreCalls: each example that a model is shown is a call that the tool
// takes as it is.
func TestExamplesAreCalls(t *testing.T) {
	byName := map[string]*tools.Tool{}
	for _, tool := range all(t) {
		byName[tool.Name] = tool
		if tool.Example == "" {
			t.Errorf("%s has no example", tool.Name)
		}
	}
	calls := 0
	for line := range strings.Lines(tools.Text(all(t))) {
		text, ok := strings.CutPrefix(line, "Example: "+tools.TextCallOpen)
		if !ok {
			continue
		}
		var call struct {
			Name      string
			Arguments json.RawMessage
		}
		if err := json.Unmarshal([]byte(strings.TrimSuffix(text, tools.TextCallClose+"\n")), &call); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		calls++
		if bound, err := byName[call.Name].Bind(call.Arguments); err != nil {
			t.Errorf("%s%v", line, err)
		} else if len(bound.Repairs) > 0 {
			t.Errorf("%s%q", line, bound.Repairs)
		}
	}
	if calls != len(byName) {
		t.Errorf("%d examples for %d tools", calls, len(byName))
	}
	if _, err := byName["write_file"].Bind(json.RawMessage(`{"path": "path"}`)); err == nil {
		t.Error("control: a file without a content is taken")
	}
}

// TestNamesOfOthers: a model that knows a tool by the name that it has in another
// agent is told which one does that, with a call that works.
func TestNamesOfOthers(t *testing.T) {
	reg := tools.NewRegistry(tools.RegistryOptions{})
	if err := reg.Register(tools.Builtin, all(t)...); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"bash": "run_command", "Bash": "run_command", "exec_command": "run_command", "BashOutput": "command_output", "KillShell": "command_kill", "Monitor": "command_watch",
		"str_replace": "edit_file", "Edit": "edit_file", "MultiEdit": "edit_file", "Write": "write_file", "create_file": "write_file", "Read": "read_file", "functions.view": "read_file",
		"Glob": "search_files", "LS": "list_directory", "rg": "grep", "codebase_search": "project_knowledge_search", "apply_diff": "apply_patch", "rm": "delete_file", "mv": "move_file",
		"AskUserQuestion": "ask_user", "read_lints": "get_diagnostics", "run-test": "run_tests", "lint": "run_lint", "list_code_usages": "find_references", "WebFetch": "web_fetch", "google_web_search": "web_search",
		"Task": "spawn_agent", "TodoWrite": "write_todos", "update_plan": "write_todos", "ExitPlanMode": "propose_plan", "shell": "run_command", "todo_write": "write_todos",
	} {
		tool, _, ok := reg.Lookup(want)
		if !ok {
			t.Fatalf("there is no %s", want)
		}
		if got, repaired, ok := reg.Lookup(name); ok && got != tool || ok && repaired == "" {
			t.Errorf("%s is taken for %s", name, got.Name)
		} else if !ok && !strings.Contains(reg.Unknown(name).Message, want+" does that, for example "+tool.Example) {
			t.Errorf("%s: %s", name, reg.Unknown(name).Message)
		}
	}
	if e := reg.Unknown("make_coffee"); strings.Contains(e.Message, "does that") {
		t.Errorf("control: %s", e.Message)
	}
}

func TestGeneratedToolsPage(t *testing.T) {
	const page = "../../docs/tools.md"
	want := tooltest.Page(all(t))
	if tooltest.Update() {
		if err := ownfile.Update(page, []byte(want)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is stale (%v); run make generate", page, err)
	}
}
