package models

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// Found is a place that has models: a service whose key is in the environment, or a server
// on this machine.
type Found struct {
	Profile config.Backend // without a model
	Title   string
	Models  []string // of a server on this machine
}

// services are those whose keys are looked for, by the variables that their own programs read.
var services = []struct {
	keys    []string
	address string // the variable that names another address
	title   string
	profile config.Backend
}{
	{[]string{"ANTHROPIC_API_KEY"}, "ANTHROPIC_BASE_URL", "Anthropic", config.Backend{Name: "anthropic", Provider: "anthropic", URL: "https://api.anthropic.com"}},
	{[]string{"OPENAI_API_KEY"}, "OPENAI_BASE_URL", "OpenAI", config.Backend{Name: "openai", Provider: "openai", URL: "https://api.openai.com/v1"}},
	{[]string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, "", "Gemini", config.Backend{Name: "gemini", Provider: "openai", URL: "https://generativelanguage.googleapis.com/v1beta/openai"}},
	{[]string{"OPENROUTER_API_KEY"}, "", "OpenRouter", config.Backend{Name: "openrouter", Provider: "openai", URL: "https://openrouter.ai/api/v1"}},
}

// KeyNames are the variables that are looked for.
func KeyNames() (names []string) {
	for _, s := range services {
		names = append(names, s.keys...)
	}
	return names
}

// LocalServers are the servers that are looked for on this machine, where they listen if
// nobody tells them otherwise.
func LocalServers(getenv func(string) string) []Found {
	ollama := cmp.Or(getenv("OLLAMA_HOST"), "127.0.0.1:11434")
	if !strings.Contains(ollama, "://") {
		ollama = "http://" + ollama
	}
	ollama = strings.Replace(ollama, "//0.0.0.0", "//127.0.0.1", 1) // where it listens, for whoever starts it
	return []Found{
		{Title: "Ollama", Profile: config.Backend{Name: "local-ollama", Provider: "ollama", URL: strings.TrimRight(ollama, "/")}},
		{Title: "LM Studio", Profile: config.Backend{Name: "lm-studio", Provider: "openai", URL: "http://127.0.0.1:1234/v1"}},
		{Title: "llama.cpp", Profile: config.Backend{Name: "llama-cpp", Provider: "openai", URL: "http://127.0.0.1:8080/v1"}},
	}
}

// Place is where models may be found.
type Place struct {
	Name, Title string
	Takes       string // for it to be found
}

// Places are all that Find and LocalServers look at.
func Places(getenv func(string) string) (all []Place) {
	for _, s := range services {
		all = append(all, Place{s.profile.Name, s.title, "a key in " + strings.Join(s.keys, " or ")})
	}
	for _, f := range LocalServers(getenv) {
		all = append(all, Place{f.Profile.Name, f.Title, "a server with a model at " + f.Profile.URL})
	}
	return all
}

// maxProbe bounds the question to a server that may not be there.
const maxProbe = 2 * time.Second

// Find returns the services whose key is set, which it does not ask, and of servers those
// that answer with a model.
func Find(ctx context.Context, getenv func(string) string, servers []Found) (all []Found) {
	for _, s := range services {
		i := slices.IndexFunc(s.keys, func(name string) bool { return getenv(name) != "" })
		if i < 0 {
			continue
		}
		p := s.profile
		p.KeyEnv, p.URL = s.keys[i], strings.TrimRight(cmp.Or(getenv(s.address), p.URL), "/")
		all = append(all, Found{Profile: p, Title: s.title})
	}
	ctx, cancel := context.WithTimeout(ctx, maxProbe)
	defer cancel()
	var asked sync.WaitGroup
	servers = slices.Clone(servers)
	for i := range servers {
		asked.Go(func() { servers[i].Models, _ = List(ctx, servers[i].Profile, "") })
	}
	asked.Wait()
	return append(all, slices.DeleteFunc(servers, func(f Found) bool { return len(f.Models) == 0 })...)
}

// maxList bounds a list of models, in bytes.
const maxList = 8 << 20

// List asks an endpoint for the names of its models. key goes to it and nowhere else.
func List(ctx context.Context, p config.Backend, key string) ([]string, error) {
	res, err := ask(ctx, p, key)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s to a question for its models", p.Name, res.Status)
	}
	var list struct {
		Data   []struct{ ID string }
		Models []struct{ Name string }
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxList)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s answers something else than its models: %w", p.Name, err)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, strings.TrimPrefix(m.ID, "models/")) // as Gemini's begin
	}
	for _, m := range list.Models {
		names = append(names, m.Name)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || strings.ContainsFunc(name, breaks) })
	slices.Sort(names)
	return slices.Compact(names), nil
}

// ask asks for the list of models, which costs nothing and needs the key.
func ask(ctx context.Context, p config.Backend, key string) (*http.Response, error) {
	if key != "" && !safeForKey(p.URL) {
		return nil, fmt.Errorf("%s would get its key over a connection that others can read; its url must begin with https://", p.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, maxTry)
	at := p.URL + "/models"
	if below := map[string]string{"anthropic": "/v1/models", "ollama": "/api/tags"}[p.Provider]; below != "" {
		at = root(p) + below
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	switch {
	case p.Provider == "anthropic":
		req.Header.Set("x-api-key", key)
		req.Header.Set("anthropic-version", "2023-06-01")
	case key != "":
		req.Header.Set("Authorization", "Bearer "+key)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a key goes nowhere else
	res, err := client.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	res.Body = ending{res.Body, cancel}
	return res, nil
}

// ending lets go of a request's context with its answer.
type ending struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (e ending) Close() error {
	defer e.cancel()
	return e.ReadCloser.Close()
}
