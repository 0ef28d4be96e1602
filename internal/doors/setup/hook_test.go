package setup

import (
	"strings"
	"testing"
)

// TestHookRoad: the hook is put beside those of the user's, once, and taken out again; it
// comes only where it is named, and alone.
func TestHookRoad(t *testing.T) {
	const theirs = `{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": "mine.sh", "timeout": 5}]
      }
    ]
  }
}
`
	for client, file := range map[string]string{"claude": "home/.claude/settings.json", "codex": "home/.codex/hooks.json", "gemini": "home/.gemini/settings.json"} {
		for name, before := range map[string]string{"none": "", "theirs": theirs, "in one line": `{"hooks": {"PreToolUse": [{"matcher": "x", "hooks": []}], "BeforeTool": []}}`} {
			t.Run(client+", "+name, func(t *testing.T) {
				w := newWorld(t)
				if before != "" {
					w.write(file, before)
				}
				was := w.files()
				if p, err := w.env.Plan(client, Options{}); err != nil || strings.Contains(p.Changes[0].Diff, "hook ") {
					t.Fatalf("it is set up without its name: %v, %v", p.Changes, err)
				}
				p := w.apply(client, Options{Roads: []string{"hook"}})
				if len(p.Changes) != 1 || len(p.Notes) < 2 {
					t.Errorf("%+v", p)
				}
				text := w.files()[file]
				if strings.Count(text, `"sidecar-ls hook `+client+`"`) != 1 || before == theirs && !strings.Contains(text, `"command": "mine.sh", "timeout": 5`) {
					t.Errorf("it says\n%s", text)
				}
				if p, err := w.env.Plan(client, Options{Roads: []string{"hook"}}); err != nil || !p.Done {
					t.Errorf("a second time: %+v, %v", p, err)
				}
				for _, c := range w.env.List(t.Context(), false) {
					for _, r := range c.Roads {
						if c.Name == client && r.Road == "hook" && (r.State != On || r.Command != "sidecar-ls setup "+client+" --via hook") {
							t.Errorf("%+v", r)
						}
					}
				}
				undo, err := w.env.PlanUndo(client, Options{Roads: []string{"hook"}})
				if err == nil {
					err = undo.Apply()
				}
				if now := w.files(); err != nil || now[file] != was[file] {
					t.Errorf("undo (%v) leaves\n%s", err, now[file])
				}
			})
		}
	}
	w := newWorld(t)
	if _, err := w.env.Plan("claude", Options{Roads: []string{"mcp", "hook"}}); err == nil || !strings.Contains(err.Error(), "one integration at a time") {
		t.Error(err)
	}
	if _, err := w.env.Plan("cursor", Options{Roads: []string{"hook"}}); err == nil || !strings.Contains(err.Error(), "no hooks that sidecar-ls answers") {
		t.Error(err)
	}
	w.write("home/.claude/settings.json", `{"hooks": {"PreToolUse": {}}}`)
	if _, err := w.env.Plan("claude", Options{Roads: []string{"hook"}}); err == nil || !strings.Contains(err.Error(), "not a list") {
		t.Error(err)
	}
	// What the user puts beside it later stays.
	w = newWorld(t)
	w.apply("claude", Options{Roads: []string{"hook"}})
	file := "home/.claude/settings.json"
	w.write(file, strings.Replace(w.files()[file], `"PreToolUse": [`, `"PreToolUse": [{"matcher": "later", "hooks": []},`, 1))
	undo, err := w.env.PlanUndo("claude", Options{})
	if err == nil {
		err = undo.Apply()
	}
	if text := w.files()[file]; err != nil || !strings.Contains(text, "later") || strings.Contains(text, "sidecar") {
		t.Errorf("%v\n%s", err, text)
	}
}
