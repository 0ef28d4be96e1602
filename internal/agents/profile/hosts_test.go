package profile

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestReachesBySettings: the agent's own settings in the user's home say where its model is, in
// any of their forms; other addresses in them don't count.
func TestReachesBySettings(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	none, _ := config.Load()
	all := All(none)
	for _, c := range []struct{ profile, file, text, want string }{
		{"codex", ".codex/config.toml", "[model_providers.x]\nbase_url = \"http://127.0.0.1:11434/v1\" # mine\n", "localhost:11434"},
		{"opencode", ".config/opencode/opencode.json", `{"$schema": "https://schema.example.org/x", "provider": {"x": {"options": {"baseURL":"https://model.corp:8443/v1"}}}}`, "model.corp:8443"},
		{"claude", ".claude/settings.json", `{"env": {"ANTHROPIC_BASE_URL": "https://gateway.corp"}}`, "gateway.corp:443"},
		{"qwen", ".qwen/.env", "OPENAI_BASE_URL='http://10.0.0.7:8000/v1'\n", "10.0.0.7:8000"},
		{"aider", ".aider.conf.yml", "openai-api-base: https://model.corp/v1\nsite: https://site.example.org\n", "model.corp:443"},
		{"aider", ".aider.conf.yml", "openai_api_base: https://model.corp/v1\n", "model.corp:443"},
	} {
		name := filepath.Join(home, c.file)
		if err := ownfile.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := Find(all, c.profile, "")
		got := fmt.Sprint(p.Reaches(nil)[len(p.Hosts)+len(p.Also):])
		if got != "["+c.want+"]" {
			t.Errorf("%s: it reaches %s besides, want %s", c.file, got, c.want)
		}
		if err := ownfile.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReaches: an agent reaches the hosts of its profile, and that where the user's variable
// says its model is.
func TestReaches(t *testing.T) {
	set, problems := config.Load(config.Source{Origin: config.User, Data: []byte(`{"agents": {"goose": {"network": false}, "aider": {"hosts": ["model.corp"]}, "mine": {"network": true}, "qwen": {"hosts": []}}}`)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	all := All(set)
	for name, c := range map[string]struct {
		profile string
		env     []string
		want    string
	}{
		"known":               {"codex", nil, "[api.openai.com chatgpt.com auth.openai.com]"},
		"a URL":               {"codex", []string{"OPENAI_BASE_URL=https://Model.Corp/v1"}, "[api.openai.com chatgpt.com auth.openai.com model.corp:443]"},
		"with a port":         {"codex", []string{"OPENAI_BASE_URL=http://model.corp:8080"}, "[api.openai.com chatgpt.com auth.openai.com model.corp:8080]"},
		"on this machine":     {"codex", []string{"OPENAI_BASE_URL=http://127.0.0.1:4000/v1"}, "[api.openai.com chatgpt.com auth.openai.com localhost:4000]"},
		"on this machine, v6": {"codex", []string{"OPENAI_BASE_URL=http://[::1]:4000/v1"}, "[api.openai.com chatgpt.com auth.openai.com localhost:4000]"},
		"another's variable":  {"codex", []string{"ANTHROPIC_BASE_URL=http://other.corp"}, "[api.openai.com chatgpt.com auth.openai.com]"},
		"of another kind":     {"codex", []string{"OPENAI_BASE_URL=ssh://model.corp"}, "[api.openai.com chatgpt.com auth.openai.com]"},
		"a pattern":           {"codex", []string{"OPENAI_BASE_URL=https://*.corp"}, "[api.openai.com chatgpt.com auth.openai.com]"},
		"no address":          {"codex", []string{"OPENAI_BASE_URL=://x y"}, "[api.openai.com chatgpt.com auth.openai.com]"},
		"none":                {"goose", nil, "[]"},
		"the user's":          {"aider", nil, "[model.corp]"},
		"the user's, none":    {"qwen", nil, "[]"},
		"not known":           {"mine", nil, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Find(all, c.profile, "")
			if got := fmt.Sprint(p.Reaches(c.env)); got != c.want {
				t.Errorf("it reaches %s, want %s", got, c.want)
			}
		})
	}
}
