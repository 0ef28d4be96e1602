package models

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// TestFind: servers that answer with a model are found, others are not, and no key goes to
// any of them.
func TestFind(t *testing.T) {
	const key = "sk-0123456789"
	var got struct {
		sync.Mutex
		keys []string
	}
	serve := func(answer string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got.Lock()
			defer got.Unlock()
			got.keys = append(got.keys, r.Header.Get("Authorization"))
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	env := map[string]string{"GOOGLE_API_KEY": key}
	found := Find(t.Context(), func(name string) string { return env[name] }, []Found{
		{Title: "works", Profile: config.Backend{Name: "works", Provider: "openai", URL: serve(`{"data": [{"id": "b"}, {"id": "a"}, {"id": "a"}, {"id": ""}]}`)}},
		{Title: "another program", Profile: config.Backend{Name: "page", Provider: "openai", URL: serve(`<html>`)}},
		{Title: "nothing", Profile: config.Backend{Name: "nothing", Provider: "ollama", URL: "http://127.0.0.1:1"}},
	})
	if len(found) != 2 || found[0].Profile.KeyEnv != "GOOGLE_API_KEY" || found[1].Title != "works" || strings.Join(found[1].Models, " ") != "a b" {
		t.Errorf("found %+v", found)
	}
	if all := strings.Join(got.keys, ""); all != "" {
		t.Errorf("a key went out: %q", all)
	}
	if _, err := List(t.Context(), config.Backend{Name: "far", Provider: "openai", URL: "http://192.0.2.1/v1"}, key); err == nil || !strings.Contains(err.Error(), "https://") || strings.Contains(err.Error(), key) {
		t.Errorf("over a connection that others can read: %v", err)
	}
	servers := LocalServers(func(string) string { return "0.0.0.0:4711" })
	if url := servers[0].Profile.URL; url != "http://127.0.0.1:4711" {
		t.Errorf("Ollama is at %s", url)
	}
}
