package setup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// briefly is what a person reads of a plan.
func (w *world) briefly(p *Plan) string {
	var b strings.Builder
	for _, f := range p.Brief(func(text string) string { return strings.ReplaceAll(text, "hunter2", "…") }) {
		fmt.Fprintf(&b, "%s %v %v %d %d\n", strings.TrimPrefix(f.Path, w.name("home")), f.New, f.Removed, f.Plugin, f.More)
		for _, line := range f.Lines {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

// TestBrief: a person reads the lines that come and go, and nothing around them; a plan that
// is taken back has the same lines with the other sign.
func TestBrief(t *testing.T) {
	w := newWorld(t)
	w.write("home/.claude/settings.json", "{\n  \"env\": {\"KEY\": \"not shown\"},\n  \"permissions\": {\n    \"allow\": [\"hunter2\"]\n  },\n  \"model\": \"x\"\n}\n")
	lines := `/.claude/settings.json false false 0 0
- "allow": ["…"]
+ "allow": ["…", "mcp__sidecar"],
+ "deny": ["Bash", "Edit", "Write", "NotebookEdit", "Read", "Grep", "Glob"]
`
	server := `/.claude.json true false 0 0
+ "mcpServers": {
+   "sidecar": {
+     "type": "stdio",
+     "command": "sidecar-ls",
+     "args": ["mcp"],
+     "alwaysLoad": true
`
	p := w.plan("claude", Options{OnlyOurs: true})
	if d := cmp.Diff(server+lines, w.briefly(p)); d != "" {
		t.Error(d)
	}
	if diff := p.Changes[1].Diff; !strings.Contains(diff, "not shown") || !strings.Contains(diff, "\n   }") {
		t.Errorf("the control: the diff has what is around\n%s", diff)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
	undo, err := w.env.PlanUndo("claude", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if said := w.briefly(undo); !strings.Contains(said, "/.claude.json false true 0 0\n- \"mcpServers\": {") || !strings.Contains(said, "\n+ \"allow\": [\"…\"]\n") {
		t.Error(said)
	}

	if said := w.briefly(w.plan("nvim", Options{})); !strings.HasPrefix(said, "/.local/share/nvim/site/pack/sidecar/start/sidecar true false ") || strings.Count(said, "\n") != 1 {
		t.Errorf("a plug-in: %s", said)
	}
}

// TestBriefLong: of many lines the first are shown, and the rest counted; long lines are said
// in other words, also when they go.
func TestBriefLong(t *testing.T) {
	w := newWorld(t)
	w.write("home/.codex/config.toml", "[features]\nold = true\n")
	b := w.plan("codex", Options{OnlyOurs: true, Tools: []string{"core"}}).Brief(strings.Clone)
	if len(b) != 1 || len(b[0].Lines)+b[0].More != 8 {
		t.Errorf("%+v", b)
	}
	many := &Change{Path: "a", Diff: "--- a\n+++ a\n@@ -1 +1 @@\n" + strings.Repeat("+word\n", 11)}
	if b := (&Plan{Changes: []*Change{many}}).Brief(strings.Clone)[0]; len(b.Lines) != mostLines || b.More != 3 {
		t.Errorf("%+v", b)
	}

	w.write("home/.claude.json", `{"history": "`+strings.Repeat("x", longest)+`"}`)
	w.apply("claude", Options{})
	undo, err := w.env.PlanUndo("claude", Options{})
	if err != nil {
		t.Fatal(err)
	}
	said := w.briefly(undo)
	if !strings.Contains(said, "(its lines are too long to be shown; this is what changes)\n- mcpServers.sidecar: {") || strings.Contains(said, "xxx") {
		t.Error(said)
	}
}

// TestSigned: what only gets a comma and what has no word are left out.
func TestSigned(t *testing.T) {
	for name, c := range map[string]struct {
		diff string
		want []string
	}{
		"a comma":           {" {\n-  \"a\": 1\n+  \"a\": 1,\n+  \"b\": 2\n }", []string{`+ "b": 2`}},
		"a comma goes":      {" {\n-  \"a\": 1,\n-  \"b\": 2\n+  \"a\": 1\n }", []string{`- "b": 2`}},
		"elsewhere":         {"-  \"a\": 1\n x\n+  \"a\": 1,", []string{`- "a": 1`, `+ "a": 1,`}},
		"the same twice":    {"-a\n-a\n+a,", []string{"- a"}},
		"marks of the text": {"--- a list\n+++ plus", []string{"- -- a list", "+ ++ plus"}},
		"inner depth":       {"+    a {\n+      b\n+    }", []string{"+ a {", "+   b"}},
		"only signs":        {"-{}\n+{\n+}", []string{"- {}", "+ {", "+ }"}},
		"no line end":       {"-a\n\\ No newline at end of file\n+a,\n+b", []string{"+ b"}},
		"line ends of DOS":  {"+a\r\n", []string{"+ a"}},
		"a note":            {"(too long)\n+ a.b: 1\n~ c: 2", []string{"(too long)", "+ a.b: 1", "~ c: 2"}},
	} {
		if got := signed("--- x\n+++ x\n@@ -1 +1 @@\n" + c.diff); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
