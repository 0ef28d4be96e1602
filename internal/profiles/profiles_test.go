package profiles

import (
	"path/filepath"
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
		if p.Title == "" || p.Program == "" || len(p.State) == 0 || !p.Network {
			t.Errorf("%s lacks something: %+v", p.Name, p)
		}
		for _, path := range append(slices.Clone(p.State), p.Copied...) {
			if !filepath.IsLocal(path) || slices.Contains([]string{".", ".config", ".local", ".cache", ".ssh", ".aws", ".gnupg"}, filepath.Clean(path)) {
				t.Errorf("%s sees ~/%s", p.Name, path)
			}
		}
		for _, name := range p.Env {
			if name != strings.ToUpper(name) {
				t.Errorf("%s gets %s", p.Name, name)
			}
		}
		if got := Find(all, "", "/some/where/"+p.Program); got == nil || got.Program != p.Program {
			t.Errorf("%s is not found by its program", p.Name)
		}
	}
	if Find(all, "", "make") != nil || Find(all, "nonesuch", "claude") != nil {
		t.Error("something has a profile that has none")
	}
}

// TestSettings: the user changes a row in part, and adds others.
func TestSettings(t *testing.T) {
	set, problems := config.Load(config.Source{Origin: config.User, Name: "user", Data: []byte(`{"agents": {"claude": {"network": false}, "claude-acp": {"acpVersion": 2}, "mine": {"state": [".mine"]}}}`)})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	all := All(set)
	claude, mine := Find(all, "claude", ""), Find(all, "", "mine")
	if claude == nil || claude.Network || claude.Tried || !slices.Equal(claude.State, []string{".claude"}) {
		t.Errorf("claude: %+v", claude)
	}
	if acp := Find(all, "claude-acp", ""); acp.ACPVersion != 2 || acp.Sees()[0] != claude.Sees()[0] {
		t.Errorf("claude-acp: %+v", acp)
	}
	if mine == nil || mine.Network || !slices.Equal(mine.State, []string{".mine"}) || len(mine.Sees()) != 1 {
		t.Errorf("mine: %+v", mine)
	}
}
