package mcp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/mcpschema"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestQuirks: what one agent's program needs it gets, and the others what they
// always get, alone and attached.
func TestQuirks(t *testing.T) {
	schema, err := mcpschema.Load("2025-06-18")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		most     int
		metaless bool // errors have no _meta
	}{
		{"Some Agent", 16_000, false},
		{"codex-mcp-client", 10_000, false},
		{"gemini-cli-mcp-client", 16_000, true},
	} {
		for _, attached := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				e2e.Home(t)
				dir := e2e.Project(t, map[string]string{"long.txt": strings.Repeat("a line of some length\n", 5000)})
				if attached {
					e2e.Connect(t, dir, fakeeditor.Options{})
				}
				a := newRawAgent(t, schema, c.name, dir)
				text, ok := a.call("read_file", e2e.Object{"path": "long.txt"}, nil)
				for range 2 { // the result, then a page
					cursor := regexp.MustCompile(`cursor "([^"]+)"[^"]*$`).FindStringSubmatch(text)
					if !ok || cursor == nil || len(text) > c.most || len(text) < c.most/2 {
						t.Fatalf("%v, %d bytes, cursor %q at its end: %q", ok, len(text), cursor, text[len(text)-120:])
					}
					text, ok = a.call("read_result", e2e.Object{"cursor": cursor[1]}, nil)
				}
				if res := a.result("read_file", e2e.Object{"path": "long.txt"}, nil); res["_meta"] == nil {
					t.Error("a result has no _meta")
				}
				if res := a.result("read_file", e2e.Object{"path": "none.txt"}, nil); (res["_meta"] == nil) != c.metaless {
					t.Errorf("an error's _meta: %v", res["_meta"])
				}
			})
		}
	}
}

// TestAgentMode: whoever starts an agent may make its mode stricter, never
// looser, whatever the editor that it is attached to has; a person may.
func TestAgentMode(t *testing.T) {
	schema, err := mcpschema.Load("2025-11-25")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		user, editor, flag string
		held               bool // an edit is held for review, and not asked about
	}{
		"of the settings":              {"cautious", "", "", false},
		"stricter":                     {"cautious", "", "review", true},
		"the same":                     {"review", "", "review", true},
		"attached":                     {"cautious", "cautious", "review", true},
		"attached, without":            {"cautious", "cautious", "", false},
		"attached to something looser": {"autonomous", "autonomous", "review", true},
		"attached, which is stricter":  {"cautious", "manual", "review", false},
		"stricter than a custom one":   {"mine", "", "review", true},
	} {
		t.Run(name, func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"mode": c.user, "customModes": []e2e.Object{{"name": "mine", "base": "cautious"}}})
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
			var r *e2e.Rig
			if c.editor != "" {
				r = e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"mode": c.editor}}})
				r.Choose("Deny")
			}
			var args []string
			if c.flag != "" {
				args = []string{"--mode", c.flag}
			}
			a := newRawAgent(t, schema, "Raw", dir, args...)
			text, ok := a.call("edit_file", e2e.Object{"path": "a.txt", "search": "one", "replace": "two"}, e2e.Object{"action": "decline"})
			if ok != c.held || c.held != strings.Contains(text, "Held for review") {
				t.Errorf("%v %s", ok, text)
			}
			if r == nil || !c.held {
				return
			}
			if len(r.Pending().Edits) != 1 {
				t.Errorf("pending: %+v", r.Pending())
			}
			for _, s := range e2e.Command[struct {
				Sessions []struct{ Session, Mode string }
			}](r, "sidecar.session.list", e2e.Object{}).Sessions {
				if strings.HasPrefix(s.Session, "mcp-") {
					e2e.Command[e2e.Object](r, "sidecar.mode.set", e2e.Object{"session": s.Session, "mode": "autonomous"})
				}
			}
			if text, ok := a.call("write_file", e2e.Object{"path": "b.txt", "content": "x\n"}, nil); !ok || r.File("b.txt") != "x\n" {
				t.Errorf("the editor's user says autonomous: %v %s", ok, text)
			}
		})
	}
	for name, c := range map[string]struct{ user, flag, want string }{
		"looser":          {"", "autonomous", "not stricter than the mode cautious"},
		"looser than set": {"review", "cautious", "not stricter than the mode review"},
		"unknown":         {"", "reviews", `no mode "reviews"`},
		"custom":          {"mine", "autonomous", "not stricter than the mode mine"},
	} {
		t.Run(name, func(t *testing.T) {
			e2e.Home(t)
			settings := e2e.Object{"customModes": []e2e.Object{{"name": "mine", "base": "cautious"}}}
			if c.user != "" {
				settings["mode"] = c.user
			}
			e2e.UserSettings(t, settings)
			_, stderr, code := e2e.RunCLI(t, "", "mcp", "--root", e2e.Project(t, nil), "--mode", c.flag)
			if code != 2 || !strings.Contains(stderr, c.want) || c.flag != "reviews" && !strings.Contains(stderr, filepath.Join("sidecar", "settings.json")) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}

// TestAgentListed: an agent is shown the usual families of tools at once, as some call
// nothing else; tool_search and calls add others. Less and more is a matter of the user's settings.
func TestAgentListed(t *testing.T) {
	for _, version := range e2e.MCPVersions {
		for name, c := range map[string]struct {
			mode     string // of the registry
			can      bool   // the agent can ask
			editor   bool
			has, not []string
		}{
			"by default":      {"", true, false, []string{"read_file", "git_log", "ask_user", "tool_search"}, []string{"system_monitor"}},
			"in full":         {"full", true, false, []string{"read_file", "git_log", "system_monitor"}, []string{"tool_search"}},
			"lazily":          {"lazy", true, false, []string{"read_file", "tool_search"}, []string{"git_log"}},
			"nobody to ask":   {"", false, false, []string{"read_file", "git_log", "tool_search"}, []string{"ask_user"}},
			"an editor":       {"", false, true, []string{"read_file", "git_log", "ask_user", "tool_search"}, nil},
			"lazily attached": {"lazy", false, true, []string{"read_file", "tool_search", "ask_user"}, []string{"git_log"}},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				e2e.Home(t)
				if c.mode != "" {
					e2e.UserSettings(t, e2e.Object{"tools": e2e.Object{"registryMode": c.mode}})
				}
				dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
				if c.editor {
					e2e.Connect(t, dir, fakeeditor.Options{})
				}
				var u e2e.Elicitation
				if c.can {
					u = new(e2e.User).Elicit
				}
				a := e2e.NewAgent(t, dir, version, u)
				list, names := a.List()
				for _, w := range c.has {
					if !slices.Contains(names, w) {
						t.Errorf("%s is not listed: %v", w, names)
					}
				}
				for _, w := range c.not {
					if slices.Contains(names, w) {
						t.Errorf("%s is listed", w)
					}
				}
				for _, tool := range list {
					core := tool.Name == "read_file" || tool.Name == "edit_file"
					if marked := tool.Meta["anthropic/alwaysLoad"] == true; marked != core && (core || tool.Name == "git_log") {
						t.Errorf("%s is marked: %v", tool.Name, marked)
					}
				}
				a.Call("diff_text", e2e.Object{"a": "x\n", "b": "y\n"})
				if c.mode != "lazy" {
					select {
					case <-a.Changed:
						t.Error("the list is said to have changed")
					default:
					}
					return
				}
				<-a.Changed // what was called is in the list from now on
				if _, names := a.List(); !slices.Contains(names, "diff_text") {
					t.Errorf("diff_text is not listed: %v", names)
				}
			})
		}
	}
}

// TestAgentFamilies: the entry of an agent says which families it is listed, else the
// settings do, beside an editor's server too; a client whose model sees only names is
// listed all. The usual list is at most 8,000 tokens, at four bytes each.
func TestAgentFamilies(t *testing.T) {
	for name, c := range map[string]struct {
		client   string
		flag     string
		settings e2e.Object
		editor   bool
		has, not []string
	}{
		"by default":               {"", "", nil, false, []string{"git_log", "tool_search"}, []string{"system_monitor", "write_todos"}},
		"the entry":                {"", "core,planning", nil, false, []string{"read_file", "write_todos", "tool_search"}, []string{"git_log"}},
		"the entry, attached":      {"", "core,planning", nil, true, []string{"read_file", "write_todos", "tool_search"}, []string{"git_log"}},
		"the core":                 {"", "core", nil, false, []string{"read_file", "tool_search"}, []string{"git_log", "write_todos"}},
		"all":                      {"", "all", nil, false, []string{"git_log", "write_todos", "system_monitor"}, []string{"tool_search"}},
		"the settings":             {"", "", e2e.Object{"mcp.tools": []string{"system"}}, true, []string{"system_monitor"}, []string{"git_log"}},
		"the entry counts":         {"", "git", e2e.Object{"mcp.tools": []string{"system"}}, false, []string{"git_log"}, []string{"system_monitor"}},
		"the entry counts, lazily": {"", "git", e2e.Object{"tools.registryMode": "lazy"}, false, []string{"git_log"}, []string{"web_fetch"}},
		"the entry counts, full":   {"", "git", e2e.Object{"tools.registryMode": "full"}, false, []string{"git_log"}, []string{"web_fetch"}},
		"names only":               {"claude-code", "", nil, false, []string{"git_log", "write_todos", "system_monitor"}, []string{"tool_search"}},
		"names only, the entry":    {"claude-code", "core", nil, true, []string{"tool_search"}, []string{"git_log"}},
		"required steps":           {"", "core", e2e.Object{"steps.required": true}, false, []string{"declare_step", "verify_step"}, []string{"git_log"}},
	} {
		t.Run(name, func(t *testing.T) {
			e2e.Home(t)
			if c.settings != nil {
				e2e.UserSettings(t, c.settings)
			}
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
			if c.editor {
				e2e.Connect(t, dir, fakeeditor.Options{})
			}
			var flags []string
			if c.flag != "" {
				flags = []string{"--tools", c.flag}
			}
			a := e2e.NewAgentNamed(t, c.client, dir, "2025-06-18", new(e2e.User).Elicit, flags...)
			list, names := a.List()
			for _, w := range c.has {
				if !slices.Contains(names, w) {
					t.Errorf("%s is not listed: %v", w, names)
				}
			}
			for _, w := range c.not {
				if slices.Contains(names, w) {
					t.Errorf("%s is listed: %v", w, names)
				}
			}
			if name == "by default" { // what was called is in the list from now on
				a.Call("system_monitor", e2e.Object{})
				<-a.Changed
				if _, names := a.List(); !slices.Contains(names, "system_monitor") {
					t.Errorf("system_monitor is not listed: %v", names)
				}
			}
			if text, err := json.Marshal(list); err != nil || name == "by default" && len(text) > 4*8000 {
				t.Errorf("the list has %d bytes, %v", len(text), err)
			}
		})
	}
	for flag, want := range map[string]string{"terminals": `no family "terminals"`, "core,plannig": `did you mean planning`} {
		if _, stderr, code := e2e.RunCLI(t, "", "mcp", "--root", e2e.Project(t, nil), "--tools", flag); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d: %s", flag, code, stderr)
		}
	}
}

// TestAgentWithoutUser: an agent's program that says no by itself is not taken
// for its user, neither towards the model nor in the audit log.
func TestAgentWithoutUser(t *testing.T) {
	for _, version := range e2e.MCPVersions {
		for _, action := range []string{"cancel", "decline"} {
			t.Run(version+"/"+action, func(t *testing.T) {
				e2e.Home(t)
				dir := e2e.Project(t, nil)
				a := e2e.NewAgent(t, dir, version, func(*sdk.ElicitParams) (*sdk.ElicitResult, error) { return &sdk.ElicitResult{Action: action}, nil })
				for tool, args := range map[string]e2e.Object{
					"write_file":  {"path": "a.txt", "content": "one\n"},
					"run_command": {"command": "touch b.txt"},
				} {
					text, ok := a.Call(tool, args)
					for _, want := range []string{"not_approved", "nobody can be asked", "before anybody could", "open the workspace in an editor", filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json"), tool} {
						if ok || !strings.Contains(text, want) {
							t.Errorf("%s: %v, without %q: %s", tool, ok, want, text)
						}
					}
					if strings.Contains(text, "the user did not") || strings.Contains(text, `"review"`) != (tool == "write_file") {
						t.Errorf("%s: %s", tool, text)
					}
				}
				if text, ok := a.Call("ask_user", e2e.Object{"question": "Which?", "options": []string{"this", "that"}}); ok || !strings.Contains(text, "before anybody could") {
					t.Errorf("ask_user: %v %s", ok, text)
				}
				out, _, _ := e2e.RunCLI(t, "", "audit", "--root", dir, "--json")
				var records []auditlog.Record
				if err := json.Unmarshal([]byte(out), &records); err != nil || len(records) < 2 {
					t.Fatalf("%v: %s", err, out)
				}
				for _, r := range records {
					if r.By == "user" || r.Tool != "ask_user" && (r.Outcome != "deny" || r.By != "mode") {
						t.Errorf("it is written down as %+v", r)
					}
				}
			})
		}
	}
}

// TestImageOverMCP: a picture comes as one, to agents and to editors.
func TestImageOverMCP(t *testing.T) {
	e2e.Home(t)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	schema, err := mcpschema.Load("2025-06-18")
	if err != nil {
		t.Fatal(err)
	}
	for _, attached := range []bool{false, true} {
		dir := e2e.Project(t, map[string]string{"a.png": b.String(), ".env.png": b.String()})
		if attached {
			r := e2e.Connect(t, dir, fakeeditor.Options{})
			var res struct {
				Images []tools.Image `json:"images"`
			}
			if err := r.ExecuteCommand(t.Context(), "sidecar.tools.call", e2e.Object{"name": "read_file", "arguments": e2e.Object{"path": "a.png"}}, &res); err != nil || len(res.Images) != 1 || res.Images[0].Width != 8 || !bytes.Equal(res.Images[0].Data, b.Bytes()) {
				t.Errorf("%+v, %v", res, err)
			}
		}
		a := newRawAgent(t, schema, "Some Agent", dir)
		res := a.result("read_file", e2e.Object{"path": "a.png"}, nil)
		content, _ := res["content"].([]any)
		if len(content) != 2 {
			t.Fatalf("%v", res)
		}
		text, _ := content[0].(map[string]any)["text"].(string)
		if i := content[1].(map[string]any); i["type"] != "image" || i["mimeType"] != "image/png" || i["data"] != base64.StdEncoding.EncodeToString(b.Bytes()) || !strings.Contains(text, "8×6") {
			t.Errorf("%v", content)
		}
		if meta, _ := json.Marshal(res["_meta"]); strings.Contains(string(meta), `"data"`) {
			t.Errorf("it comes twice: %s", meta)
		}
		if out, _, code := e2e.RunCLI(t, "", "call", "--root", dir, "--json", "read_file", "path=a.png"); code != 0 || !strings.Contains(out, base64.StdEncoding.EncodeToString(b.Bytes())) {
			t.Errorf("by a shell: %d %.300s", code, out)
		}
		if res := a.result("read_file", e2e.Object{"path": ".env.png"}, nil); len(res["content"].([]any)) != 1 {
			t.Errorf("a file that may hold secrets: %v", res)
		}
	}
}
