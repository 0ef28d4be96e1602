package profile

import (
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestShown: a question names the files that are there, in few lines, and none that is not;
// what is allowed stays the same.
func TestShown(t *testing.T) {
	set, _ := config.Load()
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, p := range All(set) {
		for _, name := range p.Env {
			t.Setenv(name, "")
		}
	}
	claude := *Find(All(set), "claude", "")
	if err := ownfile.MkdirAll(home+"/.claude/skills", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(home+"/.claude/settings.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, all := strings.Join(claude.Shown(), "\n"), claude.Sees()
	for _, want := range []string{"~/.claude/projects/(this folder) is read and written: its state", "~/.claude/skills is read\n", "~/.claude/settings.json is read; changes are dropped", "more of its files"} {
		if !strings.Contains(before+"\n", want) {
			t.Errorf("%q is missing in\n%s", want, before)
		}
	}
	for _, absent := range []string{"CLAUDE.md", "keybindings", ".claude.json"} {
		if strings.Contains(before, absent) || !strings.Contains(strings.Join(all, "\n"), absent) {
			t.Errorf("%s: shown\n%s", absent, before)
		}
	}
	if err := ownfile.WriteFile(home+"/.claude/CLAUDE.md", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if now := strings.Join(claude.Shown(), "\n"); !strings.Contains(now, "~/.claude/settings.json, ~/.claude/CLAUDE.md are read; changes are dropped") {
		t.Errorf("shown\n%s", now)
	}
	if !slices.Equal(all, claude.Sees()) {
		t.Error("what is allowed depends on what is there")
	}
	for _, p := range All(set) {
		p.Path, p.Install = "/bin/x", "npm installs it"
		if n := len(p.Shown()); n > 11 {
			t.Errorf("%s has %d lines", p.Name, n)
		}
	}
}

// TestQuestion: what a person allows is in three groups; only what the program sees of
// theirs stands below that heading.
func TestQuestion(t *testing.T) {
	codex := Profile{Title: "Codex", Path: "/bin/codex", World: []string{"-c", "x"}, Install: "npm installs it", Network: true}
	want := "Codex runs in a private copy of the folder: what it changes waits for your review.\n" +
		"Its program: /bin/codex, started with -c x, because our sandbox is around it\n" +
		"Installed first: npm installs it\n" +
		"Of yours it sees, besides the folder:\n  it reaches hosts that you are asked about\n"
	if got := Question(codex.Title, codex.Shown()); got != want {
		t.Errorf("it asks\n%s", got)
	}
	if got := Question("Mine", Profile{Program: "mine"}.Shown()); !strings.HasSuffix(got, "Its program: mine\nOf yours it sees nothing else.\n") {
		t.Errorf("a program that sees nothing: it asks\n%s", got)
	}
}
