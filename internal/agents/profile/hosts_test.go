package profile

import (
	"fmt"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

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
