package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// settle gives the world settings of ours in which this mode holds.
func (w *world) settle(name string, holds, tightens bool) {
	w.env.Reviewed = func(project bool) Mode {
		m := Mode{File: w.name("home/.config/sidecar-ls/settings.json"), Name: name, Holds: holds, Tightens: tightens}
		if project {
			m.File = w.name("project/.sidecar/settings.json")
		}
		return m
	}
}

func (w *world) said(p *Plan) string { return strings.Join(append(p.Notes, p.Left...), "\n") }

// TestReview: an agent is set up so that all its edits wait: its own tools off, the mode
// review; undo leaves what was there.
func TestReview(t *testing.T) {
	const own = "home/.config/sidecar-ls/settings.json"
	for client, off := range map[string]string{"claude": `"Edit"`, "codex": `read-only`, "gemini": `"mcp_sidecar_*"`, "opencode": `"edit": false`} {
		for name, before := range map[string]string{
			"none": "", "a mode": `{"mode": "cautious"}`, "with its prefix": `{"sidecar.mode": "autonomous"}`,
			"below it, with a comment": "{\n  // mine\n  \"sidecar\": {\"mode\": \"cautious\", \"log.level\": \"debug\",},\n}\n",
		} {
			t.Run(client+", "+name, func(t *testing.T) {
				w := newWorld(t)
				w.settle("cautious", false, true)
				if before != "" {
					w.write(own, before)
				}
				was := w.files()
				if undo, off := ToolsOff(w.env, client); off {
					t.Errorf("its tools are off before: %s", undo)
				}
				if r := w.state(client, "world"); r.State != Available || !strings.Contains(w.state(client, "mcp").What, "unless --only-ours") {
					t.Errorf("before, world: %+v, %+v", r, w.state(client, "mcp"))
				}
				p := w.apply(client, Options{Review: true})
				if r := w.state(client, "world"); r.State != Unavailable || r.Command != "" || !strings.Contains(r.Why, "its own tools are off") || !strings.Contains(r.Why, "setup "+client+" --undo") {
					t.Errorf("a run is refused, but: %+v", r)
				}
				if what := w.state(client, "mcp").What; !strings.HasSuffix(what, "are off.") {
					t.Errorf("mcp: %s", what)
				}
				if _, err := w.env.Plan(client, Options{Roads: []string{"world"}}); err == nil {
					t.Error("--via world says nothing of that")
				}
				if undo, off := ToolsOff(w.env, client); !off || undo != "sidecar-ls setup "+client+" --undo" {
					t.Errorf("its tools are off: %v, %s", off, undo)
				}
				now := w.files()
				var all strings.Builder
				for _, text := range now {
					all.WriteString(text)
				}
				if !strings.Contains(all.String(), off) || strings.Count(now[own], "mode") != 1 || !strings.Contains(now[own], `"review"`) {
					t.Errorf("it wrote\n%v", now)
				}
				if strings.Contains(before, "mine") && !strings.Contains(now[own], "// mine") {
					t.Errorf("the comment is gone:\n%s", now[own])
				}
				if !strings.Contains(w.said(p), "wait for your review") {
					t.Errorf("it says %q", p.Notes)
				}
				w.settle("review", true, true)
				if can, does := w.env.CanReview(client, Options{}); !can || !does {
					t.Errorf("it can be reviewed: %v, and is: %v", can, does)
				}
				w.undo(client, Options{})
				if now := w.files(); len(now) != len(was) || now[own] != was[own] {
					t.Errorf("undo leaves %v", now)
				}
			})
		}
	}
}

// TestReviewKeepsWhatIsStricter: what lets an agent do less than setup would stays.
func TestReviewKeepsWhatIsStricter(t *testing.T) {
	for _, c := range []struct{ client, file, before, keeps, not string }{
		{"claude", ".claude/settings.json", `{"permissions": {"defaultMode": "plan"}}`, `"defaultMode": "plan"`, ""},
		{"claude", ".claude/settings.json", `{"permissions": {"defaultMode": "dontAsk"}}`, `"defaultMode": "dontAsk"`, ""},
		{"claude", ".claude/settings.json", `{"permissions": {"defaultMode": "acceptEdits"}}`, `"defaultMode": "default"`, "acceptEdits"}, // the control
		{"gemini", ".gemini/settings.json", `{"tools": {"core": ["read_file", "write_todos"]}}`, `"core": ["write_todos", "mcp_sidecar_*"]`, "web"},
		{"gemini", ".gemini/settings.json", `{"tools": {"core": []}}`, `"core": ["mcp_sidecar_*"]`, "web"},
		{"gemini", ".gemini/settings.json", `{}`, `"web_fetch"`, "read_file"}, // the control
	} {
		t.Run(c.client+" "+c.before, func(t *testing.T) {
			w := newWorld(t)
			w.settle("cautious", false, true)
			name := "home/" + c.file
			w.write(name, c.before)
			w.apply(c.client, Options{Review: true})
			if now := w.files()[name]; !strings.Contains(now, c.keeps) || c.not != "" && strings.Contains(now, c.not) {
				t.Errorf("it is\n%s", now)
			}
			w.undo(c.client, Options{})
			if now := w.files()[name]; now != c.before {
				t.Errorf("undo leaves\n%s", now)
			}
			w.apply(c.client, Options{Review: true})
			if err := ownfile.RemoveAll(w.env.State()); err != nil {
				t.Fatal(err)
			}
			w.undo(c.client, Options{}) // without a record of what was there
			if now := w.files()[name]; strings.Contains(now, "mcp_sidecar") {
				t.Errorf("without a record, undo leaves\n%s", now)
			}
		})
	}
}

// TestReviewLoosensNothing: a mode that asks more in anything stays, and so does one that
// holds edits already.
func TestReviewLoosensNothing(t *testing.T) {
	w := newWorld(t)
	w.settle("manual", false, false)
	if _, err := w.env.Plan("claude", Options{Review: true}); err == nil || !strings.Contains(err.Error(), "sidecar-ls mode review") {
		t.Error(err)
	}
	w.settle("plan", true, false)
	for _, c := range w.plan("claude", Options{Review: true}).Changes {
		if strings.Contains(c.Path, "sidecar-ls") {
			t.Errorf("it would write\n%s", c.Diff)
		}
	}
	if _, err := w.env.Plan("cursor", Options{Review: true}); err == nil || !strings.Contains(err.Error(), "--review") {
		t.Error(err)
	}
}

// TestTruth: what stays unreviewed is said, and what doesn't is not.
func TestTruth(t *testing.T) {
	const unreviewed = "its own tools are not reviewed"
	w := newWorld(t)
	w.settle("cautious", false, true)
	if said := w.said(w.apply("claude", Options{})); !strings.Contains(said, unreviewed) || !strings.Contains(said, "sidecar-ls setup claude --review") {
		t.Error(said)
	}
	if said := w.said(w.plan("claude", Options{})); !strings.Contains(said, unreviewed) {
		t.Errorf("a second time: %s", said)
	}
	if said := w.said(w.plan("claude", Options{OnlyOurs: true})); strings.Contains(said, unreviewed) || !strings.Contains(said, "your mode is cautious") {
		t.Error(said)
	}
	if said := w.said(w.plan("claude", Options{Roads: []string{"hook"}})); strings.Contains(said, "needs our tools") {
		t.Errorf("they are set up: %s", said)
	}
	if said := w.said(w.plan("codex", Options{Roads: []string{"hook"}})); !strings.Contains(said, "Codex CLI needs our tools, too: sidecar-ls setup codex") {
		t.Error(said)
	}
	if said := w.said(w.plan("cursor", Options{})); !strings.Contains(said, unreviewed) || strings.Contains(said, "--review") {
		t.Error(said)
	}
	w.settle("review", true, true)
	w.apply("claude", Options{OnlyOurs: true})
	if said := w.said(w.plan("claude", Options{})); strings.Contains(said, unreviewed) || !strings.Contains(said, "wait for your review") {
		t.Error(said)
	}
}

// TestUndoLeavesTheModeToOthers: the mode of two agents goes with the last of them.
func TestUndoLeavesTheModeToOthers(t *testing.T) {
	w := newWorld(t)
	w.settle("cautious", false, true)
	w.apply("claude", Options{Review: true})
	w.settle("review", true, true)
	w.apply("codex", Options{Review: true})
	if said := w.said(w.undo("claude", Options{})); !strings.Contains(said, "stays review, for Codex CLI") {
		t.Error(said)
	}
	if text := w.files()["home/.config/sidecar-ls/settings.json"]; !strings.Contains(text, "review") {
		t.Error(text)
	}
}

// TestUndoWithoutRecord: without the records what looks like ours is taken out, what is
// another's stays, and both is said.
func TestUndoWithoutRecord(t *testing.T) {
	for _, client := range []string{"claude", "codex", "gemini", "opencode", "cursor", "nvim"} {
		t.Run(client, func(t *testing.T) {
			w := newWorld(t)
			w.settle("cautious", false, true)
			w.write("home/.claude.json", `{"mcpServers": {"mine": {"command": "x"}}}`)
			was := w.files()
			w.apply(client, Options{Review: slices.Contains([]string{"claude", "codex", "gemini", "opencode"}, client)})
			if err := ownfile.RemoveAll(w.env.State()); err != nil {
				t.Fatal(err)
			}
			w.settle("review", true, true)
			said := w.said(w.undo(client, Options{}))
			if !strings.Contains(said, "can't be brought back") || !strings.Contains(said, w.env.State()) {
				t.Error(said)
			}
			now := w.files()
			delete(now, "home/.config/sidecar-ls/settings.json")
			for name, text := range now {
				if strings.Contains(text, "sidecar") || was[name] != "" && !strings.Contains(text, "mine") {
					t.Errorf("%s says\n%s", name, text)
				}
			}
			if p := w.undo(client, Options{}); len(p.Changes) > 0 {
				t.Errorf("a second time: %v", p.Changes)
			}
		})
	}
}

// TestFreshHook: where nothing is there, nothing is incomplete.
func TestFreshHook(t *testing.T) {
	w := newWorld(t)
	for _, client := range []string{"claude", "codex", "gemini"} {
		if r := w.state(client, "hook"); r.State != Off || r.Why != "" {
			t.Errorf("%s: %+v", client, r)
		}
	}
	w.write("home/.gemini/settings.json", `{"hooksConfig": {"enabled": true}}`)
	if r := w.state("gemini", "hook"); r.State != Incomplete {
		t.Errorf("the control: %+v", r)
	}
}

// TestPackaged: the version of what npm has installed is that of its package, and the
// program is not asked.
func TestPackaged(t *testing.T) {
	w := newWorld(t)
	w.write("lib/node_modules/@google/gemini-cli/package.json", `{"version": "0.61.0"}`)
	w.write("lib/node_modules/@google/gemini-cli/bundle/gemini.js", "#!/bin/false\n")
	w.write("lib/node_modules/opencode-ai/package.json", `{"version": "1.18.33"}`)
	w.write("lib/node_modules/opencode-ai/bin/opencode", "#!/bin/false\n")
	w.write("lib/plain/package.json", `{"version": "9.9.9"}`)
	w.write("lib/plain/bin/plain", "#!/bin/false\n")
	if err := ownfile.Mkdir(w.name("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{"node_modules/@google/gemini-cli/bundle/gemini.js": "0.61.0", "node_modules/opencode-ai/bin/opencode": "1.18.33", "plain/bin/plain": ""} {
		link := w.name("bin/" + filepath.Base(program))
		if err := ownfile.Symlink(w.name("lib/"+program), link); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(link); err != nil {
			t.Fatal(err)
		}
		if got := packaged(link); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}
