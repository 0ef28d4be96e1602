package tools_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// strictOf reports whether read_file, in any format, has a schema that needs all
// arguments and takes null for those that may be left out.
func strictOf(t *testing.T, data []byte) bool {
	t.Helper()
	type schema struct {
		Properties map[string]struct{ Type any }
		Required   []string
	}
	var list struct {
		Tools []struct {
			Name         string
			Function     struct{ Name string }
			InputSchema  *schema `json:"inputSchema"`
			InputSchema2 *schema `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	var openai struct {
		Tools []struct {
			Function struct {
				Name       string
				Strict     bool
				Parameters *schema
			}
		}
	}
	if err := json.Unmarshal(data, &openai); err != nil {
		t.Fatal(err)
	}
	for i, tool := range list.Tools {
		s := tool.InputSchema
		if s == nil {
			s = tool.InputSchema2
		}
		if f := openai.Tools[i].Function; f.Parameters != nil {
			s = f.Parameters
			if f.Name == "read_file" && f.Strict != (len(s.Required) == len(s.Properties)) {
				t.Errorf("strict is %v, and %d of %d arguments are required", f.Strict, len(s.Required), len(s.Properties))
			}
		}
		if tool.Name != "read_file" && tool.Function.Name != "read_file" {
			continue
		}
		_, null := s.Properties["offset"].Type.([]any)
		if all := len(s.Required) == len(s.Properties); all != null {
			t.Errorf("half strict: %+v", s)
		}
		return null
	}
	t.Fatalf("read_file is not there: %s", data)
	return false
}

// TestStrict: whoever lists tools says whether schemas are strict, in each way that
// models get them; calls are taken either way.
func TestStrict(t *testing.T) {
	for name, c := range map[string]struct{ asked *bool }{
		"by default": {nil}, "asked for": {new(true)}, "not wanted": {new(false)},
	} {
		t.Run(name, func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"mode": "autonomous"})
			want := c.asked != nil && *c.asked
			var flags []string
			if c.asked != nil {
				flags = []string{"--strict=" + strconv.FormatBool(want)}
			}
			dir := e2e.Project(t, map[string]string{"a.txt": "one\ntwo\n"})
			alone := e2e.Project(t, map[string]string{"a.txt": "one\ntwo\n"})
			r := e2e.Connect(t, dir, fakeeditor.Options{})
			for _, format := range []tools.Format{tools.FormatOpenAI, tools.FormatAnthropic, tools.FormatMCP} {
				arg := e2e.Object{"format": format}
				args := append([]string{"tools", "--root", dir, "--format", string(format)}, flags...)
				if c.asked != nil {
					arg["strict"] = want
				}
				if got := strictOf(t, e2e.Command[json.RawMessage](r, "sidecar.tools.list", arg)); got != want {
					t.Errorf("sidecar.tools.list, %s: strict %v", format, got)
				}
				out, stderr, code := e2e.RunCLI(t, "", args...)
				if code != 0 {
					t.Fatal(stderr)
				}
				if got := strictOf(t, []byte(out)); got != want {
					t.Errorf("%s: strict %v", strings.Join(args, " "), got)
				}
			}
			if strictOf(t, e2e.Command[json.RawMessage](r, "sidecar.tools.list", e2e.Object{"format": "info"})) {
				t.Error("people are shown strict schemas")
			}
			if res := r.Tool("read_file", e2e.Object{"path": "a.txt", "offset": 2, "limit": nil, "tail": nil, "mode": nil}); !res.OK || res.Content != "two\n" {
				t.Errorf("%+v", res)
			}
			if res := r.Tool("read_file", e2e.Object{"path": nil}); res.Error.Code != tools.InvalidArguments {
				t.Errorf("null for what is required: %+v", res)
			}

			for of, dir := range map[string]string{"through the editor's server": dir, "alone": alone} {
				a := e2e.NewAgent(t, dir, e2e.MCPVersions[0], nil, flags...)
				list, _ := a.List()
				data, err := json.Marshal(e2e.Object{"tools": list})
				if err != nil {
					t.Fatal(err)
				}
				if got := strictOf(t, data); got != want {
					t.Errorf("over MCP, %s: strict %v", of, got)
				}
				if text, ok := a.Call("read_file", e2e.Object{"path": "a.txt", "offset": 2, "limit": nil, "tail": nil, "mode": nil}); !ok || text != "two\n" {
					t.Errorf("over MCP, %s: %s", of, text)
				}
			}
		})
	}
}

// TestBudgetSetting: every session that names no budget has that of the settings.
func TestBudgetSetting(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	r := e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"budget": e2e.Object{"calls": 2}}}})
	for id, budget := range map[string]e2e.Object{"names-none": nil, "names-calls": {"calls": 3}, "names-tokens": {"tokens": 100_000}, "has-none": {"calls": 0}} {
		arg := e2e.Object{"id": id}
		if budget != nil {
			arg["budget"] = budget
		}
		e2e.Command[e2e.Object](r, "sidecar.session.open", arg)
	}
	calls := func(session string) int {
		t.Helper()
		for n := range 10 {
			if res := r.In(session, "read_file", e2e.Object{"path": "a.txt"}); res.Error.Code == tools.BudgetExceeded {
				return n
			} else if !res.OK {
				t.Fatalf("%+v", res)
			}
		}
		return 10
	}
	for session, want := range map[string]int{"default": 2, "names-none": 2, "names-calls": 3, "names-tokens": 2, "has-none": 10} {
		if got := calls(session); got != want {
			t.Errorf("%s: %d calls, want %d", session, got, want)
		}
	}
	e2e.Command[e2e.Object](r, "sidecar.session.close", e2e.Object{"session": "default"})
	if got := calls("default"); got != 2 {
		t.Errorf("the default session again: %d calls", got)
	}

	e2e.Home(t)
	r = e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "one\n"}), fakeeditor.Options{})
	if got := calls("default"); got != 10 {
		t.Errorf("control: %d calls without a setting", got)
	}
}
