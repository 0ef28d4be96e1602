package realmodel

import (
	"maps"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]map[string]any{
		"http://127.0.0.1:1/v1,m,":        {"name": "real", "provider": "openai", "url": "http://127.0.0.1:1/v1", "model": "m"},
		"http://127.0.0.1:1/v1,m":         {"name": "real", "provider": "openai", "url": "http://127.0.0.1:1/v1", "model": "m"},
		"https://api.anthropic.com,m,a,b": {"name": "real", "provider": "anthropic", "url": "https://api.anthropic.com", "model": "m", "key": "a,b"},
	} {
		if got, why := parse(text); why != "" || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %s", text, got, why)
		}
	}
	for _, text := range []string{"x", "http://a", "http://a,", ",m,k", "nowhere,m,k"} {
		if got, why := parse(text); why == "" {
			t.Errorf("%s: %v", text, got)
		}
	}
}
