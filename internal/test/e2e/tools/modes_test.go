package tools_test

import (
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// Every mode on the list can be set, and one that is not on it can't.
func TestModesAreListed(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{
		".sidecar/settings.json": `{"customModes":[{"name":"docs","description":"Writes documents only."}],"workspace":{"trust":"trusted"}}`,
	})
	r := e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: map[string]any{"sidecar": map[string]any{"workspace.trust": "trusted"}}})
	var list struct {
		Modes []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"modes"`
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.mode.list", nil, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list.Modes {
		names = append(names, m.Name)
		if m.Description == "" {
			t.Errorf("%s: no description", m.Name)
		}
		if m.Name == "docs" && m.Description != "Writes documents only." {
			t.Errorf("docs: %q", m.Description)
		}
		r.Mode(m.Name)
	}
	if want := []string{"autonomous", "cautious", "review", "audit", "plan", "manual", "docs"}; !slices.Equal(names, want) {
		t.Errorf("modes %q, want %q", names, want)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.mode.set", map[string]any{"mode": "none"}, nil); err == nil {
		t.Error("a mode that is not on the list was set")
	}
}
