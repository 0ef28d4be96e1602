package profile

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// TestTable: each row names what it needs, in a form that can be shown, and what is
// not an agent's own is in none.
func TestTable(t *testing.T) {
	set, _ := config.Load()
	all := All(set)
	if len(all) != len(builtin) {
		t.Fatalf("%d profiles of %d rows: a name is there twice", len(all), len(builtin))
	}
	for _, p := range all {
		if p.Title == "" || p.Program == "" || len(p.State)+len(p.Reads)+len(p.Settings) == 0 || !p.Network {
			t.Errorf("%s lacks something: %+v", p.Name, p)
		}
		for _, path := range slices.Concat(p.State, p.Reads, p.Settings, p.Keys, p.Copied) {
			if !filepath.IsLocal(path) || slices.Contains([]string{".", ".config", ".local", ".cache", ".ssh", ".aws", ".gnupg"}, filepath.Clean(path)) {
				t.Errorf("%s sees ~/%s", p.Name, path)
			}
		}
		for _, name := range p.Env {
			if name != strings.ToUpper(name) {
				t.Errorf("%s gets %s", p.Name, name)
			}
		}
		for _, program := range []string{p.Program, p.Driven().Program} {
			if got := Find(all, "", program); got == nil || got.Name != p.Name || got.Program != program {
				t.Errorf("%s is not found by its program %s", p.Name, program)
			}
		}
	}
	if Find(all, "", "/some/where/claude") != nil || Find(all, "", "./claude") != nil {
		t.Error("what is called as an agent's program has its profile")
	}
	if Find(all, "", "make") != nil || Find(all, "nonesuch", "claude") != nil {
		t.Error("something has a profile that has none")
	}
}

// TestSettings: the user changes a row in part, and adds others.
func TestSettings(t *testing.T) {
	set, problems := config.Load(config.Source{Origin: config.User, Name: "user", Data: []byte(`{"agents": {"claude": {"network": false}, "codex-acp": {"program": "my-codex-acp", "acpVersion": 1}, "mine": {"state": [".mine"]}}}`)})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	all := All(set)
	claude, mine := Find(all, "claude", ""), Find(all, "", "mine")
	if claude == nil || claude.Network || claude.Tried || !slices.Equal(claude.State, []string{".claude/projects/{folder}"}) {
		t.Errorf("claude: %+v", claude)
	}
	if codex := Find(all, "codex", ""); codex.Program != "codex" || codex.Driven().Program != "my-codex-acp" || len(all) != len(builtin)+1 {
		t.Errorf("codex: %+v of %d", codex, len(all))
	}
	if mine == nil || mine.Network || !slices.Equal(mine.State, []string{".mine"}) || len(mine.Sees()) != 1 {
		t.Errorf("mine: %+v", mine)
	}
}

// TestOwnProgramSpeaks: a row that names a program and its arguments for the protocol needs no
// adapter; one that changes only one of them, or names an adapter, has one.
func TestOwnProgramSpeaks(t *testing.T) {
	for row, want := range map[string]string{
		`"program": "mine", "acp": ["acp"]`:                        "mine",
		`"program": "mine"`:                                        "claude-agent-acp",
		`"acp": ["--verbose"]`:                                     "claude-agent-acp",
		`"program": "mine", "acp": [], "adapter": "other-adapter"`: "other-adapter",
	} {
		set, problems := config.Load(config.Source{Origin: config.User, Name: "user", Data: []byte(`{"agents": {"claude": {` + row + `}}}`)})
		if len(problems) != 0 {
			t.Fatal(problems)
		}
		d := Find(All(set), "claude", "").Driven()
		if d.Program != want || (len(d.Runs) > 0) != (want != "mine") {
			t.Errorf("%s: %s is started, with %q", row, d.Program, d.Runs)
		}
	}
}

// TestACPVersion: a row that asks for a version which is not spoken any more says so, and
// is otherwise as one that asks for the version which is.
func TestACPVersion(t *testing.T) {
	row := func(version string) (Profile, []config.Problem) {
		set, problems := config.Load(config.Source{Origin: config.User, Name: "user", Data: []byte(`{"agents": {"claude-acp": {` + version + `"program": "mine"}}}`)})
		return Find(All(set), "claude-acp", "").Driven(), problems
	}
	plain, problems := row("")
	if len(problems) != 0 || plain.Program != "mine" || plain.ACP == nil {
		t.Fatalf("%+v, %v", plain, problems)
	}
	for version, reported := range map[string]bool{`"acpVersion": 1, `: false, `"acpVersion": 2, `: true} {
		got, problems := row(version)
		if !reflect.DeepEqual(got, plain) {
			t.Errorf("%s makes it %+v, not %+v", version, got, plain)
		}
		if reported && (len(problems) != 1 || problems[0].String() != "user:1: sidecar.agents: claude-acp: acpVersion 2 is not spoken any more; 1 is used: remove it") || !reported && len(problems) != 0 {
			t.Errorf("%s is reported as %v", version, problems)
		}
	}
}

// TestOnlyConversations: of no agent's own files are those writable that it obeys, as
// its makers' documentation has them, nor a directory above them.
func TestOnlyConversations(t *testing.T) {
	set, _ := config.Load()
	obeyed := []string{
		".claude/settings.json", ".claude/hooks/x.sh", ".claude/plugins/x", ".claude/commands/x.md", ".claude/agents/x.md", ".claude/skills/x", ".claude/CLAUDE.md", ".claude/ide/1.lock", ".claude/shell-snapshots/x.sh", ".claude/session-env/x",
		".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md", ".codex/prompts/x.md", ".codex/rules/x.rules", ".codex/skills/x", ".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/commands/x.toml", ".gemini/extensions/x", ".gemini/tmp/bin/rg", ".gemini/history/x/.git/config",
		".config/opencode/opencode.json", ".config/opencode/plugin/x.js", ".local/share/opencode/bin/x", ".local/share/opencode/snapshot/x/config", ".cache/opencode/node_modules/x.js", ".copilot/config.json", ".copilot/mcp-config.json", ".copilot/pkg/x.js",
		".config/crush/crush.json", ".local/share/crush/crush.json", ".config/goose/config.yaml", ".config/goose/memory/x", ".local/share/goose/schedule.json", ".aider.conf.yml", ".aider/oauth-keys.env", ".cursor/mcp.json", ".cursor/hooks.json", ".cursor/cli-config.json", ".cursor/rules/x", ".local/share/cursor-agent/versions/x",
		".qwen/settings.json", ".qwen/QWEN.md", ".qwen/extensions/x",
	}
	held, controls := 0, 0
	for _, p := range All(set) {
		for _, dir := range p.State {
			controls++
			for _, name := range obeyed {
				if strings.HasPrefix(name, dir+"/") || name == dir {
					t.Errorf("%s writes ~/%s, by ~/%s", p.Name, name, dir)
				}
				held++
			}
		}
	}
	t.Logf("%d of %d held, %d controls", held, held, controls)
}

// TestOneName: an agent that others drive has one name, by which it is driven, and an
// earlier one that still finds it.
func TestOneName(t *testing.T) {
	set, _ := config.Load()
	all := All(set)
	for name, want := range map[string][3]string{
		"claude": {"Claude Code", "claude", "claude-agent-acp"}, "claude-acp": {"Claude Code", "claude", "claude-agent-acp"},
		"codex": {"Codex", "codex", "codex-acp"}, "gemini": {"Gemini CLI", "gemini", "gemini"}, "crush": {"Crush", "crush", "crush"},
	} {
		p := Find(all, name, "")
		if got := [3]string{p.Title, p.Program, p.Driven().Program}; got != want || slices.Contains(p.Env, "CLAUDE_CODE_EXECUTABLE") {
			t.Errorf("%s is %q, and gets %q", name, got, p.Env)
		}
		if d := p.Driven(); (len(d.Runs) > 0) != (p.Program != d.Program) || d.Name != p.Name {
			t.Errorf("%s driven: %+v", name, d)
		}
	}
	for _, p := range all {
		for _, word := range []string{"ACP", "acp"} {
			if strings.Contains(p.Name+p.Title, word) {
				t.Errorf("people see %q of %s", word, p.Name)
			}
		}
	}
}
