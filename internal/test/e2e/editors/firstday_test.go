package editors_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestLineRangesAgree: what read_file, an outline and the index say of a file's
// lines is the same.
func TestLineRangesAgree(t *testing.T) {
	e2e.Home(t)
	texts := map[string]string{
		"doc.md":    "# Quokka\n\n" + strings.Repeat("the quokka text goes on\n", 39),
		"open.md":   "# Quokka\n\n" + strings.Repeat("the quokka text goes on\n", 38) + "the end",
		"ay.yaml":   "quokka:\n  b: 1\n  c: 2\n",
		"at.toml":   "[quokka]\nb = 1\nc = 2\n",
		"ap.py":     "class Quokka:\n    def jump(self):\n        return 1\n",
		"ag.go":     "package quokka\n\nfunc Jump() int {\n\treturn 1\n}\n",
		"as.sh":     "quokka() {\n  echo\n}\n",
		"ats.ts":    "export class Quokka {\n  jump() {}\n}\n",
		"one.md":    "# Quokka",
		"crlf.md":   "# Quokka\r\n\r\ntext\r\n",
		"blanks.md": "# Quokka\n\ntext\n\n\n",
	}
	r := e2e.Connect(t, e2e.Project(t, texts), fakeeditor.Options{})
	last := regexp.MustCompile(`(?m)^\s*(\d+)-(\d+) `)
	for name, text := range texts {
		want := strings.Count(text, "\n")
		if !strings.HasSuffix(text, "\n") {
			want++
		}
		read := e2e.Command[struct{ Structured struct{ TotalLines int } }](r, "sidecar.tools.call", e2e.Object{"name": "read_file", "arguments": e2e.Object{"path": name}})
		if read.Structured.TotalLines != want {
			t.Errorf("%s: read_file says %d lines, want %d", name, read.Structured.TotalLines, want)
		}
		most := 0
		for _, m := range last.FindAllStringSubmatch(r.Tool("read_file", e2e.Object{"path": name, "mode": "outline"}).Content, -1) {
			end, _ := strconv.Atoi(m[2])
			most = max(most, end)
		}
		if most != want {
			t.Errorf("%s: its outline ends in line %d, want %d", name, most, want)
		}
		if got := r.Tool("project_knowledge_search", e2e.Object{"query": name, "path_prefix": name, "kind_filter": []string{"file"}}).Content; !strings.Contains(got, fmt.Sprintf("%s:1-%d\t", name, want)) {
			t.Errorf("%s: the index says %q, want 1-%d", name, got, want)
		}
	}
}

// TestNamesInAnotherCase: a name that is right but for its case, or a letter or two, is
// answered with what there is.
func TestNamesInAnotherCase(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{
		"price.go": "package shop\n\n// Discount is what a customer saves.\nfunc Discount(n int) int { return n / 10 }\n",
		"api.py":   "def apply_discount(n):\n    return n\n",
		".env":     "discounts=1\n",
	}), fakeeditor.Options{})
	for symbol, want := range map[string]string{
		"discount":           "nothing is called discount in this workspace's code, but there is Discount (function, price.go:4); upper and lower case differ",
		"shop.DISCOUNT":      "but there is Discount (function, price.go:4)",
		"applyDiscount":      "but there is apply_discount (function, api.py:1)",
		"nothing_like_it":    "for a part of a name or for other text use grep",
		"Discount_table":     "for a part of a name or for other text use grep",
		"Discont":            "but there is Discount (function, price.go:4); check the spelling",
		"aply_discuont":      "but there is apply_discount (function, api.py:1); check the spelling",
		"Discount":           "price.go:4:6",
		"apply_discount.xyz": "for a part of a name or for other text use grep",
	} {
		if res := r.Tool("find_references", e2e.Object{"symbol": symbol}); !res.OK || !strings.Contains(res.Content, want) {
			t.Errorf("%s: %s", symbol, res.Content)
		}
	}
}

// TestAllToolsAreNamed: a search for nothing in particular names every tool, but those for
// sub-agents where there is no model to drive them.
func TestAllToolsAreNamed(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "x\n"}), fakeeditor.Options{})
	all := r.Listed(e2e.Object{"registry": "full"})
	for _, args := range []e2e.Object{{}, {"query": "  "}} {
		res := r.Tool("tool_search", args)
		for _, name := range all {
			works := !strings.Contains(name, "agent") && name != "best_of" && name != "delegate_task"
			if strings.Contains("\n"+res.Content, "\n"+name+": ") != works {
				t.Errorf("%v: %s works: %v, but the list is %s", args, name, works, res.Content)
			}
		}
	}
	if res := r.Tool("tool_search", e2e.Object{"query": "commit"}); strings.Contains(res.Content, "system_monitor") {
		t.Errorf("a question: %s", res.Content)
	}
}

// TestWhatIsRefusedIsNamed: a refusal names the path, and the rule that it goes
// by.
func TestWhatIsRefusedIsNamed(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous"})
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "one\ntwo\nthree\n"}), fakeeditor.Options{})
	r.Choose("Deny")
	for _, c := range []struct {
		tool string
		args e2e.Object
		code tools.Code
		want string
	}{
		{"write_file", e2e.Object{"path": "sub/.git/config", "content": "x\n"}, tools.ProtectedPath, "sub/.git/config: the path is never written by a tool; leave it to the user (rule path.never)"},
		{"write_file", e2e.Object{"path": ".github/workflows/ci.yml", "content": "on: push\n"}, tools.NotApproved, ""},
		{"write_file", e2e.Object{"path": "odd\nname.txt", "content": "x\n"}, tools.InvalidArguments, `"odd\nname.txt" has a control character`},
		{"move_file", e2e.Object{"from": "a.txt", "to": "b\x1b[31m.txt"}, tools.InvalidArguments, "has a control character"},
		{"apply_patch", e2e.Object{"patch": "*** Begin Patch\n*** Add File: x\ty.txt\n+x\n*** End Patch\n"}, tools.InvalidArguments, "control character"},
		{"read_file", e2e.Object{}, tools.InvalidArguments, "read_file: path: required (string)"},
	} {
		if res := r.Tool(c.tool, c.args); res.Error.Code != c.code || !strings.Contains(res.Content, c.want) {
			t.Errorf("%s %v: %s, want %s %s", c.tool, c.args, res.Content, c.code, c.want)
		}
	}
	// What was there before keeps its name.
	e2e.Write(t, r.Dir+"/old\tname.txt", "one\n")
	if res := r.Tool("edit_file", e2e.Object{"path": "old\tname.txt", "search": "one", "replace": "two"}); !res.OK {
		t.Error(res.Content)
	}
	// A patch that was applied elsewhere than it said shows where.
	patch := "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n two\n-three\n+four\n"
	if res := r.Tool("apply_patch", e2e.Object{"patch": patch}); !res.OK || !strings.Contains(res.Content, "@@ -1,3 +1,3 @@\n one\n two\n-three\n+four\n") {
		t.Error(res.Content)
	}
}

// TestOverloadsAreOneAnswer: functions of one name in one place leave room for
// other answers.
func TestOverloadsAreOneAnswer(t *testing.T) {
	e2e.Home(t)
	var java strings.Builder
	java.WriteString("class Quokka {\n")
	for i := range 8 {
		fmt.Fprintf(&java, "  /** Jumps over a fence. */\n  void jump(int a%d) {\n    hop();\n  }\n", i)
	}
	java.WriteString("  /** Hops over a fence, without a jump. */\n  void hop() {}\n}\n")
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"Quokka.java": java.String(), "fence.py": "def jump():\n    \"\"\"Jumps over a fence.\"\"\"\n"}), fakeeditor.Options{})
	got := r.Tool("project_knowledge_search", e2e.Object{"query": "jump over a fence", "max_hits": 3, "graph_depth": 0}).Content
	if n := strings.Count(got, "\tQuokka.jump\t"); n != 1 || !strings.Contains(got, "\tQuokka.hop\t") || !strings.Contains(got, "fence.py:1-2") {
		t.Errorf("%d answers for one name:\n%s", n, got)
	}
	if n := strings.Count(got, "-"); !strings.Contains(got, "overloads: ") || n < 8 {
		t.Errorf("its other places are not named:\n%s", got)
	}
}

// TestSelectors: an allow-list may say what a session has in several ways, and
// never fails silently.
func TestSelectors(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "one\n"}), fakeeditor.Options{})
	all := r.Listed(e2e.Object{"registry": "full"})
	type opened struct {
		Session  string
		Warnings []string
	}
	has := func(session, name string) bool {
		return slices.Contains(r.Listed(e2e.Object{"session": session, "registry": "full"}), name)
	}
	for _, c := range []struct {
		allow    []string
		yes, no  []string
		warnings int
	}{
		{[]string{"builtin"}, all, nil, 0},
		{[]string{"git"}, []string{"git_log", "git_commit"}, []string{"read_file", "run_command"}, 0},
		{[]string{"files", "!delete_file"}, []string{"read_file", "edit_file"}, []string{"delete_file", "grep"}, 0},
		{[]string{"!git_*", "!run_command"}, []string{"read_file", "run_tests"}, []string{"git_log", "run_command"}, 0},
		{[]string{"*", "!*_file"}, []string{"grep", "list_directory"}, []string{"read_file", "write_file"}, 0},
		{[]string{"git_?og", "grep"}, []string{"git_log", "grep"}, []string{"git_diff"}, 0},
		{[]string{"read_file", "mcp", "kit:none", "mcp:none/*", "raed_file", "!nothing"}, []string{"read_file"}, []string{"grep"}, 5},
		{[]string{}, nil, all, 0},
	} {
		o := e2e.Command[opened](r, "sidecar.session.open", e2e.Object{"allow": c.allow})
		if len(o.Warnings) != c.warnings {
			t.Errorf("%v: %q, want %d warnings", c.allow, o.Warnings, c.warnings)
		}
		for _, name := range c.yes {
			if !has(o.Session, name) {
				t.Errorf("%v: it has not got %s", c.allow, name)
			}
		}
		for _, name := range c.no {
			if has(o.Session, name) {
				t.Errorf("%v: it has %s", c.allow, name)
			}
		}
	}
	for _, allow := range [][]string{{"buildin"}, {"mcp"}, {"kit:none", "plugin"}, {"mcp:none/*"}, {""}, {"!nothing"}} {
		var o opened
		err := r.ExecuteCommand(t.Context(), "sidecar.session.open", e2e.Object{"allow": allow}, &o)
		if err == nil || !strings.Contains(err.Error(), "nothing in it fits a tool") || !strings.Contains(err.Error(), "a tool's name, a pattern such as git_*") {
			t.Errorf("%q: %v %+v", allow, err, o)
		}
	}
}

// TestEveryCallIsDecided: whoever follows the events sees of each call what was
// decided, and by which rule.
func TestEveryCallIsDecided(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "cautious", "toolPermissions": e2e.Object{"delete_file": "deny"}})
	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar.Events = true
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "one\n"}), fakeeditor.Options{Capabilities: caps})
	r.Choose("Allow")
	e2e.Command[struct{}](r, "sidecar.session.open", e2e.Object{"id": "spent", "budget": e2e.Object{"tokens": 1}})
	for _, c := range []struct {
		tool string
		args e2e.Object
		want string
	}{
		{"read_file", e2e.Object{"path": "a.txt"}, "allow/mode.cautious.reads allow/mode.cautious.reads/mode"},
		{"delete_file", e2e.Object{"path": "a.txt"}, "deny/permission.deny deny/permission.deny/rule"},
		{"write_file", e2e.Object{"path": "a.txt", "content": "two\n"}, "ask/mode.cautious.edits allow/mode.cautious.edits/user"},
		{"write_file", e2e.Object{"path": "a.txt", "content": "two\n"}, "allow/mode.cautious.edits allow/mode.cautious.edits/mode"}, // changes nothing
		{"edit_file", e2e.Object{"path": "a.txt", "search": "none", "replace": "x"}, "allow/mode.cautious.edits allow/mode.cautious.edits/mode"},
		{"read_file", e2e.Object{"path": 7}, "deny/invalid_arguments deny/invalid_arguments/rule"},
		{"no_such_tool", e2e.Object{}, "deny/unknown_tool deny/unknown_tool/rule"},
		{"read_file", e2e.Object{"path": "a.txt", "session": "spent"}, "deny/budget_exceeded deny/budget_exceeded/rule"},
	} {
		in, _ := c.args["session"].(string)
		delete(c.args, "session")
		res := e2e.Command[struct{ CallID string }](r, "sidecar.tools.call", e2e.Object{"name": c.tool, "arguments": c.args, "session": in})
		type event struct{ Type, CallID, Outcome, Rule, By string }
		var got []string
		err := r.Await(t.Context(), "its events", func(rec *fakeeditor.Record) bool {
			got = nil
			ended := false
			for _, m := range rec.Notifications {
				var e event
				if m.Method != "sidecar/event" || json.Unmarshal(m.Params, &e) != nil || e.CallID != res.CallID {
					continue
				}
				switch e.Type {
				case "permissionRequested":
					got = append(got, e.Outcome+"/"+e.Rule)
				case "permissionResolved":
					got = append(got, e.Outcome+"/"+e.Rule+"/"+e.By)
				case "toolCompleted":
					ended = true
				}
			}
			return ended
		})
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v %v, want %s", c.tool, err, got, c.want)
		}
	}
}
