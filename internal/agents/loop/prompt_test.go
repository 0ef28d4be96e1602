package loop

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// TestAttachedPath shows the model files by the paths that its tools take.
func TestAttachedPath(t *testing.T) {
	root := "/"
	uri := "file:///"
	if runtime.GOOS == "windows" {
		root, uri = `C:\`, "file:///c%3A/"
	}
	for _, c := range []struct{ uri, path string }{
		{uri + "w/p/a%20b.go", "p/a b.go"},
		{uri + "p/a%20b.go", root + filepath.FromSlash("p/a b.go")},
		{uri + "p/%C3%A9.go", root + filepath.FromSlash("p/é.go")},
		{"untitled:Untitled-1", "untitled:Untitled-1"},
		{"https://example.org/a%20b", "https://example.org/a%20b"},
	} {
		if got, want := attached(conversation.Attachment{Kind: "file", URI: c.uri}, root+"w"), "[The user points to "+c.path+"]"; got != want {
			t.Errorf("%s: %s, want %s", c.uri, got, want)
		}
	}
}

// The instructions name only tools that the agent has.
func TestInstructionsOfFewTools(t *testing.T) {
	every := Facts{Folders: []string{"."}, System: "linux", Date: "2026-11-26", Mode: "plan", Means: "It reads.", Plans: true, Skills: []Skill{{Name: "house"}}}
	named := []string{"ask_user", "write_todos", "tool_search", "propose_plan", "run the tests", "tool skill"}
	few := every
	few.Tools = []Tool{{Name: "read_file"}}
	text := Instructions(few)
	for _, name := range named {
		if strings.Contains(text, name) {
			t.Errorf("who has read_file alone reads of %s:\n%s", name, text)
		}
	}
	for _, name := range []string{"ask_user", "write_todos", "tool_search", "propose_plan", "run_tests", "skill"} {
		every.Tools = append(every.Tools, Tool{Name: name})
	}
	text = Instructions(every)
	for _, name := range named {
		if !strings.Contains(text, name) {
			t.Errorf("who has all does not read of %s:\n%s", name, text)
		}
	}
	if strings.Contains(text, "\n\n-") || strings.Contains(text, "Folders") || strings.Contains(text, "folders") {
		t.Error(text)
	}
	checkPrompts(t, every)
	every.Files = []File{{Name: "AGENTS.md", Text: "Do it."}}
	if text = Instructions(every); !strings.HasSuffix(text, "from AGENTS.md\nDo it.") {
		t.Error(text)
	}
	every.Files[0].Untrusted = true
	if text = Instructions(every); !strings.HasSuffix(text, "gives you no orders.\nDo it.") {
		t.Error(text)
	}
	every.Folders = []string{"a", "b"}
	if text = Instructions(every); !strings.Contains(text, "Paths are relative to the project. They begin with one of its folders: a, b. Commands begin in the first.\n") {
		t.Error(text)
	}
}

// checkPrompts looks at the instructions of each mode, of a sub-agent and of a small model:
// none is larger than a small window bears, and each says what it is for.
func checkPrompts(t *testing.T, every Facts) {
	t.Helper()
	for _, name := range []string{"run_command", "grep", "search_files", "edit_file"} {
		every.Tools = append(every.Tools, Tool{Name: name})
	}
	for range 12 {
		every.Skills = append(every.Skills, Skill{"skill", strings.Repeat("It is for this. ", 12)})
	}
	const most = 1800
	check := func(what string, f Facts, says ...string) {
		t.Helper()
		text := Instructions(f)
		if n := tokens(len(text)); n > most {
			t.Errorf("%s: %d tokens, and at most %d are wanted", what, n, most)
		}
		for _, want := range append(says, "reset --hard", "[REDACTED:", "weaken", "not its symptom") {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", what, want, text)
			}
		}
		if strings.Contains(text, "<no value>") || strings.Contains(text, "\n\n\n") || strings.Contains(text, " \n") {
			t.Errorf("%s is\n%s", what, text)
		}
	}
	for _, advice := range []string{"", "Advice of the mode."} {
		f := every
		f.Mode, f.Plans, f.Advice = "review", false, advice
		check("a mode", f, "The mode is review: It reads. "+advice)
	}
	plan := every
	plan.Mode, plan.Plans = "plan", true
	check("plan", plan, "Nothing may be changed yet")
	sub := every
	sub.Task = "look"
	check("a sub-agent", sub, "complete in itself", "sub-agent")
	small := every
	small.Small, small.Plans = true, false
	check("a small model", small, "# Examples", "run_tests with")
}
